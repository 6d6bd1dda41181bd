"""Engines read predictions into facts."""
