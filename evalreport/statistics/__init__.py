"""Additive sufficient statistics: those of two parts of the data add up to those of the whole."""
