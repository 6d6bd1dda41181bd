"""Thresholds and sweeps: what a choice among many settings gives, and how honestly."""
