"""What an earlier command of this process computed of the same rows, asked the same."""

from __future__ import annotations

import hashlib
import pickle
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from typing import TypeVar

import pytest

from evalreport.comparison.comparison import Comparison
from evalreport.evaluation.evaluation import Evaluation

KEPT = 64
"""Results; of some thousand rows each."""
HELD: OrderedDict[bytes, object] = OrderedDict()
Result = TypeVar("Result")


@contextmanager
def computed_once() -> Iterator[None]:
    """Have what is evaluated or compared again taken from the first time: a third of the commands' tests.

    That the same rows, options and seed give the same bytes is for tests that do without a command. So is
    that a page is a function of its result: one of the same result is not rendered again.
    """
    from evalreport.comparison.compare import compare
    from evalreport.evaluation.evaluate import evaluate_predictions
    from evalreport.page.render import render_page

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evalreport.workflow.evaluate.evaluate_predictions", _remembered(evaluate_predictions))
        for module in ("features.gate.check", "workflow.compare"):
            patch.setattr(f"evalreport.{module}.compare", _of_the_same_rows(compare))
        patch.setattr("evalreport.workflow.deliver.render_page", _remembered(render_page))
        yield


def _remembered(compute: Callable[..., Result]) -> Callable[..., Result]:
    @wraps(compute)
    def look_or_compute(*given: object, **asked: object) -> Result:
        return _held((given, sorted(asked.items())), lambda: compute(*given, **asked))

    return look_or_compute


def _of_the_same_rows(compute: Callable[..., Comparison]) -> Callable[..., Comparison]:
    @wraps(compute)
    def look_or_compute(runs: Sequence[Evaluation], *given: object, **asked: object) -> Comparison:
        if not all(run.sampling.intervals for run in runs):  # their parts are made when they are read
            return compute(runs, *given, **asked)
        rows = [run.with_provenance(replace(run.provenance, made="", command="")) for run in runs]
        key = (rows, given, sorted(asked.items()))
        return replace(_held(key, lambda: compute(runs, *given, **asked)), evaluations=tuple(runs))

    return look_or_compute


def _held(asked: object, compute: Callable[[], Result]) -> Result:
    key = hashlib.sha256(pickle.dumps(asked)).digest()
    if key not in HELD:
        HELD[key] = compute()
        if len(HELD) > KEPT:
            HELD.popitem(last=False)
    HELD.move_to_end(key)
    return HELD[key]  # type: ignore[return-value]
