"""The panels' data as matplotlib figures: artifacts in MLflow, plots in a notebook."""

from evalreport.figures.canvas import png, style
from evalreport.figures.curves import (
    class_forest,
    confusion_matrix,
    coverage,
    objective_curves,
    pr_curve,
    reliability,
    roc_curve,
    score_distributions,
    thresholds,
)

__all__ = [
    "class_forest",
    "confusion_matrix",
    "coverage",
    "objective_curves",
    "png",
    "pr_curve",
    "reliability",
    "roc_curve",
    "score_distributions",
    "style",
    "thresholds",
]
