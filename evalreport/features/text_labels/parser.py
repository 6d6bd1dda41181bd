"""The declared parser, and reading a column of texts with it.

The parser `module:function` is the very function that reads labels where the model serves.

The parser `regex:PATTERN` is safe against any expression on any text: it is run by RE2 (through Arrow),
which has no backtracking; its time grows with the length of the text times the size of the expression, and
that product is bounded here. The price is RE2's syntax: no look-around, no back-references.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport import __version__
from evalreport.core.errors import DataError, UsageError, nearest
from evalreport.core.extensions import is_function, load_function
from evalreport.data.arrays import is_gap
from evalreport.data.labels import EXAMPLES, FORMATS, REASONS, UNPARSED, Example, Parsed, ParsingReport
from evalreport.features.text_labels import auto, parsing_rules
from evalreport.features.text_labels.parsing_rules import Outcome, failure, label_outcome
from evalreport.features.text_labels.shape import LabelIndex, normalise

LONGEST_EXAMPLE = 140
"""Characters of a text that the report keeps."""
LONGEST_TEXT = 1_048_576
"""Characters of one text; a longer one is an error."""

BUILT_IN = ("auto", "exact", "json")
_SOURCES = ("auto.py", "parser.py", "parsing_rules.py", "shape.py")

Reader: TypeAlias = Callable[[Sequence[str]], list[Outcome]]


@dataclass(frozen=True)
class Parser:
    """How labels are read from texts: declared, and named in the report by its source's digest.

    Made by `make_parser`.

    Parameters
    ----------
    spec : str
        ``auto``, ``exact``, ``json``, ``regex:PATTERN`` or ``module:function``.
    digest : str
        SHA-256 of the source: of the function, or of this package with its version (and the pattern).
    fuzzy : bool
        Whether a text that gives no label is matched to the label most like it.
    labels : tuple of str
        The label set, in the order of codes.
    """

    spec: str
    digest: str
    fuzzy: bool
    labels: tuple[str, ...]
    read: Reader = field(repr=False, compare=False)


def make_parser(spec: str, labels: Sequence[str], *, fuzzy: bool = False) -> Parser:
    """Return the parser that `spec` declares, for a label set.

    Parameters
    ----------
    spec : str
        ``auto``; ``exact`` (the text is the label, with space around it); ``json`` (a JSON document with the
        label in it); ``regex:PATTERN`` (RE2 syntax; the group ``label``, or the first, is the label);
        ``module:function`` (takes the text, returns the label or None).
    labels : sequence of str
        Distinct; except for ``exact`` and ``module:function`` also without case, spaces and underscores.
    fuzzy : bool
        With ``auto``: guess by similarity where nothing else is found. Never the default.

    Raises
    ------
    UsageError
        An unknown parser, a bad expression, a function that cannot be imported.
    DataError
        Labels that texts cannot tell apart; the message names both.

    Examples
    --------
    >>> parser = make_parser("auto", ["card_arrival", "card_linking"])
    >>> parse_all(["Intent: card_linking.", "Sorry, I can't help with that."], parser).codes
    array([ 1, -1], dtype=int32)
    """
    if fuzzy and spec.partition(":")[0] != "auto":
        raise UsageError(
            "fuzzy works only with the parser 'auto'", where=f"parser {spec!r}", fix="drop fuzzy"
        )
    names = tuple(labels)
    codes = {name: code for code, name in enumerate(names)}
    if is_function(spec):
        user = load_function(spec)
        digest = _function_digest(user, spec)
        return Parser(
            spec, digest, False, names, lambda texts: [call_function(user, text, codes) for text in texts]
        )
    kind, _, expression = spec.partition(":")
    if spec not in BUILT_IN and not (kind == "regex" and expression):
        raise UsageError(
            f"there is no parser {spec!r}",
            where="parser",
            fix=f"{nearest(spec, BUILT_IN)}; or regex:PATTERN, or module:function",
        )
    index = LabelIndex(() if spec == "exact" else names)
    if kind == "regex":
        compiled = compile_pattern(expression)
        reader: Reader = partial(search, compiled, index=index)
    else:
        read_one: Callable[[str], Outcome] = {
            "auto": partial(_read_auto, index=index, fuzzy=fuzzy),
            "exact": partial(_read_exact, codes=codes, index=index),
            "json": partial(_read_json, index=index),
        }[spec]
        reader = lambda texts: list(map(read_one, texts))  # noqa: E731
    return Parser(spec, _own_digest(expression), fuzzy, names, reader)


def parse_texts(texts: Iterable[object], labels: Sequence[str], how: str, fuzzy: bool) -> Parsed:
    """Return the labels read from texts by a declared parser: see `make_parser` and `parse_all`."""
    return parse_all(texts, make_parser(how, labels, fuzzy=fuzzy))


def parse_all(texts: Iterable[object], parser: Parser) -> Parsed:
    """Return the labels read from texts, with the report on the reading.

    Equal texts are read once. None and NaN are empty texts.

    Parameters
    ----------
    texts : iterable of str or None
        One per row.
    parser : Parser

    Returns
    -------
    Parsed
        Codes of shape (n,).

    Raises
    ------
    DataError
        A value that is not text, or a text of over `LONGEST_TEXT` characters, with its row.

    Examples
    --------
    >>> done = parse_all(["yes", "Yes.", "maybe", None], make_parser("auto", ["yes", "no"]))
    >>> done.codes, done.report.reasons
    (array([ 0,  0, -1, -1], dtype=int32), {'empty': 1, 'unknown_label': 1})
    """
    rows = _texts(texts)
    distinct = list(dict.fromkeys(rows))
    outcome_of = dict(zip(distinct, parser.read(distinct), strict=True))
    outcomes = [outcome_of[text] for text in rows]
    codes = np.fromiter((outcome.code for outcome in outcomes), np.int32, len(rows))
    reasons = np.fromiter((REASONS.index(outcome.reason) for outcome in outcomes), np.int8, len(rows))
    formats = np.fromiter((FORMATS.index(outcome.format) for outcome in outcomes), np.int8, len(rows))
    for array in (codes, reasons, formats):
        array.setflags(write=False)
    reason_counts, reason_examples = _counts(reasons, REASONS, rows, outcomes)
    format_counts, format_examples = _counts(formats, FORMATS, rows, outcomes)
    report = ParsingReport(
        parser=parser.spec,
        digest=parser.digest,
        fuzzy=parser.fuzzy,
        n=len(rows),
        n_unparsed=int(np.count_nonzero(codes == UNPARSED)),
        n_ambiguous=reason_counts.get("ambiguous", 0),
        reasons=reason_counts,
        formats=format_counts,
        reason_examples=reason_examples,
        format_examples=format_examples,
    )
    return Parsed(codes, reasons, formats, report, rows)


def _counts(
    kinds: npt.NDArray[np.int8], names: Sequence[str], texts: Sequence[str], outcomes: Sequence[Outcome]
) -> tuple[dict[str, int], dict[str, tuple[Example, ...]]]:
    """Return how many texts are of each kind, and the first examples of each."""
    counts: dict[str, int] = {}
    examples: dict[str, tuple[Example, ...]] = {}
    for code, name in enumerate(names[1:], start=1):
        hits = np.flatnonzero(kinds == code)
        if hits.size:
            counts[name] = int(hits.size)
            first = hits[:EXAMPLES].tolist()
            examples[name] = tuple(
                Example(row, _truncate_example(texts[row]), outcomes[row].note) for row in first
            )
    return counts, examples


def _truncate_example(text: str) -> str:
    return _utf8(text if len(text) <= LONGEST_EXAMPLE else text[: LONGEST_EXAMPLE - 1] + "…")


def _texts(values: Iterable[object]) -> list[str]:
    """Return the values as text, missing ones as empty; raise on what is not text."""
    rows = ["" if is_gap(value) else value for value in values]
    for row, value in enumerate(rows):
        if not isinstance(value, str):
            raise DataError(
                f"the text column holds a {type(value).__name__}, not text",
                where=f"first: row {row}, {str(value)[:60]}",
                fix="name the column of generated texts with --response; a column of labels is named "
                "with --pred",
            )
        if len(value) > LONGEST_TEXT:
            raise DataError(
                f"a text has {len(value)} characters, over {LONGEST_TEXT}",
                where=f"row {row}",
                fix="cut the generations before they are logged",
            )
    return rows  # type: ignore[return-value]


def _read_auto(text: str, index: LabelIndex, fuzzy: bool) -> Outcome:
    outcome = auto.read_text(text, index)
    return auto.guess(text, index, outcome) if fuzzy else outcome


def _read_exact(text: str, codes: Mapping[str, int], index: LabelIndex) -> Outcome:
    code = codes.get(text, codes.get(text.strip(), -1))
    return label_outcome(code, "bare") if code >= 0 else failure(_failure_reason(text, index))


def _read_json(text: str, index: LabelIndex) -> Outcome:
    def read_value(value: str) -> Outcome:
        code = index.code_of(value)
        return label_outcome(code, "json") if code >= 0 else failure(_failure_reason(value, index))

    document = auto.document_in(text)
    if document is auto.NOT_JSON:
        return failure(_failure_reason(text, index))
    return auto.document_answer(document, read_value, index.code_of)


def _failure_reason(text: str, index: LabelIndex) -> str:
    """Return why a parser that does not read prose finds no label in a text."""
    plain = normalise(text)
    shape = index.shape(plain)
    reading = parsing_rules.read_letters(shape)
    return "no_label" if len(reading.codes) == 1 else parsing_rules.failure_reason(plain, shape, reading)


@cache
def _own_digest(extra: str) -> str:
    """Return the SHA-256 of the version, of the source that reads labels, and of what the user adds to it."""
    sources = (Path(__file__).with_name(name).read_bytes() for name in _SOURCES)
    parts = (__version__.encode(), *sources, extra.encode("utf-8", "replace"))
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


_LONGEST_NOTE = 200
"""Characters of a note that are kept: a line of the report."""


def _function_digest(function: Callable[[str], Any], spec: str) -> str:
    """Return the SHA-256 of a function's source; of its module's file if the function has none.

    Raises
    ------
    UsageError
        A function without source, such as a built-in one.
    """
    inner: Any = inspect.unwrap(function.func if isinstance(function, partial) else function)
    if not (inspect.isroutine(inner) or inspect.isclass(inner)):
        inner = type(inner)
    try:
        source = inspect.getsource(inner)
    except (OSError, TypeError):
        module = sys.modules.get(getattr(inner, "__module__", None) or "")
        path = Path(getattr(module, "__file__", None) or "")
        source = path.read_text(encoding="utf-8") if path.suffix == ".py" and os.path.isfile(path) else ""
    if not source:
        raise UsageError(
            f"the source of parser {spec!r} cannot be read",
            where="parser",
            fix="wrap it in a function of a Python file, whose digest is logged",
        )
    return hashlib.sha256(source.encode("utf-8", "replace")).hexdigest()


def call_function(function: Callable[[str], Any], text: str, codes: Mapping[str, int]) -> Outcome:
    """Return what the function gives for one text; what it raises becomes the reason ``parser_error``.

    None and an empty text mean that the function found no label.

    Examples
    --------
    >>> codes = {"yes": 0, "no": 1}
    >>> call_function(str.strip, " yes", codes).code, call_function(str.upper, "yes", codes).note
    (0, "returned 'YES', which is not a label")
    """
    try:
        answer = function(text)
        name = "" if answer is None else str(getattr(answer, "value", answer))
    except Exception as error:
        return failure("parser_error", f"{type(error).__name__}: {error}"[:_LONGEST_NOTE])
    if not name:
        return failure("no_label" if text.strip() else "empty")
    code = codes.get(name, -1)
    if code < 0:
        return failure("parser_error", f"returned {name[:80]!r}, which is not a label")
    return label_outcome(code, "function")


_WORK = 20_000_000
"""Steps (characters times states) for one text: about a tenth of a second."""
_LARGEST = 2_000
"""States of an expression, its counted repeats written out."""
_PROPERTY = 20
"""States of a Unicode class, about."""
_GROUP = "label"
_LEXEME = re.compile(
    r"\\Q.*?(?:\\E|\Z)|\\p\{[^}]*\}|\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]"
    r"|\(\?P?<\w+>|\(\?[a-zA-Z-]*[:)]|[()]|\{\d*,?\d*\}|.",
    re.DOTALL,
)


class Pattern(NamedTuple):
    """An expression ready for RE2: its text with the group ``label``, and its size in states."""

    text: str
    size: int


def compile_pattern(pattern: str) -> Pattern:
    r"""Return the user's expression, checked.

    What counts is the group named ``label``; without one the first group; without any the whole match.

    Raises
    ------
    UsageError
        An expression that is none, or that RE2 does not know, or too large.

    Examples
    --------
    >>> compile_pattern(r"intent=(\w+)")
    Pattern(text='intent=(?P<label>\\w+)', size=12)
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    size = _size(pattern)
    if size > _LARGEST:
        raise _regex_error(f"it has {size} states, over {_LARGEST}")
    text = _with_group(pattern)
    if text.count(f"<{_GROUP}>") > 1:
        raise _regex_error(f"it has two groups named {_GROUP}")
    try:
        pc.match_substring_regex(pa.array([""]), pattern)
        pc.struct_field(pc.extract_regex(pa.array([""]), text), _GROUP)
    except (pa.ArrowInvalid, UnicodeEncodeError) as error:
        raise _regex_error(str(error).removeprefix("Invalid regular expression: ")) from None
    return Pattern(text, size)


