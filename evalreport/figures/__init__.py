"""The panels' data as matplotlib figures: artifacts in MLflow, plots in a notebook."""

from evalreport.features.studies.figures import sweep_figures
from evalreport.figures.curves import (
    class_forest,
    confusion_matrix,
    coverage,
    pr_curve,
    reliability,
    roc_curve,
    score_distributions,
    thresholds,
)
from evalreport.figures.style import png, style

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
