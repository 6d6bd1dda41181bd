"""Measured coverage of every interval, on simulated data whose truth is known."""
