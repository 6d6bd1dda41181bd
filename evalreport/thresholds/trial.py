"""Parts of a study: objectives, trials, the searched space and its columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

from evalreport.core.errors import DataError, nearest
from evalreport.core.json_codec import Whole, shared_fields

State: TypeAlias = Literal["complete", "infeasible", "pruned", "failed", "running", "waiting"]
Direction: TypeAlias = Literal["maximize", "minimize"]
Param: TypeAlias = str | int | float | bool | None

STATES: tuple[State, ...] = get_args(State)
"""States of a trial. Only complete trials compete; the others are shown and counted separately. An infeasible
trial completed but violates a constraint of the study."""
Odd: TypeAlias = Literal["nan", "inf", "-inf"]
Number: TypeAlias = float | Odd
"""JSON has no number for NaN and infinity; they are text."""


@dataclass(frozen=True)
class OddParam:
    """A parameter that is not a finite number; an object, to distinguish it from text."""

    float: Odd


ParamRecord: TypeAlias = str | int | float | bool | OddParam | None
LARGEST = 1e150
"""Greatest absolute value: squares of greater values, which variances need, overflow."""


@dataclass(frozen=True, slots=True)
class StudyObjective:
    """The metric that a study optimises, and its direction.

    Parameters
    ----------
    name : str
        Name of the metric.
    direction : {"maximize", "minimize"}

    Raises
    ------
    DataError
        The direction is unknown.

    Examples
    --------
    >>> StudyObjective("log_loss", "minimize").better(0.2, 0.3)
    True
    """

    name: str
    direction: Direction = "maximize"

    def __post_init__(self) -> None:
        known = get_args(Direction)
        if self.direction not in known:
            raise DataError(
                f"objective {self.name!r} has direction {self.direction!r}",
                where=self.name,
                fix=nearest(str(self.direction), known),
            )

    @property
    def sign(self) -> float:
        """1 if greater is better, -1 if smaller is."""
        return 1.0 if self.direction == "maximize" else -1.0

    def better(self, value: float, than: float) -> bool:
        """Return whether `value` is strictly better; NaN is never better."""
        return self.sign * value > self.sign * than


def _one_nan(value: Any) -> Any:
    """Return `math.nan` itself for every NaN, so that equal trials compare equal."""
    return math.nan if isinstance(value, float) and math.isnan(value) else value


def _number_out(value: float) -> Number:
    odd: Mapping[str, Odd] = {"nan": "nan", "inf": "inf", "-inf": "-inf"}
    return value if math.isfinite(value) else odd[str(value)]


def _param_out(value: Param) -> ParamRecord:
    if isinstance(value, float) and not math.isfinite(value):
        odd = _number_out(value)
        assert isinstance(odd, str)  # noqa: S101  non-finite values are text
        return OddParam(odd)
    return value


def _param_in(value: ParamRecord) -> Param:
    return float(value.float) if isinstance(value, OddParam) else value


@dataclass(frozen=True)
class TrialRecord:
    """A trial."""

    number: Whole
    state: State
    values: tuple[Number, ...]
    params: Mapping[str, ParamRecord]
    intermediate: tuple[tuple[int, Number], ...]
    started: float | None
    finished: float | None
    run_id: str | None


@dataclass(frozen=True)
class SpaceRecord:
    """Searched space of a parameter."""

    name: str
    low: float | None
    high: float | None
    log: bool
    choices: tuple[ParamRecord, ...]


@dataclass(frozen=True)
class Trial:
    """One trial of a sweep.

    Parameters
    ----------
    number : int
        Position in the study, from 0.
    state : {"complete", "infeasible", "pruned", "failed", "running", "waiting"}
    values : tuple of float
        One per objective; empty if there is none. NaN and infinite values are kept.
    params : mapping of str to str, int, float, bool or None
        A conditional parameter that was not sampled is absent.
    intermediate : tuple of (int, float)
        Values reported during the trial, by step.
    started, finished : float or None
        Seconds since 1970-01-01 UTC.
    run_id : str or None
        The MLflow run of this trial.

    Raises
    ------
    DataError
        An unknown state or a negative number.

    Examples
    --------
    >>> trial = Trial(0, "complete", (0.8,), {"C": 1.0}, started=10.0, finished=12.5)
    >>> trial.duration, trial.finite
    (2.5, True)
    """

    number: int
    state: State
    values: tuple[float, ...] = ()
    params: Mapping[str, Param] = field(default_factory=dict, hash=False)
    intermediate: tuple[tuple[int, float], ...] = ()
    started: float | None = None
    finished: float | None = None
    run_id: str | None = None

    def __post_init__(self) -> None:
        if self.state not in STATES:
            raise DataError(
                f"trial {self.number} has state {self.state!r}",
                where=f"trial {self.number}",
                fix=nearest(str(self.state), STATES),
            )
        if self.number < 0:
            raise DataError(f"trial number {self.number} is negative", fix="number the trials from 0")
        huge = next((value for value in self.values if LARGEST < abs(value) < math.inf), None)
        if huge is not None:
            raise DataError(
                f"trial {self.number} has the value {huge:g}, which is too large",
                where=f"trial {self.number}",
                fix="scale the objective, or remove the trial",
            )
        steps = sorted((int(step), _one_nan(float(value))) for step, value in self.intermediate)
        params = {name: _one_nan(value) for name, value in self.params.items()}
        object.__setattr__(self, "values", tuple(_one_nan(float(value)) for value in self.values))
        object.__setattr__(self, "params", MappingProxyType(params))
        object.__setattr__(self, "intermediate", tuple(steps))

    def __reduce__(self) -> tuple[type[Trial], tuple[Any, ...]]:
        rest = (self.intermediate, self.started, self.finished, self.run_id)
        return Trial, (self.number, self.state, self.values, dict(self.params), *rest)

    @property
    def finite(self) -> bool:
        """Whether the trial completed with only finite values, so that it competes."""
        return self.state == "complete" and bool(self.values) and all(map(math.isfinite, self.values))

    def to_wire(self) -> TrialRecord:
        """Return the JSON record of the trial; NaN and infinite values are text."""
        own: dict[str, Any] = {
            "values": tuple(map(_number_out, self.values)),
            "params": {name: _param_out(value) for name, value in self.params.items()},
            "intermediate": tuple((step, _number_out(value)) for step, value in self.intermediate),
        }
        return TrialRecord(**(shared_fields(self, TrialRecord) | own))

    @classmethod
    def from_wire(cls, wire: TrialRecord) -> Trial:
        """Return the trial from its JSON record."""
        own: dict[str, Any] = {
            "values": tuple(map(float, wire.values)),
            "params": {name: _param_in(value) for name, value in wire.params.items()},
            "intermediate": tuple((step, float(value)) for step, value in wire.intermediate),
        }
        return cls(**(shared_fields(wire, cls) | own))

    def value_of(self, objective: int) -> float | None:
        """Return the value of the objective at a position; None if it has none."""
        return self.values[objective] if objective < len(self.values) else None

    @property
    def duration(self) -> float | None:
        """Seconds from start to end; None if either is unknown."""
        if self.started is None or self.finished is None:
            return None
        return max(self.finished - self.started, 0.0)


@dataclass(frozen=True, slots=True)
class Space:
    """Searched space of a parameter, as far as the sweep declared it.

    Parameters
    ----------
    name : str
    low, high : float or None
        Bounds of a numeric parameter.
    log : bool
        Whether the parameter was sampled on a logarithmic scale.
    choices : tuple
        Choices of a categorical parameter, in declared order; empty for a numeric one.

    Examples
    --------
    >>> Space("kernel", choices=("linear", "rbf")).choices
    ('linear', 'rbf')
    """

    name: str
    low: float | None = None
    high: float | None = None
    log: bool = False
    choices: tuple[Param, ...] = ()

    def to_wire(self) -> SpaceRecord:
        """Return the JSON record of the space."""
        return SpaceRecord(self.name, self.low, self.high, self.log, tuple(map(_param_out, self.choices)))

    @classmethod
    def from_wire(cls, wire: SpaceRecord) -> Space:
        """Return the space from its JSON record."""
        return cls(wire.name, wire.low, wire.high, wire.log, tuple(map(_param_in, wire.choices)))

    def __or__(self, other: Space) -> Space:
        """Return the space that contains both: studies can change a space between trials."""
        lows = [low for low in (self.low, other.low) if low is not None]
        highs = [high for high in (self.high, other.high) if high is not None]
        seen = {str(choice) for choice in self.choices}
        added = tuple(choice for choice in other.choices if str(choice) not in seen)
        log = self.log and other.log
        return Space(self.name, min(lows, default=None), max(highs, default=None), log, self.choices + added)


def merge_spaces(spaces: Iterable[Space]) -> tuple[Space, ...]:
    """Return one space per parameter, which contains those of all trials.

    Examples
    --------
    >>> merge_spaces([Space("C", 0.0, 1.0), Space("C", 0.5, 2.0)])
    (Space(name='C', low=0.0, high=2.0, log=False, choices=()),)
    """
    found: dict[str, Space] = {}
    for space in dict.fromkeys(spaces):
        found[space.name] = found[space.name] | space if space.name in found else space
    return tuple(found.values())


@dataclass(frozen=True, slots=True)
class ParameterColumn:
    """One parameter over all trials.

    Parameters
    ----------
    name : str
    kind : {"number", "categorical"}
    values : tuple of float, str or None
        One per trial: floats, or the text of the choice; None if the parameter was not sampled.
    low, high : float
        Least and greatest of the bounds and values of a number; NaN for a categorical parameter.
    log : bool
        Whether the scale is logarithmic: declared so, or positive values over two decades or more.
    whole : bool
        Whether all values of a number were given as integers.
    choices : tuple of str
        Choices in declared order; undeclared ones by number or alphabetically.
    """

    name: str
    kind: Literal["number", "categorical"]
    values: tuple[float | str | None, ...]
    low: float = math.nan
    high: float = math.nan
    log: bool = False
    whole: bool = False
    choices: tuple[str, ...] = ()

    @property
    def constant(self) -> bool:
        """Whether all trials have the same value (apart from gaps)."""
        return len({value for value in self.values if value is not None}) <= 1

    @property
    def gaps(self) -> int:
        """Number of trials without the parameter."""
        return sum(value is None for value in self.values)

    def place(self, value: float | str | None) -> float | None:
        """Return the position of a value on the axis of the parameter, in [0, 1]; None if missing.

        Examples
        --------
        >>> ParameterColumn("C", "number", (), 0.01, 100.0, log=True).place(100.0)
        1.0
        >>> ParameterColumn("kernel", "categorical", (), choices=("a", "b", "c")).place("c")
        1.0
        """
        if value is None:
            return None
        if isinstance(value, str):
            return 0.5 if len(self.choices) == 1 else self.choices.index(value) / (len(self.choices) - 1)
        if self.high <= self.low:
            return 0.5
        bend = math.log if self.log else float
        low, high = bend(self.low), bend(self.high)
        return min(max((bend(value) - low) / (high - low), 0.0), 1.0)


def plain(value: Any) -> Param:
    """Return a parameter as a plain Python value; other types become text.

    Examples
    --------
    >>> plain(0.5), plain((1, 2)), plain(None)
    (0.5, '(1, 2)', None)
    """
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def is_number(value: Any) -> bool:
    """Return whether a parameter value is a finite number; a bool is not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


@dataclass(frozen=True)
class Judging:
    """How the trials were evaluated, as far as the user states it.

    Parameters
    ----------
    n : int or None
        Examples on which each trial was evaluated; for recall or precision, those in its denominator.
    standard_error : float, sequence of float or None
        Standard error of each value, for metrics whose error does not follow from `n`.
    correlation : float or None
        Mean correlation between the errors of two trials; None: unknown. The interval is then valid for every
        correlation, and the optimism is the largest possible, that of independent errors.
    confidence : float
        Level of the intervals.

    Examples
    --------
    >>> Judging(n=400).confidence
    0.95
    """

    n: int | None = None
    standard_error: float | Sequence[float] | None = None
    correlation: float | None = None
    confidence: float = 0.95
