"""What every public function does: it holds what it is given against its hints, and its errors speak Python.

pydantic in its place would add its 110 ms of import to the first call, and has no hints of arrays and frames;
msgspec has none either.

The lower layers write options as the command line does; here ``--set engine=stream`` becomes
``engine="stream"``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, wraps
from inspect import signature
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, SimpleNamespace, UnionType
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from evalreport.adapters.frames import is_frame
from evalreport.columns.request import Columns, GradeColumns
from evalreport.core.errors import EvalreportError, UsageError
from evalreport.data.labels import Label
from evalreport.intervals.settings import Sampling
from evalreport.workflow.request import Request

P = ParamSpec("P")
R = TypeVar("R")

SAMPLING = ("confidence", "resamples", "seed", "constraint_confidence")
_KINDS: dict[Any, Any] = {bool: (bool, np.bool_), int: Integral, float: Real}
_SAID: dict[Any, str] = {bool: "True or False", int: "a whole number", float: "a number", str: "text"}
_SAID |= {Mapping: "a mapping", Path: "a path", Literal: "text", np.floating: "a number"}
_ARRAYS = {"truth": "y_true", "pred": "y_pred", "score": "scores", "score_kind": "scores"}
_ARRAYS |= {"show_text": "texts"} | {name: f"{name}s" for name in ("id", "group", "fold", "weight")}
"""What the columns of a file are called where they are arrays."""
_WRAPPED = {"logit": "er.Logits(…)", "decision": "er.Decisions(…)"}
_PYTHON = {"slice": "slices", "sort_by": "primary", "metric": "metrics", "output": "path", "response": "text"}
_PYTHON |= {"show_text": "example_text", "repeats": "several_answers", "constraint_confidence": "hold"}
_WORDS = (
    "alone|and|are|as|both|column|counts|for|given|has|holds|in|is|label|names|needs|once|one|or|out|takes|that|"
    "the|to|which|with|without"
)
"""Words that follow an option in a sentence and are not its value."""
_SPARK = ("--set engine=spark --set table", "er.evaluate_spark")
_VALUE = r"""('[^']*'|"[^"]*"|[^\s-]?\S*[^\s,;:.)?-])"""
_OPTION = re.compile(
    rf"--(?:set ([a-z_]+)(?:={_VALUE})?|([a-z]+(?:-[a-z]+)*)(?: (?!(?:{_WORDS})\b){_VALUE})?)"
)
"""A setting, its value, an option, its value."""


def public_api(function: Callable[P, R]) -> Callable[P, R]:
    """Return a public function that refuses what its hints do not take, and whose errors name keywords.

    Examples
    --------
    >>> @public_api
    ... def half(value: float) -> float:
    ...     return value / 2
    >>> half("x")
    Traceback (most recent call last):
    evalreport.core.errors.UsageError: value is 'x', not a number
    """
    parameters = signature(function).parameters

    @wraps(function)
    def checked_call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            for name, value in (*zip(parameters, args, strict=False), *kwargs.items()):
                if name in parameters and name != "scores":  # whose own error is clearer
                    check(name, value, _hints(function)[name])
            return function(*args, **kwargs)
        except EvalreportError as error:
            first = args[0] if args else kwargs.get("y_true")
            of_frame = "columns" in parameters and ("weights" not in parameters or is_frame(first))
            as_python_keywords(
                error, named_hints() | _hints(function), _PYTHON if of_frame else _PYTHON | _ARRAYS
            )
            raise

    return checked_call


@cache
def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    of_features = ("SystemsComparison", "PlottedStudy", "Judging")  # features check what they are given
    later: dict[str, Any] = {"pd": SimpleNamespace(DataFrame=Any), **dict.fromkeys(of_features, Any)}
    return get_type_hints(function, localns=later)


@cache
def named_hints() -> dict[str, Any]:
    """Return the keyword arguments that go with a frame or a file, with their hints."""
    sampling = {name: get_type_hints(Sampling).get(name, float | None) for name in SAMPLING}
    return {**get_type_hints(GradeColumns), **get_type_hints(Columns), **get_type_hints(Request), **sampling}


def check(name: str, value: Any, hint: Any) -> None:
    """Refuse a value that is not of its hint.

    Examples
    --------
    >>> check("metrics", ["f1", 3], Sequence[str])
    Traceback (most recent call last):
    evalreport.core.errors.UsageError: metrics[1] is 3, not text
    """
    misfit = _misfit(name, value, hint)
    if misfit is not None:
        name, value, hint = misfit
        shown = repr(value) if isinstance(value, (str, int, float, NoneType)) else type(value).__name__
        said = _describe_hint(hint)
        raise UsageError(f"{name} is {shown[:60]}, not {said}", where=name, fix=f"pass {said}")


