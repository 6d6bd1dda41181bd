"""What was evaluated in memory, as it stands in the run that it is logged into."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from evalreport.evaluation.model import Evaluation
from evalreport.evaluation.threshold_selection import ThresholdSelection
from evalreport.provenance import Provenance
from evalreport.sources.runs import RunInfo
from evalreport.study.judged import Study
from evalreport.workflow.documents import Deliverable, evaluation_document, sweep_document


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
