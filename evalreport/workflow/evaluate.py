"""From collected predictions to an evaluation with its findings and its origin."""

from __future__ import annotations

import logging
from dataclasses import replace

from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.evaluation.model import Evaluation
from evalreport.findings import find
from evalreport.predictions import Predictions
from evalreport.workflow.collect import Collected
from evalreport.workflow.request import Request
from evalreport.workflow.thresholds import decided

logger = logging.getLogger(__name__)


def evaluated(collected: Collected, request: Request, tune_on: Predictions | None = None) -> Evaluation:
    """Evaluate what was collected.

    Parameters
    ----------
    tune_on : Predictions, optional
        Other rows, on which the threshold is chosen.
    """
    decision = decided(collected.predictions, request.threshold, tune_on, request.sampling)
    rows = decision.rows
    if request.no_examples or collected.sensitive:
        rows = replace(rows, texts=None)
    ev = evaluate_predictions(
        rows, request.sampling, only=request.metrics, sweep=decision.sweep, tuned=decision.tuned
    )
    ev = replace(ev, provenance=collected.provenance)
    if request.no_examples or collected.sensitive:
        ev = replace(ev, mistakes=(), pair_texts=(), facts={**ev.facts, "withheld": 1.0})
    logger.debug("evaluated %s rows, %d metrics", f"{ev.rows:,}", len(ev.metrics))
    return replace(ev, findings=find(ev))
