"""How the errors of trials go together, measured on the predictions that their runs hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evalreport.errors import DataError, EvalreportError, UsageError
from evalreport.intervals.contributions import Counted
from evalreport.metrics.catalogue import find
from evalreport.metrics.record import Metric
from evalreport.metrics.strategies import Proportion
from evalreport.predictions import Predictions
from evalreport.resampling import unit_sums
from evalreport.sources.mlflow_client import Store
from evalreport.sources.runs import find_run
from evalreport.study import Trial, Trials, error_correlation
from evalreport.study.judged import Judging, bare_name
from evalreport.thresholds.tuned import units_of
from evalreport.workflow.collect import collect_run
from evalreport.workflow.request import Request

MOST = 20
"""Trials whose predictions are read, the best ones: the best is one of those that compete with it."""
IN_VAIN = 3
"""Runs without predictions after which no other is asked: trials are logged alike."""
ROUNDED = 0.002
"""How far a logged value may be from that of the rows: values are logged with three decimals at worst."""


@dataclass(frozen=True)
class MeasuredErrors:
    """What the rows of several trials say of their errors.

    Parameters
    ----------
    correlation : float
        Mean over pairs of trials, in [0, 1).
    standard_error : float
        Root mean square over trials.
    rows, trials : int
    share : bool
        Whether the metric is a share of all these rows, each counted alike: its error follows from their
        number.
    """

    correlation: float
    standard_error: float
    rows: int
    trials: int
    share: bool


def measured_errors(metric: Metric, rows: Sequence[Predictions]) -> MeasuredErrors | None:
    """Return how the errors of trials on the same rows go together; None where that cannot be told.

    The error of a metric is the sum of what the rows contribute to it (the infinitesimal jackknife), so that
    the correlation of two trials' contributions is that of their errors. Rows that belong together are one.

    Parameters
    ----------
    metric : Metric
    rows : sequence of Predictions
        Of the same examples in the same order, one for each trial.

    Examples
    --------
    >>> from evalreport.labels import Binary
    >>> from evalreport.predictions import predictions
    >>> answers = ([1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0])
    >>> trials = [predictions(Binary(0, 1), [1, 1, 1, 1], answer) for answer in answers]
    >>> round(measured_errors(find("accuracy", "binary"), trials).correlation, 3)
    0.333
    """
    moves = []
    for p in rows:
        counted = Counted.of(p)
        found = counted.contributions(metric) if isinstance(metric.of(counted.facts), float) else None
        if found is not None:
            unit = units_of(p)
            moves.append(unit_sums(unit, found, int(unit.max()) + 1))
    if len(moves) < 2:
        return None
    try:
        correlation = error_correlation(moves)
    except DataError:  # fewer than two trials that vary
        return None
    error = float(np.sqrt(np.mean([(each**2).sum() for each in moves])))
    first = rows[0]
    alike = not first.weighted and first.groups is None
    share = alike and isinstance(metric.strategy, Proportion) and metric.over is None
    return MeasuredErrors(min(correlation, 0.999), error, len(first), len(moves), share)


def judging_of(store: Store, trials: Trials, judging: Judging) -> tuple[Judging, str]:
    """Return what is known of the trials' errors with what their runs' predictions tell, and that in words.

    Nothing is added to what the user says, nor where there are several objectives.
    """
    if judging.correlation is not None or len(trials.objectives) != 1:
        return judging, ""
    goal = trials.objectives[0]
    order = sorted(trials.contenders, key=lambda trial: -goal.sign * trial.values[0])
    read = _read(store, order)
    found, told = _judged(goal.name, read)
    if found is None:
        return judging, told
    if judging.n is None and judging.standard_error is None:
        known = {"n": found.rows} if found.share else {"standard_error": found.standard_error}
        judging = replace(judging, **known)
    return replace(judging, correlation=found.correlation), told


def _read(store: Store, order: Sequence[Trial]) -> list[tuple[float, Predictions]]:
    """Logged values and predictions of the best trials, on the rows that the best of them has."""
    read: list[tuple[float, Predictions]] = []
    vain = 0
    for trial in order[:MOST]:
        if vain >= IN_VAIN or not trial.run_id:
            break
        try:
            rows = collect_run(store, find_run(store, trial.run_id), Request()).predictions
        except EvalreportError:
            vain += 1
            continue
        if not read or rows.truth_digest == read[0][1].truth_digest:
            read.append((trial.values[0], _sorted(rows)))
    return read


def _sorted(rows: Predictions) -> Predictions:
    return rows if rows.ids is None else rows.take(np.argsort(rows.ids, kind="stable"))


def _judged(name: str, read: Sequence[tuple[float, Predictions]]) -> tuple[MeasuredErrors | None, str]:
    if len(read) < 2:
        return None, ""
    metric = _metric(name, read[0][1])
    if metric is None:
        return None, ""
    values = [metric.of(Counted.of(rows).facts) for _, rows in read]
    pairs = zip(values, read, strict=True)
    if any(not isinstance(own, float) or abs(own - logged) > ROUNDED for own, (logged, _) in pairs):
        return None, (
            f"the predictions of the child runs give another {name} than these logged: they are not the rows "
            "that judged the trials, and the correlation of errors is not measured on them"
        )
    found = measured_errors(metric, [rows for _, rows in read])
    if found is None:
        return None, ""
    return found, (
        f"the errors of two trials correlate by {found.correlation:.2f}, measured on the {found.rows:,} rows "
        f"of {found.trials} child runs with predictions"
    )


def _metric(name: str, rows: Predictions) -> Metric | None:
    for known in bare_name(name):
        try:
            return find(known, rows.space.task)
        except UsageError:
            continue
    return None
