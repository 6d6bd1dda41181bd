"""Additive facts: small, and the facts of two shards add up to the facts of the whole."""

from evalreport.facts.classes import ClassBins, ClassScores, LabelScores
from evalreport.facts.counts import BinaryCounts, Counts, Marginals
from evalreport.facts.summary import Summary
from evalreport.facts.table import ScoreTable
from evalreport.facts.tally import Tally

__all__ = [
    "BinaryCounts",
    "ClassBins",
    "ClassScores",
    "Counts",
    "LabelScores",
    "Marginals",
    "ScoreTable",
    "Summary",
    "Tally",
]
