"""The value that a rule names: of all rows, of one class or of one slice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evalreport.bounds import Bound
from evalreport.errors import UsageError, nearest
from evalreport.evaluation.model import Evaluation
from evalreport.gate.results import CheckKind
from evalreport.intervals.proportions import exact_like
from evalreport.intervals.sampling import CERTAIN
from evalreport.labels import Binary, Task
from evalreport.metrics.catalogue import find
from evalreport.metrics.record import Metric
from evalreport.metrics.strategies import Proportion
from evalreport.text import marked
from evalreport.values import Estimate, Result, Undefined


@dataclass(frozen=True)
class MeasuredBound:
    """A bound, and what was measured of it.

    Parameters
    ----------
    bound : Bound
    value : float or None
        On the scale of the bound: of a drop, baseline minus run. None where it is undefined.
    limits : (float, float) or None
        Its interval, low end first.
    rows, level
        Rows behind it, and the confidence of the interval.
    exact : bool
        Counts and settings, which estimate nothing; and values that no sample could change.
    paired : bool
        Of a change: whether it was measured on the same examples.
    reason : str
        Why there is no value, or no interval.
    note : str
        What else is to be said of it.
    """

    bound: Bound
    value: float | None
    limits: tuple[float, float] | None
    rows: int
    level: float
    exact: bool = False
    paired: bool = True
    reason: str = ""
    note: str = ""

    @property
    def kind(self) -> CheckKind:
        """Of a value, or of a change."""
        return "change" if self.bound.change else "rule"

    def reported(self, limits: tuple[float, float]) -> tuple[float, float]:
        """Return limits as run minus baseline: those of a drop change their sign and order."""
        return (0.0 - limits[1], 0.0 - limits[0]) if self.bound.change == "drops" else limits


def measured_value(ev: Evaluation, bound: Bound) -> MeasuredBound:
    """Return the value that a bound is about, with its interval.

    The interval of a proportion is exact: a model that meets the bound exactly is failed, and passed, in at
    most half of the error that the level leaves. Wilson's, which the report gives, is right on average and
    fails such a model in up to 16% (n = 17, 0.99).

    Raises
    ------
    UsageError
        A metric, class or slice that is not there, or a bound that no value can keep.
    """
    metric, result = _of_part(ev, bound) if bound.part else _of_all(ev, bound)
    bound.check_possible(metric.low, metric.high)
    interval, level = None, ev.sampling.level
    if isinstance(result, Estimate) and result.low is not None and result.high is not None:
        interval = (result.low, result.high)
        if isinstance(metric.strategy, Proportion):
            interval = exact_like(result.value, *interval, level)
    return MeasuredBound(
        bound,
        result.value,
        interval,
        ev.rows,
        level,
        exact=metric.interval == "none" or result.reason in CERTAIN,
        reason=result.reason or "",
        note=result.reason if result.reason in CERTAIN else "",
    )


def slice_of(part: str) -> str | None:
    """Return a part as ``column=value`` without spaces around the sign; None for the name of a class.

    Examples
    --------
    >>> slice_of("site = a"), slice_of("card arrival")
    ('site=a', None)
    """
    column, sign, value = part.partition("=")
    return f"{column.strip()}={value.strip()}" if sign else None


def check_class(ev: Evaluation, bound: Bound) -> None:
    """Refuse a class that is not there, or any of a binary problem.

    Raises
    ------
    UsageError
    """
    if isinstance(ev.space, Binary):
        raise UsageError(
            f"{bound.text!r} names a class of a binary problem",
            where="--require",
            fix=f"write {bound.metric} without a class; it is of the positive one",
        )
    known = [str(entry.label) for entry in ev.classes] or list(ev.space.names)
    if marked(bound.part) not in known:
        raise UsageError(
            f"there is no class {bound.part!r}", where="--require", fix=nearest(bound.part, known)
        )


def names_a_slice(ev: Evaluation, bound: Bound) -> bool:
    """Return whether the part of a bound is a slice; a class may hold an equals sign, too."""
    return slice_of(bound.part) is not None and (
        isinstance(ev.space, Binary) or bound.part not in ev.space.texts
    )


def _of_all(ev: Evaluation, bound: Bound) -> tuple[Metric, Result]:
    metric = find(bound.metric, ev.task)
    return metric, ev[metric.name]


def _of_part(ev: Evaluation, bound: Bound) -> tuple[Metric, Result]:
    if names_a_slice(ev, bound):
        return _of_slice(ev, bound)
    check_class(ev, bound)
    classes = {str(entry.label): entry for entry in ev.classes}
    return _known(bound, classes[marked(bound.part)].metrics, "binary", "a class")


def _of_slice(ev: Evaluation, bound: Bound) -> tuple[Metric, Result]:
    wanted = slice_of(bound.part) or ""
    slices = {f"{part.column}={part.value}": part for part in ev.slices}
    check_slice(bound, [part.column for part in ev.slices], list(slices))
    found = slices[wanted]
    if found.too_few:
        column, _, value = wanted.partition("=")
        return find(bound.metric, ev.task), Undefined(f"only {found.rows} rows have {column} = {value}")
    return _known(bound, found.metrics, ev.task, "a slice")


def check_slice(bound: Bound, columns: list[str], slices: list[str]) -> None:
    """Refuse a slice that was not asked for, or a value that no row has.

    Raises
    ------
    UsageError
    """
    wanted = slice_of(bound.part) or ""
    column, _, value = wanted.partition("=")
    if column not in columns:
        raise UsageError(
            f"{bound.text!r} names a slice of {column!r}, which was not asked for",
            where="--require",
            fix=f"add --slice {column}",
        )
    if wanted not in slices:
        raise UsageError(f"no row has {column} = {value}", where="--require", fix=nearest(wanted, slices))


def _known(bound: Bound, metrics: Mapping[str, Result], task: Task, what: str) -> tuple[Metric, Result]:
    if bound.metric not in metrics:
        raise UsageError(
            f"{what} has no metric {bound.metric!r}", where="--require", fix=nearest(bound.metric, metrics)
        )
    return find(bound.metric, task), metrics[bound.metric]
