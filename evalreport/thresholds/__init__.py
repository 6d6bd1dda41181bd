"""Thresholds and sweeps, with held-out values."""
