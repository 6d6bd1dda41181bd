"""Evaluations of what an earlier command of this process evaluated: the same rows, asked the same."""

from __future__ import annotations

import hashlib
import pickle
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps

import pytest

from evalreport.evaluation.model import Evaluation

KEPT = 64
"""Evaluations; of some thousand rows each."""
HELD: OrderedDict[bytes, Evaluation] = OrderedDict()
Evaluate = Callable[..., Evaluation]


@contextmanager
def evaluated_once() -> Iterator[None]:
    """Have what is evaluated again taken from the first time: a third of the time of the commands' tests.

    That the same rows, options and seed give the same bytes is for tests that evaluate without a command.
    """
    from evalreport.evaluation.evaluate import evaluate_predictions

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evalreport.workflow.evaluate.evaluate_predictions", _remembered(evaluate_predictions))
        yield


def _remembered(compute: Evaluate) -> Evaluate:
    @wraps(compute)
    def look_or_compute(*given: object, **asked: object) -> Evaluation:
        key = hashlib.sha256(pickle.dumps((given, sorted(asked.items())))).digest()
        if key not in HELD:
            HELD[key] = compute(*given, **asked)
            if len(HELD) > KEPT:
                HELD.popitem(last=False)
        HELD.move_to_end(key)
        return HELD[key]

    return look_or_compute
