"""How well this sample knows each number: intervals chosen by measured coverage, and tests of differences."""

from evalreport.intervals.estimates import estimates
from evalreport.intervals.interval_settings import Sampling
from evalreport.intervals.multiclass import class_estimates

__all__ = ["Sampling", "class_estimates", "estimates"]
