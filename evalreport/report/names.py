"""What evalreport's own things are called in a run: the one place that names them."""

from __future__ import annotations

PAGE = "evalreport.html"
FIGURES = ("confusion_matrix.png", "roc_curve.png", "pr_curve.png")
"""At the artifact root, where MLflow's compare page pairs files of equal name."""
FOLDER = "evalreport"
"""Folder of everything else."""
EVALUATION = f"{FOLDER}/evaluation.json"
METRICS_TABLE = f"{FOLDER}/metrics.json"
CLASSES_TABLE = f"{FOLDER}/classes.json"
THRESHOLDS_TABLE = f"{FOLDER}/thresholds.json"
MANIFEST = f"{FOLDER}/manifest.json"
"""Digests of what was written, by which our files are told from others of the same name."""
TABLES = (METRICS_TABLE, CLASSES_TABLE, THRESHOLDS_TABLE)

DIGEST_TAG = "evalreport.digest"
VERSION_TAG = "evalreport.version"
TIME_TAG = "evalreport.logged"
"""Timestamp of the metrics, in milliseconds: each logging has to be later than the one before."""


def is_ours(path: str) -> bool:
    """Tell whether an artifact bears a name that evalreport gives, and so holds no predictions.

    Examples
    --------
    >>> is_ours("evalreport/classes.json"), is_ours("evalreport/predictions.parquet")
    (True, False)
    """
    return path in {PAGE, *FIGURES, EVALUATION, MANIFEST, *TABLES} or path.startswith("images/")
