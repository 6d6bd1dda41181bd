"""The report of one item, written to a file, a folder, or standard output."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evalreport import figures
from evalreport.errors import UsageError
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
told = logging.getLogger(__name__)


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
    """Evaluate a run or a file and write its report.

    Raises
    ------
    EvalreportError
        Whatever keeps it from being evaluated, or would write over what is read.
    """
    collected = item.collect(request)
    ev = evaluated(collected, request, item.tuning_rows(request))
    html = page_of(ev, request)
    paths: tuple[Path, ...] = ()
    if how.page and how.output != STDOUT:
        place = Path(how.output or _page_name(item, how))
        spare([place], request, [item])
        paths = (write_file(place, html.encode()),)
    if how.out is not None:
        paths += write_out(ev, html, Path(how.out), request, several=how.several, name=item.name, item=item)
    return Written(ev, collected.taken, html, paths)


def page_of(ev: Evaluation, request: Request) -> str:
    """Return the HTML."""
    html = render(ev, checklist=request.checklist)
    told.debug("made the page, %.0f kB", len(html.encode()) / 1000)
    return html


def _page_name(item: Item, how: ReportOptions) -> str:
    return f"{slug(item.name)}.html" if how.several else PAGE


def write_out(
    ev: Evaluation,
    html: str,
    out: Path,
    request: Request,
    *,
    several: bool,
    name: str,
    item: Item | None = None,
) -> tuple[Path, ...]:
    """Write the page, `evaluation.json`, the figures and the tables into a folder."""
    folder = run_folder(out, name, ev.provenance.run_id or ev.provenance.sha256) if several else out
    files = folder_files(ev, html, drawn(ev))
    spare([folder / path for path in files], request, () if item is None else [item])
    return write_folder(files, folder)


def spare(places: Sequence[Path], request: Request, items: Sequence[Item]) -> None:
    """Refuse to write over what is read.

    Raises
    ------
    UsageError
    """
    spare_files(places, (*(item.path for item in items), request.truth_file, request.tune_on))


def spare_files(places: Sequence[Path], named: Sequence[str | None]) -> None:
    """Refuse to write over files that are read.

    Raises
    ------
    UsageError
        One of the places is one of the named files.
    """
    read = {Path(path).resolve() for path in named if path is not None and path != STDOUT}
    for place in places:
        if place.resolve() in read:
            raise UsageError(
                f"{place.name} is read, and would be written over",
                where=str(place),
                fix="name another place with -o or --out",
            )


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
