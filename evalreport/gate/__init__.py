"""The gate: data and results against rules, each passed, failed or inconclusive."""
