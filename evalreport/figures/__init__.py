"""The panels' data as matplotlib figures: artifacts in MLflow, plots in a notebook."""

from evalreport.figures.canvas import png, style
from evalreport.figures.curves import confusion_matrix, coverage, pr_curve, reliability, roc_curve, thresholds
from evalreport.figures.distributions import class_forest, score_distributions
from evalreport.figures.sweep import sweep_figures

__all__ = [
    "class_forest",
    "confusion_matrix",
    "coverage",
    "png",
    "pr_curve",
    "reliability",
    "roc_curve",
    "score_distributions",
    "style",
    "sweep_figures",
    "thresholds",
]
