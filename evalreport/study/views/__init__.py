"""What the panels of a sweep draw: small values computed from `Trials`, thinned to a page's measure."""
