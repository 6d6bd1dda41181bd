"""Figures and pages of the documentation, made by the code at build from the data in `examples/`."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path
from typing import Any

import evalreport as er
from evalreport.metrics.named_sets import HEADLINE

GALLERY = run_path(str(Path(__file__).parents[1] / "examples" / "gallery.py"))["PAGES"]


def draw(made: Path, pages: Path) -> None:
    """Write the figures beside the generated pages, and each page of the gallery to be served as it is."""
    made.mkdir(parents=True, exist_ok=True)
    spam, intents = GALLERY["sms-spam"](), GALLERY["banking77"]()
    _save(spam.plot.roc(), made / "roc.png")
    _save(spam.plot.pr(), made / "pr.png")
    _save(spam.plot.reliability(), made / "reliability.png")
    _save(spam.plot.thresholds(), made / "thresholds.png")
    _save(intents.plot.confusion_matrix(), made / "confusion.png")
    (made / "stories.md").write_text(_stories(), encoding="utf-8")
    folder = pages / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in GALLERY.items():
        er.report(make(), folder / f"{name}.html", force=True)


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, dpi=120, bbox_inches="tight")


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
