"""Rules for data and results, for CI."""
