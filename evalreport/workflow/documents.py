"""What can be delivered: a page with the files, the numbers and the words that belong to it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from evalreport import __version__, figures
from evalreport.comparison.system_values import SystemsComparison
from evalreport.comparison.values import Comparison
from evalreport.evaluation.model import Evaluation
from evalreport.evaluation.threshold_selection import ThresholdSelection
from evalreport.panels.selection.verdict import headline as chosen_headline
from evalreport.panels.study.verdict import headline as study_headline
from evalreport.panels.verdict.headline import headline
from evalreport.provenance import Provenance
from evalreport.report.comparison import comparison_files, comparison_payload
from evalreport.report.contents import folder_files, payload
from evalreport.report.extracts import extracts
from evalreport.report.names import COMPARISON_PAGE, FIGURES, PAGE, SWEEP_PAGE
from evalreport.report.payload import Payload
from evalreport.report.render import render, render_comparison, render_paper, render_thresholds, render_trials
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
    payload : callable
        From the prefix of the metrics, and whether a folder is written, to the payload.
    title : str
        Of the two pages to print, instead of their own.
    """

    of: T
    name: str
    render: Callable[[], str]
    payload: Callable[[str, bool], Payload]
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

    def paper(self) -> bytes:
        """The two pages to print, PDF."""
        of: Any = self.of
        return render_paper(of, self.title)


def _delivered(of: Any, name: str, html: str) -> Deliverable[Any]:
    def no_payload(_: str, __: bool) -> Payload:
        raise TypeError("the document was delivered in another process")

    return Deliverable(of, name, lambda: html, no_payload)


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

    def make(prefix: str, folder: bool) -> Payload:
        drawn = evaluation_figures(ev)
        made = payload(
            ev,
            document.html,
            drawn,
            verdict=headline(ev).text,
            version=__version__,
            prefix=prefix,
            options=options,
        )
        return _in_folder(made, folder_files(ev, document.html, drawn), document.html) if folder else made

    document = Deliverable(ev, PAGE, lambda: render(ev, checklist=checklist, notes=notes), make)
    return document


def sweep_document(swept: S, notes: str = "") -> Deliverable[S]:
    """Return the page of a sweep, of thresholds or of trials."""

    def make(prefix: str, folder: bool) -> Payload:
        drawn, verdict = figures.sweep_figures(swept), sweep_verdict(swept)
        made = sweep_payload(
            swept, document.html, drawn, verdict=verdict, version=__version__, prefix=prefix, notes=notes
        )
        return _in_folder(made, sweep_files(swept, document.html, drawn), document.html) if folder else made

    document = Deliverable(swept, SWEEP_PAGE, lambda: sweep_page(swept, notes), make)
    return document


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

    found: Comparison | SystemsComparison = comparison

    def make(_: str, folder: bool) -> Payload:
        html = document.html
        made = comparison_payload(found, content, html, version=__version__, notes=notes)
        return _in_folder(made, comparison_files(found, content, html), html) if folder else made

    page = partial(render_comparison, found, title, notes)
    document: Deliverable[C] = Deliverable(comparison, COMPARISON_PAGE, page, make, title)
    return document


def _in_folder(made: Payload, files: Mapping[str, bytes], page: str) -> Payload:
    """With the files of a folder, among them every figure and table of the page."""
    return replace(made, exports={**files, **extracts(page)})


def sweep_page(swept: Swept, notes: str = "") -> str:
    """Return the page of a sweep."""
    return render_trials(swept, notes) if isinstance(swept, Study) else render_thresholds(swept, notes)


def sweep_verdict(swept: Swept) -> str:
    """Return the outcome of a sweep in one sentence."""
    found = study_headline(swept) if isinstance(swept, Study) else chosen_headline(swept)
    return found.text


DRAW: dict[str, Callable[[Evaluation], Figure]] = {
    "confusion_matrix.png": figures.confusion_matrix,
    "roc_curve.png": figures.roc_curve,
    "pr_curve.png": figures.pr_curve,
}


def evaluation_figures(ev: Evaluation) -> dict[str, bytes]:
    """Return the figures that this evaluation has, as PNG, by the names that MLflow pairs."""
    have = {
        "confusion_matrix.png": ev.confusion is not None,
        "roc_curve.png": _has(ev, "roc"),
        "pr_curve.png": _has(ev, "pr"),
    }
    made = {}
    for number, name in enumerate(FIGURES):
        if have[name]:
            stage("drawing figures", number, len(FIGURES))
            made[name] = figures.png(DRAW[name](ev))
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