def search(pattern: Pattern, texts: Sequence[str], index: LabelIndex) -> list[Outcome]:
    """Return the outcome of each text: the label that the first match captures.

    A text longer than the bound on the work allows is searched at its beginning and its end.

    Parameters
    ----------
    pattern : Pattern
    texts : sequence of str
    index : LabelIndex

    Examples
    --------
    >>> search(compile_pattern("=(.*)"), ["x=Yes", ""], LabelIndex(("yes", "no")))
    [Outcome(code=0, ...'pattern', note=''), Outcome(code=-1, reason='empty', format='', note='')]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    window = max(_WORK // pattern.size, 2)
    cut = (
        text if len(text) <= window else f"{text[: window // 2]}\n{text[-window // 2 :]}" for text in texts
    )
    array = pa.array(map(_utf8, cut), pa.large_string())
    matches = pc.struct_field(pc.extract_regex(array, pattern.text), _GROUP).to_pylist()
    outcomes = []
    for match, text in zip(matches, texts, strict=True):
        code = index.code_of(match) if match else -1
        if code >= 0:
            outcomes.append(label_outcome(code, "pattern"))
        else:
            outcomes.append(failure("unknown_label" if match else _failure_reason(text, index)))
    return outcomes


def _with_group(pattern: str) -> str:
    """Return an expression in which the group that counts has its name, the plain others none."""
    parts = list(_lexemes(pattern))
    first = next((at for at, part in enumerate(parts) if part == "(" or re.match(r"\(\?P?<", part)), None)
    parts = ["(?:" if part == "(" else part for part in parts]
    if f"(?P<{_GROUP}>" not in pattern and f"(?<{_GROUP}>" not in pattern:
        if first is None:
            return f"(?P<{_GROUP}>{pattern})"
        parts[first] = f"(?P<{_GROUP}>"
    return "".join(parts)


def _lexemes(pattern: str) -> Iterator[str]:
    return (match[0] for match in _LEXEME.finditer(pattern))


def _size(pattern: str) -> int:
    """Return about how many states an expression has, its counted repeats written out."""
    outer: list[int] = []
    total, last = 1, 0
    for part in _lexemes(pattern):
        if part[0] == "(" and part[-1] != ")":
            outer.append(total)
            total = 0
        elif part == ")":
            last = total + 2
            total = last + (outer.pop() if outer else 0)
        elif part[0] == "{" and len(part) > 1:
            times = max([int(number) for number in re.findall(r"\d+", part)], default=1)
            total += last * max(times - 1, 0)
        else:
            last = len(part) if part.startswith(r"\Q") else _PROPERTY if r"\p" in part.lower() else 1
            total += last
    return total


def _utf8(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _regex_error(why: str) -> UsageError:
    return UsageError(
        f"regex: cannot be used: {why}",
        where="parser",
        fix="write it in RE2's syntax, without look-around and back-references",
    )
