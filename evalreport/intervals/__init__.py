"""How well this sample knows each number: intervals chosen by measured coverage, and tests of differences."""

from evalreport.intervals.labels import class_estimates
from evalreport.intervals.sampling import Sampling
from evalreport.intervals.single import estimates

__all__ = ["Sampling", "class_estimates", "estimates"]
