"""The pages of one run of a site, as a process makes them: its report, and its comparison."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from evalreport.codec import dumps
from evalreport.comparison.board import FoundInRun, RunFacts
from evalreport.comparison.compare import compare
from evalreport.comparison.field import ContributionsOfRun, contributions_of_run, in_common_order
from evalreport.errors import DataError
from evalreport.evaluation.model import Evaluation
from evalreport.labels import Multilabel
from evalreport.metrics.catalogue import find
from evalreport.metrics.named_sets import COMPARED, PRIMARY
from evalreport.panels.verdict.headline import headline
from evalreport.predictions import Predictions
from evalreport.report.names import INPUTS_TAG
from evalreport.report.render import render
from evalreport.sinks.site import KEPT, digest_of
from evalreport.values import Undefined
from evalreport.workflow.compare import Compared
from evalreport.workflow.compare_deliver import as_record
from evalreport.workflow.documents import comparison_document
from evalreport.workflow.evaluate import evaluated
from evalreport.workflow.report import inputs_tag
from evalreport.workflow.request import Destination, Request
from evalreport.workflow.runs import Item


@dataclass(frozen=True)
class SiteReference:
    """The run that the others are compared with."""

    name: str
    stem: str
    rows_key: str
    evaluation: Evaluation
    digest: str


@dataclass(frozen=True)
class SiteTask:
    """A run of a site, as a process takes it up; with the evaluation of its report, where that stands."""

    item: Item
    name: str
    stem: str
    stored: bytes = b""

    @property
    def shown(self) -> str:
        """How it is named in messages."""
        return self.item.shown


@dataclass(frozen=True)
class MadePages:
    """What was made of a run: what is kept of it, and its files."""

    facts: RunFacts
    files: Mapping[str, bytes]


def paths_of(stem: str) -> tuple[str, ...]:
    """Return the files of a run's report."""
    return f"runs/{stem}.html", f"runs/{stem}.json", f"{KEPT}/{stem}.json", f"{KEPT}/{stem}.npy"


def comparison_paths(stem: str) -> tuple[str, str]:
    """Return the files of a run's comparison with the reference."""
    return f"compare/{stem}.html", f"compare/{stem}.json"


def made_pages(
    task: SiteTask, request: Request, sort_by: str | None, reference: SiteReference | None
) -> MadePages:
    """Evaluate a run and return the pages of it: its report, and its comparison with the reference."""
    collected = task.item.collect(request)
    if task.stored:
        ev = replace(Evaluation.from_json(task.stored), predictions=collected.predictions)
    else:
        ev = evaluated(collected, request)
    facts, parts = _facts(ev, sort_by)
    tag = inputs_tag(task.item, collected.artifact, request, Destination())
    facts = replace(facts, inputs=tag.get(INPUTS_TAG, ""))
    files: dict[str, bytes] = {}
    if reference is not None and reference.stem != task.stem and reference.rows_key == facts.rows_key:
        files |= _comparison(task, ev, reference)
        facts = replace(facts, against=reference.digest)
    if not task.stored:
        page, data, _, rows = paths_of(task.stem)
        html = render(ev, checklist=request.checklist, notes=request.notes)
        files |= {page: html.encode(), data: ev.to_json().encode(), rows: parts}
    return MadePages(facts, files | {paths_of(task.stem)[2]: dumps(facts).encode()})


def _facts(ev: Evaluation, sort_by: str | None) -> tuple[RunFacts, bytes]:
    """What the front page needs of an evaluation, and the contributions of its rows as an array in a file."""
    p = ev.predictions
    if p is None:
        raise DataError("the predictions are not at hand", fix="log them into the run")
    names = (find(sort_by, ev.task).name,) if sort_by else PRIMARY[ev.task]
    found = {name: contributions_of_run(find(name, ev.task), p) for name in names}
    known = {name: one for name, one in found.items() if isinstance(one, ContributionsOfRun)}
    why = [one.reason for one in found.values() if isinstance(one, Undefined)]
    stack = [row for one in known.values() for row in (one.strata.astype(np.float32), one.parts)]
    file = io.BytesIO()
    np.save(file, np.stack(stack) if stack else np.zeros((0, 0), dtype=np.float32))
    wanted = dict.fromkeys((*names, *COMPARED[ev.task], *ev.metrics))
    facts = RunFacts(
        task=ev.task,
        rows=ev.rows,
        rows_key=_rows_key(p),
        digest=ev.truth_digest[:12],
        headline=headline(ev).text,
        metrics={name: ev.metrics[name] for name in wanted if name in ev.metrics},
        contributions={name: (one.value, one.spread) for name, one in known.items()},
        findings=tuple(FoundInRun(one.rule, one.claim, one.action) for one in ev.findings),
        unit=ev.provenance.unit,
        reason="" if known else why[0],
        sort_by=sort_by or "",
    )
    return facts, file.getvalue()


def _rows_key(p: Predictions) -> str:
    """Digest of the rows in their common order: ids, truth by its names, weights, clusters."""
    rows = in_common_order(p)
    names = np.asarray(rows.space.names)
    truth = rows.y_true.tolist() if isinstance(rows.space, Multilabel) else names[rows.y_true].tolist()
    ids = [] if rows.ids is None else rows.ids.tolist()
    weights = (rows.weights / rows.weights.mean()).round(9).tolist() if rows.weighted else []
    return digest_of(
        rows.space.task, ids, truth, weights, [] if rows.groups is None else rows.groups.codes.tolist()
    )


def _comparison(task: SiteTask, ev: Evaluation, reference: SiteReference) -> dict[str, bytes]:
    """Return the files of a comparison of two runs: nothing of the field stands there."""
    found = compare([reference.evaluation, ev], 0, names=(reference.name, task.name))
    record = as_record(Compared(found, ()))
    html = comparison_document(found, record).html
    return dict(zip(comparison_paths(task.stem), (html.encode(), dumps(record).encode()), strict=True))
