"""Several evaluations against each other: paired where the same examples are proven."""
