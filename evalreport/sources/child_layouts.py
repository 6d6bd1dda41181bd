"""How sweeps lay out trials as MLflow child runs: Optuna's callback, MLflow's Optuna storage, by hand."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from evalreport.sources.runs import valid_time
from evalreport.study import Direction, Param, Space, State, StudyObjective
from evalreport.study.constraints import KEY, Constraints, constraints_of
from evalreport.study.values import is_number, plain

Distribution = tuple[str, Mapping[str, Any]]
"""An Optuna distribution: the name of its class, and its attributes."""

_STATUS: Mapping[str, State] = {
    "FINISHED": "complete",
    "KILLED": "pruned",
    "FAILED": "failed",
    "RUNNING": "running",
    "SCHEDULED": "waiting",
}
"""MLflow's own Optuna storage ends a pruned trial as KILLED; a run that raises ends as FAILED."""
_CALLBACK_STATE: Mapping[str, State] = {"COMPLETE": "complete", "PRUNED": "pruned", "FAIL": "failed"}
_STUDY_TAG = "optuna.study_direction"
_CALLBACK_TAGS = {"number", "state", "direction"}
_WHOLE = re.compile(r"[+-]?(0|[1-9]\d*)")
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WORDS: Mapping[str, Param] = {"True": True, "False": False, "None": None}
_QUARTER = 900
"""Seconds of which all time zones are multiples."""
_FARTHEST = 14 * 3600
"""Seconds that a time zone may be from UTC: Kiribati is 14 hours ahead."""

Times = tuple[float | None, float | None]


@dataclass(frozen=True)
class Layout:
    """How to read a child run as a trial.

    Parameters
    ----------
    directions : tuple of str
        Of the study's objectives; empty where nothing says them.
    is_trial : callable
        Tells trials from other child runs.
    number : callable
        The trial number that the run states, or None.
    state : callable
        How the trial ended.
    times : callable
        Start and end in seconds since 1970.
    distributions : callable
        Pairs of parameter and distribution that the run declares.
    objectives : callable
        From the names of the metrics that are there to the objectives; empty where they are not plain.
    constraints : callable
        Values of the constraints that the run states; empty where it states none.
    reported : str or None
        The metric whose steps are intermediate values; None where it is the objective itself.
    """

    directions: tuple[Direction, ...]
    is_trial: Callable[[Any], bool]
    number: Callable[[Any], int | None]
    state: Callable[[Any], State]
    times: Callable[[Any], Times]
    distributions: Callable[[Any], Iterable[tuple[str, Distribution]]]
    objectives: Callable[[Collection[str]], tuple[StudyObjective, ...]]
    constraints: Callable[[Any], Constraints]
    reported: str | None = None

    def params(self, run: Any) -> dict[str, Param]:
        """Return the parameters with the types that are declared, else as they look."""
        declared = dict(self.distributions(run))
        return {name: _typed(text, declared.get(name)) for name, text in run.data.params.items()}

    def spaces(self, run: Any) -> tuple[Space, ...]:
        """Return what the run declares of the searched space."""
        return tuple(_space(name, kind, facts) for name, (kind, facts) in self.distributions(run))


def layout_of(parent: Any, children: Sequence[Any]) -> Layout:
    """Return the layout that the tags of parent and children tell."""
    if _STUDY_TAG in parent.data.tags:
        return storage_layout(_directions(parent.data.tags[_STUDY_TAG]))
    for run in children:
        if _of_callback(run):
            return callback_layout(_directions(run.data.tags["direction"]))
    return NESTED


def storage_layout(directions: tuple[Direction, ...]) -> Layout:
    """`mlflow.optuna.storage.MlflowStorage`: the parent is the study, the children its trials."""
    return Layout(
        directions,
        is_trial=lambda _: True,
        number=lambda run: _as_number(run.data.tags.get("numbers")),
        state=_by_status,
        times=_run_times,
        distributions=_of_json,
        objectives=lambda _: _numbered("value", directions),
        constraints=_stored_constraints,
        reported="intermediate_value",
    )


def callback_layout(directions: tuple[Direction, ...]) -> Layout:
    """Optuna's `MLflowCallback` with nested runs, which are FINISHED whatever became of the trial."""
    return Layout(
        directions,
        is_trial=_of_callback,
        number=lambda run: _as_number(run.data.tags["number"]),
        state=lambda run: _CALLBACK_STATE.get(run.data.tags["state"], "failed"),
        times=_tagged_times,
        distributions=_of_tags,
        objectives=lambda there: _named_there(directions, there),
        constraints=_tagged_constraints,
    )


def _by_status(run: Any) -> State:
    return _STATUS.get(run.info.status, "failed")


def _run_times(run: Any) -> Times:
    start, end = valid_time(run.info.start_time), valid_time(run.info.end_time)
    return start / 1000 if start else None, end / 1000 if end else None


def _stored_constraints(run: Any) -> Constraints:
    """Constraints as MLflow's storage writes them: JSON in tags of Optuna's own attributes."""
    tags = run.data.tags.items()
    return constraints_of(
        {
            name: _json(text)
            for key, text in tags
            if (name := key.removeprefix("sys_")) != key and name.startswith(KEY)
        }
    )


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _tagged_constraints(run: Any) -> Constraints:
    """Constraints in a tag of the user: the callback writes user attributes of a trial, none of Optuna's own.

    The tag is ``constraints``, or ``constraint`` as in Optuna's examples; other text than numbers is another
    tag of the same name.
    """
    for key in (KEY, KEY.removesuffix("s")):
        try:
            read = ast.literal_eval(run.data.tags.get(key, ""))
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
        values = read if isinstance(read, list | tuple) else (read,)
        if values and all(isinstance(value, int | float) for value in values):
            return constraints_of({KEY: values})
    return {}


