"""Grades as they are written in files: their values, their scale, and what passes."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, get_args

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import DataError, UsageError
from evalreport.data.arrays import as_array, is_gap
from evalreport.data.labels import Graded, Scale
from evalreport.statistics.confusion import Array

WORDS: Final[Mapping[str, float]] = {
    **dict.fromkeys(("pass", "passed", "correct", "right", "yes", "true", "c"), 1.0),
    **dict.fromkeys(("fail", "failed", "incorrect", "wrong", "no", "false", "i", "n"), 0.0),
    "p": 0.5,
}
"""Value of a grade in words; the single letters are those of Inspect AI (C, I, P, N)."""
NO_GRADE: Final = ("", "error", "timeout", "timed out", "null", "none", "nan", "n/a", "na")
"""Texts of an attempt without a grade."""
HIGHEST: Final = 10
"""The highest rating that is recognised without `--set pass`."""
MOST_OUTSIDE: Final = 0.2
"""Proportion of values above 1, below which fractions are scores from 0 to 1 and the others are errors."""
USUAL_HIGHEST: Final = 5.0
"""The highest rating of the most usual scale."""
RULE = re.compile(r"\s*(>=|<=|>|<|=|≥|≤)\s*(-?\d+(?:\.\d+)?)\s*(%?)\s*")
COMPARE: Final[Mapping[str, Callable[[Array, float], Any]]] = {
    ">=": operator.ge,
    "≥": operator.ge,
    "<=": operator.le,
    "≤": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}


@dataclass(frozen=True, eq=False)
class Grades:
    """Grades of attempts.

    Parameters
    ----------
    space : Graded
        Of the scale.
    values : float64 array of shape (n,)
        NaN without a grade.
    passed : int array of shape (n,), or None
        0 pass, 1 fail, -1 without a grade; None where nothing says which ratings pass.
    rule : str
        What passes, in words; empty where grades are pass or fail.
    """

    space: Graded
    values: Array
    passed: npt.NDArray[np.int32] | None
    rule: str = ""

    @property
    def lowest(self) -> float:
        """The score of an attempt without a grade: the lowest of the scale."""
        return 0.0 if self.space.scale != "rating" or np.nanmin(self.values) < 1 else 1.0

    @property
    def scores(self) -> Array | None:
        """The score of each attempt; None where grades are pass or fail."""
        return None if self.space.scale == "pass" else np.where(self.known, self.values, self.lowest)

    @property
    def bounds(self) -> tuple[float, float]:
        """The range of the scores: 0 to 1, or of ratings up to the highest that occurs, 5 at least."""
        if self.space.scale != "rating":
            return 0.0, 1.0
        return self.lowest, max(float(np.nanmax(self.values)), USUAL_HIGHEST)

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Which attempts have a grade."""
        return ~np.isnan(self.values)


def read_grades(
    values: Any, column: str, scale: Scale | None = None, passing: str | None = None, source: str = ""
) -> Grades:
    """Return the grades of a column.

    Parameters
    ----------
    values : array-like of shape (n,)
        Booleans, numbers, words of `WORDS`; gaps and the texts of `NO_GRADE` are attempts without a grade.
    column, source : str
        For messages.
    scale : str, optional
        The declared scale; else it follows from the values.
    passing : str, optional
        What passes, such as ``>=4``.

    Raises
    ------
    DataError
        A value that is not a grade, values outside of the scale, no grade at all.
    UsageError
        A rule that is not a comparison with a number.

    Examples
    --------
    >>> found = read_grades(["C", "I", "P", None], "scorer")
    >>> found.space.scale, found.values, found.passed
    ('unit', array([1. , 0. , 0.5, nan]), array([ 0,  1,  1, -1], dtype=int32))
    >>> read_grades([5, 3, 1], "rating", passing=">=3").passed
    array([0, 0, 1], dtype=int32)
    """
    numbers = _numbers(values, column, source)
    known = numbers[~np.isnan(numbers)]
    where = ", ".join(filter(None, (source, f"column {column!r}")))
    if not known.size:
        raise DataError("no item has a grade", where=where, fix="name another column with --grade")
    chosen = scale or _scale(known, passing is not None)
    if chosen is None or not _fits(known, chosen):
        found = f"{known.min():g} to {known.max():g}"
        on = f"outside of the scale {scale!r}" if scale else "on no known scale"
        raise DataError(
            f"the grades are {on}: they go from {found}",
            where=where,
            fix="scale them to 0 to 1, or name what passes, such as --set pass='>=50'",
        )
    if scale is None and passing is None and chosen == "rating":
        _refuse_outliers(numbers, where)
    space = Graded(chosen)
    if passing is not None:
        sign, number = parse_rule(passing)
        return Grades(space, numbers, _codes(numbers, COMPARE[sign](numbers, number)), f"{sign} {number:g}")
    if chosen == "rating":
        return Grades(space, numbers, None)
    return Grades(space, numbers, _codes(numbers, numbers == 1), "" if chosen == "pass" else "= 1")


