"""The metric catalogue: one record per metric, in order, for each task."""

from evalreport.metrics.record import Better, Metric, Needs, Reads, view

__all__ = ["Better", "Metric", "Needs", "Reads", "view"]
