"""The report of one item, written to a file, a folder, or standard output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evalreport import figures
from evalreport.evaluation.model import Evaluation
from evalreport.report.contents import folder_files
from evalreport.report.names import FIGURES, PAGE
from evalreport.report.render import render
from evalreport.sinks.folder import run_folder, write_file, write_folder
from evalreport.text import slug
from evalreport.values import Undefined
from evalreport.workflow.evaluate import evaluated
from evalreport.workflow.request import Request
from evalreport.workflow.runs import Item

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STDOUT = "-"


@dataclass(frozen=True)
class ReportOptions:
    """Where the report goes.

    Parameters
    ----------
    output : str or None
        HTML file, or ``-`` for standard output.
    out : str or None
        Folder for everything.
    page : bool
        Whether an HTML file is wanted beside, or instead of, `out`.
    several : bool
        Whether each item gets a folder, or a file, of its own name.
    """

    output: str | None = None
    out: str | None = None
    page: bool = True
    several: bool = False


@dataclass(frozen=True)
class Written:
    """An evaluation, its page, and the files that were written."""

    evaluation: Evaluation
    taken: tuple[tuple[str, str], ...]
    html: str
    paths: tuple[Path, ...]


def report_item(item: Item, request: Request, how: ReportOptions) -> Written:
    """Evaluate a run or a file and write its report."""
    collected = item.collect(request)
    ev = evaluated(collected, request, item.tuning_rows(request))
    html = render(ev, checklist=request.checklist)
    paths: tuple[Path, ...] = ()
    if how.page and how.output != STDOUT:
        paths = (write_file(Path(how.output or _page_name(item, how)), html.encode()),)
    if how.out is not None:
        paths += write_out(ev, html, Path(how.out), several=how.several, name=item.name)
    return Written(ev, collected.taken, html, paths)


def _page_name(item: Item, how: ReportOptions) -> str:
    return f"{slug(item.name)}.html" if how.several else PAGE


def write_out(ev: Evaluation, html: str, out: Path, *, several: bool, name: str) -> tuple[Path, ...]:
    """Write the page, `evaluation.json`, the figures and the tables into a folder."""
    folder = run_folder(out, name, ev.provenance.run_id or ev.provenance.sha256) if several else out
    return write_folder(folder_files(ev, html, drawn(ev)), folder)


DRAW: dict[str, Callable[[Evaluation], Figure]] = {
    "confusion_matrix.png": figures.confusion_matrix,
    "roc_curve.png": figures.roc_curve,
    "pr_curve.png": figures.pr_curve,
}


def drawn(ev: Evaluation) -> dict[str, bytes]:
    """Return the figures that this evaluation has, as PNG, by the names that MLflow pairs."""
    have = {
        "confusion_matrix.png": ev.confusion is not None,
        "roc_curve.png": _has(ev, "roc"),
        "pr_curve.png": _has(ev, "pr"),
    }
    return {name: figures.png(DRAW[name](ev)) for name in FIGURES if have[name]}


def _has(ev: Evaluation, curve: str) -> bool:
    found = getattr(ev.curves, curve, None)
    return found is not None and not isinstance(found, Undefined)
