"""Everything known of one run: numbers, curves, sweep, classes, mistakes; to and from `evaluation.json`."""
