"""The label space is the task.

`Binary`, `Multiclass` and `Multilabel` are the tasks with true labels; code that depends on the task matches
over them with `assert_never`, so that another one is a type error until every layer handles it. `Graded` is
the task of items with a grade: a `Multiclass` space in which every item should pass. The outcome of reading
labels from generated texts (codes, reasons, formats) is here as data, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import DataError, UsageError, nearest
from evalreport.core.extensions import extension
from evalreport.core.format import pluralize
from evalreport.core.json_codec import Whole
from evalreport.core.text import truncate_with_digest
from evalreport.data.arrays import plain, text_array

Label: TypeAlias = str | int | bool
Task: TypeAlias = Literal["binary", "multiclass", "multilabel", "graded"]
Scale: TypeAlias = Literal["pass", "unit", "rating"]
"""Scale of grades: pass or fail, a number from 0 to 1, or a whole number such as 1 to 5."""

UNPARSED = -1
"""Code of an answer from which no label could be read."""
CLOSE = 1 << 12
"""Whole numbers that differ by less are looked up in a table of all between them."""


class _Labelled:
    """What the three label spaces share: an ordered tuple of distinct labels and their codes."""

    labels: tuple[Label, ...]

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Labels as text, whole, in order: as they are written in files."""
        return tuple(str(label) for label in self.labels)

    @cached_property
    def display_labels(self) -> tuple[Label, ...]:
        """Labels as they are shown, in order, long ones shortened; see `evalreport.core.text.marked`."""
        return tuple(
            truncate_with_digest(label) if isinstance(label, str) else label for label in self.labels
        )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Labels as they are shown, as text, in order."""
        return tuple(str(label) for label in self.display_labels)

    @cached_property
    def code_of(self) -> Mapping[str, int]:
        """Code (position) of each label, by its whole text."""
        return {text: code for code, text in enumerate(self.texts)}

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class Binary(_Labelled):
    """Two labels, one of them positive. Codes: negative 0, positive 1.

    Parameters
    ----------
    negative, positive : str, int or bool
        Distinct, also as text: 1 and "1" are the same label.

    Raises
    ------
    DataError
        Both are the same.

    Examples
    --------
    >>> space = Binary(negative="ham", positive="spam")
    >>> space.labels, space.task
    (('ham', 'spam'), 'binary')
    """

    negative: Label
    positive: Label

    def __post_init__(self) -> None:
        for name, label in zip(("negative", "positive"), plain(list(self.labels)), strict=True):
            object.__setattr__(self, name, label)
        _check_distinct(self.labels)

    @property
    def labels(self) -> tuple[Label, ...]:  # type: ignore[override]
        """Negative label, then positive label."""
        return (self.negative, self.positive)

    @property
    def task(self) -> Task:
        """``binary``."""
        return "binary"


@dataclass(frozen=True)
class _Listed(_Labelled):
    """A label space that lists its labels, in the order of codes and score columns."""

    labels: tuple[Label, ...]

    def __init__(self, labels: Iterable[Label]) -> None:
        if not isinstance(labels, Iterable):
            raise DataError(
                f"labels are {type(labels).__name__}, not a sequence of labels", fix="pass a list"
            )
        object.__setattr__(self, "labels", tuple(plain(list(labels))))
        _check_distinct(self.labels)


@dataclass(frozen=True, init=False)
class Multiclass(_Listed):
    """Each example has exactly one of two or more labels.

    Parameters
    ----------
    labels : sequence of str or int
        Distinct, in the order of codes and score columns.
    ordered : bool
        Whether the order means something (then quadratic kappa is defined).

    Raises
    ------
    DataError
        No label, or one that occurs twice.

    Examples
    --------
    >>> Multiclass(["low", "mid", "high"], ordered=True).code_of["high"]
    2
    """

    ordered: bool = False

    def __init__(self, labels: Iterable[Label], *, ordered: bool = False) -> None:
        super().__init__(labels)
        object.__setattr__(self, "ordered", ordered)

    @property
    def task(self) -> Task:
        """``multiclass``."""
        return "multiclass"


@dataclass(frozen=True, init=False)
class Graded(Multiclass):
    """Each row is one attempt at an item, with a grade in place of a label: it passes or fails.

    The true label of every row is ``pass``, so that accuracy is the pass rate, and a row without a grade
    counts as a response that could not be parsed.

    Parameters
    ----------
    scale : {"pass", "unit", "rating"}
        Pass or fail; numbers from 0 to 1; whole numbers such as 1 to 5.

    Examples
    --------
    >>> Graded("unit").labels, Graded("unit").task
    (('pass', 'fail'), 'graded')
    """

    scale: Scale = "pass"

    def __init__(self, scale: Scale = "pass") -> None:
        super().__init__(("pass", "fail"))
        if scale not in get_args(Scale):
            raise UsageError(
                f"{scale!r} is not a scale of grades",
                where="Graded",
                fix=nearest(str(scale), get_args(Scale)),
            )
        object.__setattr__(self, "scale", scale)

    @property
    def task(self) -> Task:
        """``graded``."""
        return "graded"


@dataclass(frozen=True, init=False)
class Multilabel(_Listed):
    """Each example has any number of the labels, none included.

    Parameters
    ----------
    labels : sequence of str or int
        Distinct, in the order of codes and score columns.

    Raises
    ------
    DataError
        No label, or one that occurs twice.

    Examples
    --------
    >>> len(Multilabel(["joy", "anger"]))
    2
    """

    @property
    def task(self) -> Task:
        """``multilabel``."""
        return "multilabel"


LabelSpace: TypeAlias = Binary | Multiclass | Multilabel


def rename_labels(space: LabelSpace, names: Mapping[str, str]) -> LabelSpace:
    """Return a label space in which labels are called as people call them; the codes stay.

    Parameters
    ----------
    names : mapping from a label's text to its name
        Labels that are not in it keep theirs.

    Raises
    ------
    DataError
        No such label, or two labels of one name.

    Examples
    --------
    >>> rename_labels(Binary(negative=0, positive=1), {"1": "failure", "0": "fine"}).names
    ('fine', 'failure')
    """
    for label in names:
        if label not in space.code_of:
            raise DataError(
                f"there is no label {label!r} to rename",
                where=f"--set label_names={label}",
                fix=nearest(label, space.names),
            )
    labels = [names.get(str(label), label) for label in space.labels]
    match space:
        case Graded():
            return space
        case Binary():
            return Binary(*labels)
        case Multiclass():
            return Multiclass(labels, ordered=space.ordered)
        case Multilabel():
            return Multilabel(labels)


def _check_distinct(labels: Sequence[Label]) -> None:
    if not labels:
        raise DataError("the label set is empty", fix="pass at least one label")
    seen: dict[str, Label] = {}
    for label in labels:
        if str(label) in seen:
            raise DataError(
                f"label {str(label)!r} appears twice in the label set",
                fix="labels are distinct, also as text: 1 and '1' are the same label",
            )
        seen[str(label)] = label
    text_array(list(seen), "labels")


def column_order(columns: Sequence[str], labels: LabelSpace, what: str) -> list[int] | None:
    """Return the position of each label's column, or None where the columns have no names of their own.

    Columns are named after the labels, perhaps with one beginning (``proba_spam``); columns that are
    merely numbered stand in the order of the labels.

    Raises
    ------
    DataError
        Columns named otherwise: which is which is not known.

    Examples
    --------
    >>> column_order(["proba_spam", "proba_ham"], Binary("ham", "spam"), "scores")
    [1, 0]
    """
    names = list(columns)
    heads = {name.partition("_")[0] for name in names}
    bare = [name.partition("_")[2] for name in names] if len(heads) == 1 else names
    for found in (names, bare):
        if sorted(found) == sorted(labels.texts):
            return [found.index(text) for text in labels.texts]
    if names == [str(place) for place in range(len(names))]:
        return None
    raise DataError(
        f"the columns of {what} are not named after the labels",
        where=f"{what}: {', '.join(names[:5])}; labels: {', '.join(labels.names[:5])}",
        fix="name each column after its label, or pass the bare array in the order of the labels",
    )


def encode(values: npt.NDArray[Any], labels: LabelSpace, what: str) -> npt.NDArray[np.int32]:
    """Return codes of labels, shape (n,), dtype int32.

    Raises
    ------
    DataError
        A value outside the label set, with count, first row and the nearest label.

    Examples
    --------
    >>> encode(np.array(["b", "a"]), Multiclass(["a", "b"]), "y_true")
    array([1, 0], dtype=int32)
    """
    distinct, inverse = _distinct(values)
    names = [str(value) for value in distinct.tolist()]
    codes = np.array([labels.code_of.get(name, UNPARSED) for name in names], dtype=np.int32)[inverse]
    if codes.size and codes.min() == UNPARSED:
        rows = np.flatnonzero(codes == UNPARSED)
        name = names[int(inverse[rows[0]])]
        raise DataError(
            f"{what} has {pluralize(rows.size, 'label')} outside the label set",
            where=f"{what}, first: row {rows[0]}, {name!r}",
            fix=nearest(name, labels.names),
        )
    return codes


def _distinct(values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
    """Values in order, and the place of each row's among them.

    Whole numbers close together are not sorted: all between the least and the greatest are given.
    """
    if values.dtype.kind in "bi" and values.size:
        least, most = int(values.min()), int(values.max())
        if most - least < CLOSE:
            place = values.astype(np.intp, copy=False)
            return np.arange(least, most + 1).astype(values.dtype), place - least if least else place
    distinct, inverse = np.unique(values, return_inverse=True)
    return distinct, inverse


def distinct_labels(*columns: npt.NDArray[Any]) -> tuple[Label, ...]:
    """Return the sorted union of the labels that occur, as Python values.

    Raises
    ------
    DataError
        When one column holds text and another numbers.

    Examples
    --------
    >>> distinct_labels(np.array([2, 0]), np.array([1]))
    (0, 1, 2)
    """
    found: set[Label] = set()
    for column in columns:
        found.update(np.unique(column).tolist())
    if len({isinstance(label, str) for label in found}) > 1:
        raise DataError("true labels and predictions mix text and numbers", fix="use one type for all labels")
    return tuple(sorted(found))


def indicators(space: Multilabel, values: Any, what: str) -> npt.NDArray[np.bool_]:
    """Return the indicator matrix of a multilabel column, shape (n, labels), dtype bool.

    Parameters
    ----------
    values : 0/1 matrix of shape (n, labels), or one list of label names per row

    Raises
    ------
    DataError
        Another shape, values other than 0 and 1, a name outside the label set.

    Examples
    --------
    >>> indicators(Multilabel(["joy", "anger"]), [["anger"], []], "y_true")
    array([[False,  True],
           [False, False]])
    """
    if not isinstance(values, np.ndarray) or values.dtype == object:
        rows = list(values)
        if rows and not all(_is_row_of_numbers(row) for row in rows):
            return from_lists(space, rows, what)
        values = np.asarray(rows)
    if values.ndim != 2 or values.shape[1] != len(space):
        raise DataError(
            f"{what} has shape {values.shape}; expected (rows, {len(space)}): one indicator per label",
            where=what,
            fix="pass a 0/1 matrix in the order of the labels, or one list of label names per row",
        )
    bad = np.argwhere((values != 0) & (values != 1))
    if bad.size:
        row, column = bad[0]
        raise DataError(
            f"{what} has {len(bad)} values other than 0 and 1",
            where=f"{what}, first: row {row}, label {space.names[column]!r}, {values[row, column]}",
            fix="indicators are 0 or 1; scores go into a score column",
        )
    matrix: npt.NDArray[np.bool_] = values.astype(bool)
    return matrix


def _is_row_of_numbers(row: Any) -> bool:
    numbers = (int, float, np.number, np.bool_)
    is_sequence = isinstance(row, (list, tuple, np.ndarray)) and len(row) > 0
    return is_sequence and all(isinstance(item, numbers) for item in row)


def from_lists(space: Multilabel, rows: Sequence[Any], what: str) -> npt.NDArray[np.bool_]:
    """Return the indicator matrix of one list of label names per row, shape (n, labels), dtype bool.

    Raises
    ------
    DataError
        A row that is not a list, a name outside the label set.

    Examples
    --------
    >>> from_lists(Multilabel([1, 2]), [[2], []], "y_true")
    array([[False,  True],
           [False, False]])
    """
    matrix = np.zeros((len(rows), len(space)), dtype=bool)
    for row, names in enumerate(rows):
        if names is None or isinstance(names, (str, float)):
            raise DataError(
                f"{what} holds {names!r} where a list of labels is expected",
                where=f"{what}, row {row}",
                fix="an example without labels has an empty list",
            )
    flat = plain([name for names in rows for name in names])
    if not flat:
        return matrix
    of_row = np.repeat(np.arange(len(rows)), [len(names) for names in rows])
    codes = np.array([space.code_of.get(str(name), UNPARSED) for name in flat])
    strange = np.flatnonzero(codes == UNPARSED)
    if strange.size:
        name = str(flat[strange[0]])
        raise DataError(
            f"{what} has {pluralize(strange.size, 'label')} outside the label set",
            where=f"{what}, first: row {of_row[strange[0]]}, {name!r}",
            fix=nearest(name, space.names),
        )
    matrix[of_row, codes] = True
    return matrix


REASONS = (
    "",
    "refusal",
    "empty",
    "unknown_label",
    "ambiguous",
    "no_label",
    "parser_error",
)
"""Why no label was read; the first, empty, means a parsed text."""

FORMATS = (
    "",
    "bare",
    "spaced",
    "quoted",
    "markdown",
    "code_fence",
    "json",
    "xml",
    "prefix",
    "sentence",
    "final_answer",
    "negated",
    "fuzzy",
    "pattern",
    "function",
)
"""The format of the label within the text; the first, empty, means an unparsed text.

