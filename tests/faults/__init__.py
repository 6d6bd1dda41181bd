"""Faults on the way to a tracking store, and the end of the command in the middle of it."""
