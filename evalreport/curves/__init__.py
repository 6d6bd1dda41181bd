"""Curves of an evaluation, from its sufficient statistics."""
