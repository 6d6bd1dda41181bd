"""What can be delivered: a page with the files, the numbers and the words that belong to it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from evalreport import __version__
from evalreport.comparison.system_values import SystemsComparison
from evalreport.comparison.values import Comparison
from evalreport.evaluation.model import Evaluation
from evalreport.evaluation.threshold_selection import ThresholdSelection
from evalreport.panels.verdict.headline import headline
from evalreport.provenance import Provenance
from evalreport.report.comparison import comparison_files, comparison_payload
from evalreport.report.contents import folder_files, payload
from evalreport.report.extracts import extracts
from evalreport.report.names import COMPARISON_PAGE, FIGURES, PAGE, SWEEP_PAGE
from evalreport.report.payload import Payload
from evalreport.report.render import render, render_paper
from evalreport.report.sweep_contents import Swept, sweep_files, sweep_payload
from evalreport.sources.runs import RunInfo
from evalreport.stages import stage
from evalreport.study.judged import Study
from evalreport.values import Undefined

if TYPE_CHECKING:
    from matplotlib.figure import Figure

T = TypeVar("T")
S = TypeVar("S", bound=Swept)
C = TypeVar("C", bound=Comparison | SystemsComparison)
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Deliverable(Generic[T]):
    """A page, and the payload that goes with it, each made when it is wanted.

    Parameters
    ----------
    of : evaluation, sweep or comparison
        What it is of.
    name : str
        File name of the page.
    render : callable
        Returns the page.
    make : callable
        From the page and the prefix of the metrics to the payload, and to what makes the files of a folder.
    title : str
        Of the two pages to print, instead of their own.
    """

    of: T
    name: str
    render: Callable[[], str]
    make: Callable[[str, str], tuple[Payload, Callable[[], Mapping[str, bytes]]]]
    title: str = ""

    def __reduce__(self) -> tuple[Any, ...]:
        """Stand for the document in another process: with its page, and delivered already."""
        return _delivered, (self.of, self.name, self.html)

    @cached_property
    def html(self) -> str:
        """The page, rendered once."""
        html = self.render()
        logger.debug("made the page, %.0f kB", len(html.encode()) / 1000)
        return html

    def payload(self, prefix: str, folder: bool) -> Payload:
        """Return what is logged, and with a folder its files: every figure and table is among them."""
        made, files = self.make(self.html, prefix)
        return replace(made, exports={**files(), **extracts(self.html)}) if folder else made

    def paper(self) -> bytes:
        """The two pages to print, PDF."""
        of: Any = self.of
        return render_paper(of, self.title)


def _delivered(of: Any, name: str, html: str) -> Deliverable[Any]:
    def nothing(_: str, __: str) -> Any:
        raise TypeError("the document was delivered in another process")

    return Deliverable(of, name, lambda: html, nothing)


def evaluation_document(
    ev: Evaluation, checklist: str | None = None, notes: str = ""
) -> Deliverable[Evaluation]:
    """Return the report of an evaluation.

    Parameters
    ----------
    ev : Evaluation
    checklist : str, optional
        ``tripod-ai``.
    notes : str
        Markdown, a section of its own.
    """
    options = {name: text for name, text in (("checklist", checklist), ("notes", notes)) if text}

    def make(page: str, prefix: str) -> tuple[Payload, Any]:
        drawn, verdict = evaluation_figures(ev), headline(ev).text
        made = payload(ev, page, drawn, verdict=verdict, version=__version__, prefix=prefix, options=options)
        return made, partial(folder_files, ev, page, drawn)

    return Deliverable(ev, PAGE, partial(render, ev, checklist=checklist, notes=notes), make)


def sweep_document(swept: S, notes: str = "") -> Deliverable[S]:
    """Return the page of a sweep, of thresholds or of trials."""

    def make(page: str, prefix: str) -> tuple[Payload, Any]:
        from evalreport.figures import sweep_figures

        drawn, verdict = sweep_figures(swept), sweep_verdict(swept)
        made = sweep_payload(
            swept, page, drawn, verdict=verdict, version=__version__, prefix=prefix, notes=notes
        )
        return made, partial(sweep_files, swept, page, drawn)

    return Deliverable(swept, SWEEP_PAGE, partial(render, swept, notes=notes), make)


def comparison_document(
    comparison: C, content: Mapping[str, Any], title: str = "", notes: str = ""
) -> Deliverable[C]:
    """Return the page of a comparison of runs, or of systems.

    Parameters
    ----------
    comparison : Comparison or SystemsComparison
    content : mapping
        The comparison as JSON, with its headline, and of runs with rules and ranking.
    title : str
    notes : str
        Markdown, a section of its own.
    """

    def make(page: str, _: str) -> tuple[Payload, Any]:
        made = comparison_payload(comparison, content, page, version=__version__, notes=notes)
        return made, partial(comparison_files, comparison, content, page)

    page = partial(render, comparison, title=title, notes=notes)
    return Deliverable(comparison, COMPARISON_PAGE, page, make, title)


def sweep_verdict(swept: Swept) -> str:
    """Return the outcome of a sweep in one sentence."""
    if isinstance(swept, Study):
        from evalreport.panels.study.verdict import headline as of_trials

        return of_trials(swept).text
    from evalreport.panels.selection.verdict import headline as of_thresholds

    return of_thresholds(swept).text


def evaluation_figures(ev: Evaluation) -> dict[str, bytes]:
    """Return the figures that this evaluation has, as PNG, by the names that MLflow pairs."""
    from evalreport import figures

    draw: dict[str, tuple[bool, Callable[[Evaluation], Figure]]] = {
        "confusion_matrix.png": (ev.confusion is not None, figures.confusion_matrix),
        "roc_curve.png": (_has(ev, "roc"), figures.roc_curve),
        "pr_curve.png": (_has(ev, "pr"), figures.pr_curve),
    }
    made = {}
    with figures.style() if any(has for has, _ in draw.values()) else nullcontext():
        for number, name in enumerate(FIGURES):
            has, figure = draw[name]
            if has:
                stage("drawing figures", number, len(FIGURES))
                made[name] = figures.png(figure(ev))
    return made


def _has(ev: Evaluation, curve: str) -> bool:
    found = getattr(ev.curves, curve, None)
    return found is not None and not isinstance(found, Undefined)


def document_in_run(ev: Evaluation | Study | ThresholdSelection, run: RunInfo) -> Deliverable[Any]:
    """Return the document of what is logged, as it stands in the run."""
    match ev:
        case Study():
            return sweep_document(replace(ev, provenance=_placed(ev.provenance, run)))
        case ThresholdSelection():
            placed = ev.evaluation.with_provenance(_placed(ev.evaluation.provenance, run))
            return sweep_document(replace(ev, evaluation=placed))
        case _:
            return evaluation_document(ev.with_provenance(_placed(ev.provenance, run)))


def _placed(origin: Provenance, run: RunInfo) -> Provenance:
    """The provenance with the run that is logged into, and the time where there is none."""
    made = origin.made or time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    return replace(
        origin, run_id=run.run_id, run_name=run.name, experiment=run.experiment, model=run.model, made=made
    )
