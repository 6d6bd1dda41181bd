"""Optuna studies and child runs of a sweep."""
