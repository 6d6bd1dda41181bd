"""Comparison of several evaluations, paired if they have the same examples."""
