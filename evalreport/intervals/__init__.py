"""Confidence intervals of metrics, with methods chosen by simulated coverage, and tests of differences."""

from evalreport.intervals.estimates import estimates
from evalreport.intervals.interval_settings import Sampling
from evalreport.intervals.multiclass import class_estimates

__all__ = ["Sampling", "class_estimates", "estimates"]
