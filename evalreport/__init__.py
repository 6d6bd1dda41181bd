"""How good is it, really? Every classification metric, with intervals, findings and one HTML page."""

__version__ = "0.1.0"
