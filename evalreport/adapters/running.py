"""The MLflow run that a training writes to."""

from __future__ import annotations

from typing import Any

from evalreport.api import log
from evalreport.errors import DataError
from evalreport.evaluation.model import Evaluation
from evalreport.sources.runs import active_run_id


def run_now(logger: Any = None) -> str:
    """Return the id of the run of a framework's own MLflow logger, else of the one that is active.

    Raises
    ------
    UsageError
        There is none.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> run_now(SimpleNamespace(run_id="0a1b"))
    '0a1b'
    """
    found = getattr(logger, "run_id", None)
    return found if isinstance(found, str) else active_run_id()


def into_run(ev: Evaluation | None, run_id: str | None) -> None:
    """Log an evaluation into a run, which may go on.

    Raises
    ------
    DataError
        Nothing was evaluated.
    EvalreportError
        See `er.log`.
    """
    if ev is None:
        raise DataError(
            "nothing was evaluated", where="the callback", fix="pass the same object as compute_metrics="
        )
    log(ev, run_id, allow_running=True)
