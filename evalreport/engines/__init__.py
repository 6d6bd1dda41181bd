"""Engines read predictions into facts. One protocol, one conformance suite."""

from __future__ import annotations

from typing import Protocol

from evalreport.facts import Summary
from evalreport.predictions import Predictions


class Engine(Protocol):
    """Whatever turns predictions into a `Summary`."""

    def __call__(self, predictions: Predictions) -> Summary:
        """Return the facts of the predictions."""
        ...
