"""The panels' data as matplotlib figures: artifacts in MLflow, plots in a notebook."""

from evalreport.figures.canvas import png
from evalreport.figures.curves import confusion_matrix, coverage, pr_curve, reliability, roc_curve, thresholds
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
