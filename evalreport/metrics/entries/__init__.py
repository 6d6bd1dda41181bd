"""What is told of each metric: its record, in the order of the catalogue."""
