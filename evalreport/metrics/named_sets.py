"""Named sets of metrics: which of them each table, verdict and page is about, by task.

A metric joins a table by standing here; whoever makes the table asks for the set, never for names.
"""

from __future__ import annotations

from collections.abc import Mapping

from evalreport.labels import Task

HEADLINE: Mapping[str, tuple[str, ...]] = {
    "binary": ("recall", "specificity", "precision", "roc_auc", "average_precision", "mcc", "brier"),
    "multiclass": ("accuracy", "top_3_accuracy", "f1_macro", "balanced_accuracy", "mcc"),
    "multilabel": (
        "f1_micro",
        "f1_macro",
        "precision_micro",
        "recall_micro",
        "subset_accuracy",
        "average_precision_samples",
    ),
    "text": ("accuracy", "accuracy_parsed", "f1_macro", "mcc", "parse_rate"),
}
"""The first table of a report; ``text`` for labels read from text."""
COMPARED: Mapping[str, tuple[str, ...]] = {
    "binary": (*HEADLINE["binary"], "f1", "accuracy", "balanced_accuracy", "log_loss"),
    "multiclass": (*HEADLINE["multiclass"], "f1_weighted", "log_loss", "brier"),
    "multilabel": (*HEADLINE["multilabel"], "label_accuracy", "roc_auc_macro", "average_precision_macro"),
    "text": HEADLINE["text"],
}
"""The table that compares runs."""
DESCRIBED: Mapping[Task, tuple[str, ...]] = {
    "binary": ("recall", "specificity", "precision", "f1", "roc_auc", "average_precision", "brier"),
    "multiclass": ("accuracy", "balanced_accuracy", "f1_macro", "mcc", "top_3_accuracy", "log_loss"),
    "multilabel": ("f1_micro", "f1_macro", "f1_samples", "subset_accuracy", "hamming_loss", "roc_auc_macro"),
}
"""The table in the description of a run in MLflow, as far as they are defined."""
PRIMARY: Mapping[Task, tuple[str, ...]] = {
    "binary": ("roc_auc", "mcc", "accuracy"),
    "multiclass": ("accuracy", "roc_auc_ovr_macro"),
    "multilabel": ("f1_micro", "average_precision_macro"),
}
"""What the verdict of a comparison is about: the first that every run has."""
ERROR_KINDS: Mapping[Task, tuple[str, ...]] = {
    "binary": ("recall", "specificity"),
    "multiclass": (),
    "multilabel": (),
}
"""Metrics that count the errors of one kind over all rows; of several classes it is the recall of each."""
CLIPPED = ("log_loss", "calibration_slope", "calibration_intercept")
"""What depends on where probabilities of exactly 0 and 1 are clipped."""
OF_SLICES: Mapping[Task, tuple[str, ...]] = {
    "binary": ("recall", "specificity", "roc_auc", "f1"),
    "multiclass": ("accuracy", "f1_macro"),
    "multilabel": ("f1_micro", "subset_accuracy"),
}
"""What slices are judged by, as far as they are known, the first ones first."""
OF_CALIBRATION: Mapping[Task, tuple[str, ...]] = {
    "binary": ("observed_expected_ratio", "calibration_slope"),
    "multiclass": (),
    "multilabel": (),
}
"""What the probabilities of a slice are judged by; 1 is right."""
OF_GROUPS: Mapping[Task, tuple[str, ...]] = {
    "binary": ("predicted_positive_rate", "recall", "fpr", "precision", "accuracy", "roc_auc"),
    "multiclass": ("accuracy", "f1_macro"),
    "multilabel": ("f1_micro", "subset_accuracy"),
}
"""Whose gap and ratio between groups are told."""
OF_SWEEP: Mapping[Task, tuple[str, ...]] = {
    "binary": ("roc_auc", "average_precision"),
    "multiclass": ("accuracy",),
    "multilabel": ("precision_micro", "recall_micro", "average_precision_micro"),
}
"""What the page of a threshold sweep names."""
OF_RANKING: Mapping[Task, str] = {
    "binary": "roc_auc",
    "multiclass": "roc_auc_ovr_macro",
    "multilabel": "roc_auc_macro",
}
"""What judges a ranking."""
OF_ORDER = ("cohen_kappa_quadratic", "mean_absolute_error", "ranked_probability_score")
"""What grades in an order are evaluated by: a miss by its distance, the first one against chance."""
BALANCED = "f1"
"""What a threshold is chosen for where nothing is asked; beside it is that of flagging all."""
OF_CLASS = ("precision", "recall", "f1", "roc_auc", "average_precision")
"""What each class or label has against all others."""
AT_THRESHOLDS = ("f1", "precision", "recall", "specificity", "mcc")
"""Whose value at each threshold is logged, where scores are probabilities."""
OF_FOUR = ("recall", "specificity", "precision", "npv", "f1", "predicted_positive_rate")
"""What stands beside a two-by-two table, in its order."""
OF_ALL: Mapping[str, str] = {
    "precision_micro": "precision",
    "recall_micro": "recall",
    "f1_micro": "f1",
    "jaccard_micro": "jaccard",
    "label_accuracy": "accuracy",
}
"""Metrics of the counts of all labels together, and the binary metric that each is of them."""
