"""Find the role of each column of a table: label, prediction, scores, and others."""
