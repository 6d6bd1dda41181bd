"""Optional features, one folder each; the core does not import them."""
