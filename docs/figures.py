"""Figures and pages of the documentation, made by the code at build from the data in `examples/`."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path
from typing import Any

import evalreport as er
from evalreport.metrics.catalogue import HEADLINE

EXAMPLES = run_path(str(Path(__file__).parents[1] / "examples" / "gallery.py"))
GALLERY = EXAMPLES["PAGES"]


QUESTIONS = {
    "threshold": (5.0, 4.3, "Is the threshold known?"),
    "balanced": (2.4, 3.0, "Are the classes balanced?"),
    "weighed": (7.4, 3.0, "Does the decision weigh the\nscores as probabilities?"),
    "rare": (8.7, 1.55, "Are the classes balanced?"),
}
"""Questions of the flowchart in *Which metric?*: position and text."""
ANSWERS = {
    "counts": (1.15, 1.4, "accuracy beside\nno_information_rate,\nrecall, precision"),
    "both": (3.7, 1.4, "recall, precision,\nthe two-by-two table,\nmcc"),
    "probabilities": (6.2, 1.4, "calibration_slope,\nlog_loss, brier,\nnet_benefit"),
    "ranking": (7.7, 0.2, "roc_auc"),
    "finding": (9.6, 0.2, "average_precision"),
}
WAYS = (
    *(("threshold", "yes", "balanced"), ("threshold", "no", "weighed"), ("balanced", "yes", "counts")),
    *(("balanced", "no", "both"), ("weighed", "yes", "probabilities"), ("weighed", "no", "rare")),
    *(("rare", "yes", "ranking"), ("rare", "no", "finding")),
)


def draw(made: Path, pages: Path) -> None:
    """Write the figures beside the generated pages, and each page of the gallery to be served as it is."""
    made.mkdir(parents=True, exist_ok=True)
    spam, intents = GALLERY["sms-spam"](), GALLERY["banking77"]()
    _save(spam.plot.roc(), made / "roc.png")
    _save(spam.plot.precision_recall(), made / "pr.png")
    _save(spam.plot.calibration(), made / "reliability.png")
    _save(spam.plot.thresholds(), made / "thresholds.png")
    _save(spam.plot.scores(), made / "scores.png")
    _save(intents.plot.classes(), made / "classes.png")
    _save(intents.plot.confusion_matrix(), made / "confusion.png")
    _save(_flowchart(), made / "which-metric.png")
    (made / "stories.md").write_text(_stories(), encoding="utf-8")
    folder = pages / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    for name in GALLERY:
        EXAMPLES["write"](name, folder / f"{name}.html")


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, dpi=120, bbox_inches="tight")


def _flowchart() -> Any:
    """The three questions, and what to look at after the answers."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 4.9))
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, 10.6), ylim=(-0.3, 4.8))
    axes.set_axis_off()
    places = {name: (x, y) for name, (x, y, _) in (QUESTIONS | ANSWERS).items()}
    for start, answer, end in WAYS:
        (x, y), (to_x, to_y) = places[start], places[end]
        axes.plot((x, to_x), (y, to_y), color="#52616b", linewidth=1, zorder=1)
        white = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
        axes.text(
            (x + to_x) / 2, (y + to_y) / 2, answer, ha="center", va="center", color="#52616b", bbox=white
        )
    for colour, boxes in (("#e8eef4", QUESTIONS), ("#ffffff", ANSWERS)):
        for x, y, words in boxes.values():
            box = {"boxstyle": "round,pad=0.5", "facecolor": colour, "edgecolor": "#1f4e79"}
            axes.text(x, y, words, ha="center", va="center", fontsize=10, color="#1b2733", bbox=box, zorder=2)
    return figure


def _stories() -> str:
    """The same predictions scored several ways, by a model that knows six of 77 classes."""
    ev = GALLERY["banking77-collapsed"]()
    rows = [
        f"| `{name}` | {found.value:.3f} |"
        for name in ("f1_micro", *HEADLINE["multiclass"])
        if isinstance(found := ev.metrics.get(name), er.Estimate)
    ]
    claims = [f"- {finding.claim}" for finding in ev.findings if finding.severity != "note"]
    return "\n".join(
        ["| metric | value |", "| --- | --- |", *rows, "", "What the report says of it:", "", *claims, ""]
    )
