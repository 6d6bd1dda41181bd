"""From collected predictions to an evaluation with its findings and its origin."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial

from evalreport.errors import UsageError
from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.evaluation.model import Evaluation
from evalreport.findings import find
from evalreport.intervals.repeated import repeated_answers
from evalreport.labels import Binary, LabelSpace
from evalreport.metrics.entries.operating_points import at_prevalence
from evalreport.predictions import Predictions
from evalreport.stages import stage
from evalreport.workflow.collect import Collected
from evalreport.workflow.request import Request
from evalreport.workflow.thresholds import decided

logger = logging.getLogger(__name__)


def deployed(space: LabelSpace, prevalence: float | None) -> tuple[str, ...]:
    """Return the names of the metrics that a stated prevalence of deployment asks for.

    Raises
    ------
    UsageError
        A prevalence of something that is no share, or of a problem that is not binary.
    """
    if prevalence is None:
        return ()
    if not isinstance(space, Binary):
        raise UsageError(
            f"a prevalence is of one class against another; these are {len(space)} labels",
            where="--prevalence",
            fix="leave --prevalence out",
        )
    if not 0 < prevalence < 1:
        raise UsageError(
            f"prevalence {prevalence} is no share between 0 and 1", where="--prevalence", fix="pass 0.01"
        )
    return at_prevalence(prevalence)


def evaluated(collected: Collected, request: Request, tune_on: Predictions | None = None) -> Evaluation:
    """Evaluate what was collected.

    Parameters
    ----------
    tune_on : Predictions, optional
        Other rows, on which the threshold is chosen.
    """
    stage(f"evaluating {len(collected.predictions):,} rows")
    decision = decided(collected.predictions, request.threshold, tune_on, request.sampling)
    rows = decision.rows
    if request.no_examples or collected.sensitive:
        rows = replace(rows, texts=None)
    ev = evaluate_predictions(
        rows,
        request.sampling,
        only=request.metrics,
        more=(*deployed(rows.space, request.prevalence), *request.points),
        sweep=decision.sweep,
        tuned=decision.tuned,
    )
    answers = None if collected.samples is None else repeated_answers(collected.samples, request.sampling)
    ev = ev.changed(provenance=collected.provenance, answers=answers)
    if request.no_examples or collected.sensitive:
        ev = replace(ev, mistakes=(), pair_texts=(), facts={**ev.facts, "withheld": 1.0})
    logger.debug("evaluated %s rows, %d metrics", f"{ev.rows:,}", len(ev.metrics))
    return ev.changed(findings=find(ev) if request.sampling.intervals else partial(find, ev))