def _misfit(name: str, value: Any, hint: Any) -> tuple[str, Any, Any] | None:
    """The part of a value that is not of its hint, by its name."""
    parts = [_entries(arm, value) for arm in _arms(hint) if _fits(value, arm)]
    found = [
        next(filter(None, (_misfit(f"{name}[{key!r}]", part, kind) for key, part, kind in entries)), None)
        for entries in parts
    ]
    return None if None in found else found[0] if found else (name, value, hint)


def _arms(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _entries(hint: Any, value: Any) -> list[tuple[Any, Any, Any]]:
    """Key, part and hint of what a mapping or a sequence holds."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Mapping:
        return [(key, part, args[1]) for key, part in value.items()]
    if origin in (Sequence, tuple) and not _is_open(args[0]):
        return [(place, part, args[0]) for place, part in enumerate(value)]
    return []


def _is_open(hint: Any) -> bool:
    """Whether another function checks the items of a sequence."""
    return hint is Any or set(get_args(Label)) <= set(_arms(hint))


def _fits(value: Any, hint: Any) -> bool:
    origin, args = get_origin(hint), get_args(hint)
    kind = str if origin is Literal else origin or hint
    if kind in (Sequence, tuple):
        return _is_several(value, args)
    if not isinstance(kind, type) or kind is Any or getattr(kind, "_is_protocol", False):
        return True
    truth_value = isinstance(value, (bool, np.bool_)) and kind in (int, float)
    return isinstance(value, _KINDS.get(kind, kind)) and not truth_value


def _is_several(value: Any, args: tuple[Any, ...]) -> bool:
    """Whether a value has as many entries as a sequence or tuple of these hints."""
    if isinstance(value, (str, bytes, Mapping, set)) or getattr(value, "ndim", 1) == 0:
        return False
    if _is_open(args[0]):
        return isinstance(value, Iterable)
    listed = isinstance(value, Sequence) or getattr(value, "ndim", 0) == 1
    return listed and (len(args) == 1 or args[-1] is Ellipsis or len(value) == len(args))


def _describe_hint(hint: Any) -> str:
    """What a hint takes, in words."""
    origin, args = get_origin(hint), get_args(hint)
    if _is_open(hint):
        return "a label"
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(_describe_hint(arm) for arm in args if arm is not NoneType))
    if origin in (Sequence, tuple):
        return f"a sequence of {_describe_hint(args[0]).removeprefix('a ').rstrip('s')}s"
    return _SAID.get(origin or hint) or str(getattr(origin or hint, "__name__", hint))


def as_python_keywords(error: EvalreportError, known: Mapping[str, Any], names: Mapping[str, str]) -> None:
    """Spell the options that an error names as the keyword arguments that they are in Python.

    Examples
    --------
    >>> error = UsageError("not 1", where="--set weight", fix="pass --set engine=memory, or --set fuzzy")
    >>> as_python_keywords(error, {"weights": Any, "engine": str, "fuzzy": bool}, {"weight": "weights"})
    >>> print(error.as_lines())
    error: not 1
      at   weights
      fix  pass engine="memory", or fuzzy=True
    """

    def replace_option(found: re.Match[str]) -> str:
        option, value = (found[1], found[2]) if found[1] else (found[3].replace("-", "_"), found[4])
        name = names.get(option, option)
        if name not in known and name not in names.values():
            return found[0]
        if known.get(name) is bool:
            return f"{name}=True" if found[1] or value is None else f"{name}=True {value}"
        if value is None:
            return f"{name}="
        if name == "scores" and value in _WRAPPED:
            return f"{name}={_WRAPPED[value]}"
        plain = value.strip("'\"")
        if name == "labels":
            return f"{name}={plain.split(',')}"
        return f"{name}={plain}" if re.fullmatch(r"[\d.]+", plain) else f'{name}="{plain}"'

    error.message, where, error.fix = (
        _OPTION.sub(replace_option, text.replace(*_SPARK)).replace("scores= or scores=", "scores=")
        for text in (error.message, error.where, error.fix)
    )
    error.where, error.args = where.removesuffix("="), (error.message, *error.args[1:])