``bare``: only the label. ``spaced``: only the label, in plain words. ``quoted``, ``markdown``,
``code_fence``, ``json``, ``xml``: so set off. ``prefix``: after a name and a sign ("Intent: x").
``sentence``: within prose.
``final_answer``: after reasoning. ``negated``: beside a label that is ruled out. ``fuzzy``: by similarity.
``pattern``, ``function``: by the user's expression or function.
"""

EXAMPLES = 3
"""Texts that are kept of each reason: a reader sees the pattern in three."""


@dataclass(frozen=True, slots=True)
class Example:
    """One text of a kind: its row (counted from 0), its beginning, and what went wrong if something did.

    Examples
    --------
    >>> Example(17, "I cannot help with that.").row
    17
    """

    row: int
    text: str
    note: str = ""


@dataclass(frozen=True)
class ParsingReport:
    """How the labels were read, and what came of it.

    Parameters
    ----------
    parser : str
        The declared parser: ``auto``, ``regex:…``, ``module:function``.
    digest : str
        SHA-256 of the parser's source.
    fuzzy : bool
        Whether labels were guessed by similarity.
    n, n_unparsed, n_ambiguous : int
        Texts; those that gave no label; those of them that named several.
    reasons, formats : mapping of str to int
        Counts of what occurs, in the order of `REASONS` and `FORMATS`.
    reason_examples, format_examples : mapping of str to tuple of Example
        Up to three of each, the first ones.

    Examples
    --------
    >>> report = ParsingReport("exact", "0" * 64, False, 4, 1, 0, {"empty": 1}, {"bare": 3}, {}, {})
    >>> (report + report).n
    8
    """

    parser: str
    digest: str
    fuzzy: bool
    n: Whole
    n_unparsed: Whole
    n_ambiguous: Whole
    reasons: Mapping[str, Whole]
    formats: Mapping[str, Whole]
    reason_examples: Mapping[str, tuple[Example, ...]]
    format_examples: Mapping[str, tuple[Example, ...]]

    def __add__(self, other: ParsingReport) -> ParsingReport:
        """Return the report on both, the rows of `other` following these."""
        return ParsingReport(
            self.parser,
            self.digest,
            self.fuzzy,
            self.n + other.n,
            self.n_unparsed + other.n_unparsed,
            self.n_ambiguous + other.n_ambiguous,
            _add(self.reasons, other.reasons, REASONS),
            _add(self.formats, other.formats, FORMATS),
            _join(self.reason_examples, other.reason_examples, REASONS, self.n),
            _join(self.format_examples, other.format_examples, FORMATS, self.n),
        )


def _add(one: Mapping[str, int], two: Mapping[str, int], order: Sequence[str]) -> dict[str, int]:
    return {key: one.get(key, 0) + two.get(key, 0) for key in order if key in one or key in two}


def _join(
    one: Mapping[str, tuple[Example, ...]],
    two: Mapping[str, tuple[Example, ...]],
    order: Sequence[str],
    offset: int,
) -> dict[str, tuple[Example, ...]]:
    moved = {
        key: tuple(Example(item.row + offset, item.text, item.note) for item in items)
        for key, items in two.items()
    }
    keys = [key for key in order if key in one or key in moved]
    return {key: (one.get(key, ()) + moved.get(key, ()))[:EXAMPLES] for key in keys}


@dataclass(frozen=True)
class Parsed:
    """Labels read from texts, one per row, and the report on the reading.

    Parameters
    ----------
    codes : ndarray, shape (n,), int32
        Position of the label in the label set, -1 where none was read. Read-only.
    reasons : ndarray, shape (n,), int8
        Position in `REASONS`; 0 where a label was read. Read-only.
    formats : ndarray, shape (n,), int8
        Position in `FORMATS`; 0 where none was read. Read-only.
    report : ParsingReport
    texts : sequence of str
        What was read, one per row; kept in memory only, for digests of rows.
    """

    codes: npt.NDArray[np.int32]
    reasons: npt.NDArray[np.int8]
    formats: npt.NDArray[np.int8]
    report: ParsingReport
    texts: Sequence[str] = field(default=(), repr=False)

    def take(self, rows: npt.NDArray[np.intp]) -> Parsed:
        """Return the outcomes of some rows, with the report on all of them."""
        return replace(
            self,
            codes=self.codes[rows],
            reasons=self.reasons[rows],
            formats=self.formats[rows],
            texts=[self.texts[int(row)] for row in rows],
        )


def parse_texts(
    texts: Iterable[object], labels: Sequence[str], how: str = "auto", *, fuzzy: bool = False
) -> Parsed:
    """Return the labels that the parser of the extension point ``responses`` reads from texts.

    The extension is a function of texts, labels, the declared parser (``auto``, ``regex:PATTERN``, …) and
    whether to guess by similarity, and returns `Parsed`.

    Raises
    ------
    UsageError
        The feature is not installed, or there is no such parser.

    Examples
    --------
    >>> parse_texts(["Answer: b.", "no idea"], ["a", "b"]).codes
    array([ 1, -1], dtype=int32)
    """
    outcome: Parsed = extension("responses", "reading labels from text")(texts, labels, how, fuzzy)
    return outcome
