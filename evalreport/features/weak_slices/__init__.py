"""Weak slices: found on one half of the rows, confirmed on the other."""
