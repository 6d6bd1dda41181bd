"""The panels' data as matplotlib figures: artifacts in MLflow, plots in a notebook."""

from evalreport.figures.canvas import png
from evalreport.figures.confusion import confusion_matrix
from evalreport.figures.curves import coverage, pr_curve, reliability, roc_curve, thresholds
from evalreport.figures.sweep import sweep_figures

__all__ = [
    "confusion_matrix",
    "coverage",
    "png",
    "pr_curve",
    "reliability",
    "roc_curve",
    "sweep_figures",
    "thresholds",
]