def parse_rule(passing: str) -> tuple[str, float]:
    """Return the sign and the number of a rule.

    Raises
    ------
    UsageError

    Examples
    --------
    >>> parse_rule(">= 80%"), parse_rule("4")
    (('>=', 0.8), ('>=', 4.0))
    """
    found = RULE.fullmatch(passing) or RULE.fullmatch(f">={passing}")
    if found is None:
        raise UsageError(
            f"--set pass={passing} is not a comparison with a number",
            where="--set pass",
            fix="write --set pass='>=4'",
        )
    return found[1], float(found[2]) / (100 if found[3] else 1)


def _codes(numbers: Array, passed: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
    return np.where(np.isnan(numbers), -1, np.where(passed, 0, 1)).astype(np.int32)


def _scale(known: Array, has_rule: bool) -> Scale | None:
    for scale in get_args(Scale):
        if _fits(known, scale) and (scale != "rating" or known.max() <= HIGHEST):
            return scale  # type: ignore[no-any-return]
    return "rating" if has_rule else None


def _refuse_outliers(numbers: Array, where: str) -> None:
    """Refuse scores from 0 to 1 of which a few are larger: they are not ratings.

    Raises
    ------
    DataError
    """
    outside = np.flatnonzero(numbers > 1)
    fractions = (numbers > 0) & (numbers < 1) & (2 * numbers % 1 > 0)
    if fractions.any() and len(outside) < MOST_OUTSIDE * len(numbers):
        verb = "grade is" if len(outside) == 1 else "grades are"
        raise DataError(
            f"{len(outside):,} of {len(numbers):,} {verb} outside of the scale from 0 to 1",
            where=f"{where}, first: row {outside[0]}",
            fix="correct them, or name what passes, such as --set pass='>=0.5'",
        )


def _fits(known: Array, scale: Scale) -> bool:
    match scale:
        case "pass":
            return bool(np.isin(known, (0, 1)).all())
        case "unit":
            return bool(((known >= 0) & (known <= 1)).all())
        case "rating":
            return bool(np.isfinite(known).all() and (known >= 0).all())


def _numbers(values: Any, column: str, source: str) -> Array:
    """Return the values as numbers, NaN without a grade."""
    array = as_array(values)
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    cells = array.astype(object).tolist()
    distinct = {cell for cell in cells if isinstance(cell, (str, bool, int, float)) and not is_gap(cell)}
    meaning: dict[Any, float] = {cell: _number(cell) for cell in distinct}
    first = {_is_word(cell): row for row, cell in reversed(list(enumerate(cells))) if _counts(cell, meaning)}
    strange = next((row for row, cell in enumerate(cells) if _is_strange(cell, meaning)), None)
    where = ", ".join(filter(None, (source, f"column {column!r}")))
    if strange is not None:
        raise DataError(
            f"{str(cells[strange])[:40]!r} is not a grade",
            where=f"{where}, first: row {strange}",
            fix="write pass or fail, 0 or 1, a number from 0 to 1 or a rating, and leave errors empty",
        )
    if len(first) > 1:
        raise DataError(
            "the grades mix words and numbers, which are two scales",
            where=f"{where}, first: rows {first[True]} and {first[False]}",
            fix="write all grades in one way",
        )
    return np.array([np.nan if is_gap(cell) else meaning[cell] for cell in cells], dtype=np.float64)


def _number(cell: Any) -> float:
    """Return the number of a grade; NaN of none, infinite of what is not a grade."""
    if not isinstance(cell, str):
        return float(cell)
    word = cell.strip().lower()
    if word in NO_GRADE:
        return float("nan")
    try:
        return WORDS[word] if word in WORDS else float(word)
    except ValueError:
        return float("inf")


def _is_word(cell: Any) -> bool:
    return isinstance(cell, str) and cell.strip().lower() in WORDS


def _counts(cell: Any, meaning: Mapping[Any, float]) -> bool:
    """Return whether a cell is a grade in words or a number."""
    return not isinstance(cell, (bool, list, dict)) and not np.isnan(meaning.get(cell, np.nan))


def _is_strange(cell: Any, meaning: Mapping[Any, float]) -> bool:
    if is_gap(cell):
        return False
    if isinstance(cell, (list, dict)):
        return True
    return bool(np.isinf(meaning.get(cell, np.inf)))
