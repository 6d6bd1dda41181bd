"""The panels' data as matplotlib figures: artifacts in MLflow, plots in a notebook."""

from evalreport.figures.plots import (
    class_forest,
    confusion_matrix,
    coverage,
    objective_curves,
    png,
    pr_curve,
    reliability,
    roc_curve,
    score_distributions,
    style,
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