NESTED = Layout(
    (),
    is_trial=lambda _: True,
    number=lambda _: None,
    state=_by_status,
    times=_run_times,
    distributions=lambda _: (),
    objectives=lambda _: (),
    constraints=_tagged_constraints,
)
"""Plain nested runs with parameters and a metric: nothing is declared."""


def _of_callback(run: Any) -> bool:
    return set(run.data.tags) >= _CALLBACK_TAGS


def _directions(text: str) -> tuple[Direction, ...]:
    found = re.findall("MINIMIZE|MAXIMIZE", text)
    return tuple("minimize" if word == "MINIMIZE" else "maximize" for word in found)


def _as_number(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"\d{1,9}", text) else None


def _numbered(base: str, directions: Sequence[Direction]) -> tuple[StudyObjective, ...]:
    """Objectives named as both Optuna layouts name them: ``value``, or ``value_0``, ``value_1``, …"""
    names = [base] if len(directions) == 1 else [f"{base}_{at}" for at in range(len(directions))]
    return tuple(StudyObjective(name, way) for name, way in zip(names, directions, strict=True))


def _named_there(directions: Sequence[Direction], there: Collection[str]) -> tuple[StudyObjective, ...]:
    """The only metric that is there, or ``NAME_0``, ``NAME_1``, … of several objectives."""
    if len(directions) == 1 and len(there) == 1:
        return (StudyObjective(next(iter(there)), directions[0]),)
    bases = ["value", *sorted(name.removesuffix("_0") for name in there if name.endswith("_0"))]
    named = (_numbered(base, directions) for base in bases)
    return next((goals for goals in named if goals and {goal.name for goal in goals} <= set(there)), ())


def _tagged_times(run: Any) -> Times:
    """Times of the trial from the tags, as the run begins when the trial is over.

    They are clock times without a zone; the zone is the whole number of quarters of an hour by which the
    trial's end differs from the start of its run.
    """
    start, end = (_wall(run.data.tags.get(f"datetime_{which}")) for which in ("start", "complete"))
    if start is None or end is None:
        return _run_times(run)
    zone = _QUARTER * round((end - (run.info.start_time or 0) / 1000) / _QUARTER)
    zone = zone if abs(zone) <= _FARTHEST else 0
    return start - zone, end - zone


def _wall(text: str | None) -> float | None:
    """Seconds of a clock time without a zone, read as UTC."""
    try:
        return datetime.fromisoformat(text or "").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _of_json(run: Any) -> Iterator[tuple[str, Distribution]]:
    """Distributions as MLflow's storage writes them: one tag, JSON of JSON."""
    try:
        texts = json.loads(run.data.tags.get("param_directions", "{}"))
        for name, inner in ((name, json.loads(text)) for name, text in texts.items()):
            yield name, (inner["name"], dict(inner["attributes"]))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return


def _of_tags(run: Any) -> Iterator[tuple[str, Distribution]]:
    """Distributions as the callback writes them: a tag each, such as ``IntDistribution(high=5, …)``."""
    for key, text in run.data.tags.items():
        name = key.removesuffix("_distribution")
        if name != key and (read := _call(text)):
            yield name, read


def _call(text: str) -> Distribution | None:
    """Name and keywords of a call written out as text; None for anything else."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(text, mode="eval").body
        if not isinstance(body, ast.Call) or not isinstance(body.func, ast.Name):
            return None
        return body.func.id, {str(word.arg): ast.literal_eval(word.value) for word in body.keywords}
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def _typed(text: str, declared: Distribution | None) -> Param:
    kind, facts = declared or ("", {})
    try:
        match kind:
            case "CategoricalDistribution":
                return next((plain(choice) for choice in facts["choices"] if str(choice) == text), text)
            case "IntDistribution":
                return int(float(text))
            case "FloatDistribution":
                return float(text)
    except (ValueError, TypeError, KeyError, OverflowError):
        return text
    return literal(text)


def literal(text: str) -> Param:
    """Return a parameter of a hand-made run, which MLflow holds as text, as what it most likely was.

    Examples
    --------
    >>> literal("0.5"), literal("3"), literal("None"), literal("007"), literal("rbf")
    (0.5, 3, None, '007', 'rbf')
    """
    if text in _WORDS:
        return _WORDS[text]
    if _WHOLE.fullmatch(text):
        return int(text) if len(text) < 19 else float(text)
    return float(text) if _DECIMAL.fullmatch(text) and not re.match(r"[+-]?0\d", text) else text


def _space(name: str, kind: str, facts: Mapping[str, Any]) -> Space:
    choices = facts.get("choices") if kind == "CategoricalDistribution" else ()
    low, high = (end if is_number(end := facts.get(which)) else None for which in ("low", "high"))
    listed = tuple(plain(choice) for choice in choices) if isinstance(choices, list | tuple) else ()
    return Space(name, low, high, facts.get("log") is True, listed)
