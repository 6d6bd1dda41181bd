"""How well this sample knows each number: intervals chosen by measured coverage, and tests of differences."""

from evalreport.intervals.estimates import estimates
from evalreport.intervals.multiclass import class_estimates
from evalreport.intervals.settings import Sampling

__all__ = ["Sampling", "class_estimates", "estimates"]
