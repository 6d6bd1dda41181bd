"""Findings: an evaluation in plain English."""
