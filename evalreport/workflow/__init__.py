"""Connects the layers: collect → evaluate → report → log."""
