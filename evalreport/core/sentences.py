"""Sentences as values: their words, where they are stressed, and every number that they state.

A sentence is made from a template of the source and values; values are never read as mark-up.
That each number is kept beside its words lets a test hold every sentence against the data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from string import Formatter
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, cast

from evalreport.core.format import FORMATS, Style, plural
from evalreport.core.result import NONE, Estimate, Result, ends, format_estimate, format_reference

Stress: TypeAlias = Literal["", "strong", "wrong", "code"]
"""How a run of words looks: plain, bold, in the colour of errors, monospaced."""

FIELDS = Formatter()
OPTION = re.compile(r"(--[a-z][a-z-]*(?: [\w:=.+-]*\w)?)")
"""An option with its value."""
MARKS: dict[str, Stress] = {"*": "strong", "_": "wrong", "`": "code"}


@dataclass(frozen=True)
class Run:
    """Words in one style; `foreign` words come from the data and are isolated in their direction."""

    text: str
    stress: Stress = ""
    foreign: bool = False

    @property
    def short(self) -> bool:
        """Whether it may be kept on one line of a narrow screen."""
        return len(self.text) <= 20

    @property
    def fits(self) -> bool:
        """Whether it may be kept on one line of a wide screen."""
        return len(self.text) <= 40


@dataclass(frozen=True)
class Number:
    """A number that a sentence states: its name, its unrounded value and how it is shown."""

    name: str
    value: float
    shown: str


@dataclass(frozen=True)
class Sentence:
    """Words with their stress, and the numbers in them.

    Examples
    --------
    >>> s = say("Finds {tp:count} of {p:count} {what} and _misses {fn:count}_.", tp=3, p=5, what="<b>", fn=2)
    >>> s.text
    'Finds 3 of 5 <b> and misses 2.'
    >>> [n.name for n in s.numbers], [run.stress for run in s.runs if run.stress]
    (['tp', 'p', 'fn'], ['wrong'])
    """

    runs: tuple[Run, ...] = ()
    numbers: tuple[Number, ...] = ()

    @property
    def text(self) -> str:
        """The words alone."""
        return "".join(run.text for run in self.runs)

    def __bool__(self) -> bool:
        return bool(self.runs)

    def __add__(self, other: Sentence) -> Sentence:
        """Return both, with a space between."""
        if not (self and other):
            return self or other
        return Sentence((*self.runs, Run(" "), *other.runs), self.numbers + other.numbers)


NOTHING = Sentence()
Value: TypeAlias = float | str | Sentence | Estimate
Words: TypeAlias = Callable[[str, Any, str], str | None]
"""Words of the data for a field, from its name, value and form; None where the form is built in."""


def say(
    template: str,
    known: Mapping[str, Any] = MappingProxyType({}),
    /,
    *,
    of: float | None = None,
    words: Words = lambda *_: None,
    **values: Value,
) -> Sentence:
    """Return a sentence from a template and values.

    Parameters
    ----------
    template : str
        ``{name}`` places text or a sentence, ``{name:count|…}`` a number in one of `FORMATS`,
        ``{name:is|are}`` the word for one or for several, of an estimate ``{name:percent interval}`` its
        interval, of a name ``{name:short}`` what a headline has room for, ``{name:quoted}`` the same in
        quotation marks; ``{run.n:count}`` is the number n of a record. ``*`` … ``*`` is bold, ``_`` … ``_``
        the colour of errors, backticks monospaced.
    known : mapping, optional
        Values, and records of them, by name, beside those given as keywords.
    of : float, optional
        Rows behind the percentages, which decide their decimals.
    words : callable, optional
        Forms beside these, such as ``{n:units}``; asked first.
    **values : float, str, Sentence or Estimate
        What the fields are. An estimate has the decimals of its interval.

    Examples
    --------
    >>> say("Right for *{share:percent}*.", of=3000, share=0.8906).text
    'Right for 89.1%.'
    >>> say("{n:count} {n:file|files} {n:is|are} gone", n=1).text
    '1 file is gone'
    >>> auc = Estimate(0.9, 50, 0.81, 0.95)
    >>> say("AUC {auc:ratio} ({auc:ratio interval})", auc=auc).text
    'AUC 0.900 (0.810 to 0.950)'
    """
    runs: list[Run] = []
    numbers: list[Number] = []
    stress: Stress = ""
    given: dict[str, Any] = {**known, **values}
    for literal, field, spec, _ in FIELDS.parse(template):
        for piece, mark in _split_marks(literal):
            if piece:
                runs.append(Run(piece, stress))
            if mark:
                stress = "" if stress == MARKS[mark] else MARKS[mark]
        if field is None:
            continue
        value, _ = FIELDS.get_field(field, (), given)
        own = words(field, value, spec or "")
        part = (
            _part(field.rpartition(".")[2], value, spec or "", stress, of)
            if own is None
            else Sentence((Run(own, stress, foreign=True),))
        )
        runs += part.runs
        numbers += part.numbers
    return Sentence(tuple(_merge_runs(runs)), tuple(numbers))


def _part(name: str, value: Value, spec: str, stress: Stress, of: float | None) -> Sentence:
    match value:
        case Sentence():
            return value
        case str():
            return Sentence((Run(NAMES[spec](value), stress, foreign=True),) if value else ())
        case Estimate():
            return _estimate_sentence(name, value, spec, stress)
        case _ if "|" in spec:
            one, many = spec.split("|")
            return Sentence((Run(plural(value, (one, many)), stress),))
        case _:
            number = Number(name, float(value), FORMATS[spec](float(value), of))
            return Sentence((Run(number.shown, stress),), (number,))


def _estimate_sentence(name: str, value: Estimate, spec: str, stress: Stress) -> Sentence:
    style, _, interval = spec.partition(" ")
    if not interval:
        number = Number(name, value.value, format_estimate(value, cast("Style", style)))
        return Sentence((Run(number.shown, stress),), (number,))
    low, high = ends(value, cast("Style", style))
    limits = (Number(f"{name}_low", value.low or 0.0, low), Number(f"{name}_high", value.high or 0.0, high))
    return Sentence((Run(f"{low} to {high}", stress),), limits)


def reference_sentence(name: str, value: float, result: Result, style: Style) -> Sentence:
    """Return a number as text, with the decimals of the estimate next to it.

    Examples
    --------
    >>> reference_sentence("best", 0.9237, Estimate(0.85, 50, 0.81, 0.89), "ratio").text
    '0.924'
    """
    shown = format_reference(value, result, style)
    return Sentence((Run(shown),), (Number(name, value, shown),))


def interval_sentence(shown: str, limits: str, **numbers: float | None) -> Sentence:
    """Return a difference with its interval in brackets, each as it is shown, and the numbers that both are.

    Examples
    --------
    >>> interval_sentence("+0.010", "−0.020 to +0.040", gap=0.01, low=-0.02, high=0.04).text
    '+0.010 (−0.020 to +0.040)'
    >>> interval_sentence("+0.010", "–", gap=0.01, low=None, high=None).text
    '+0.010'
    """
    texts = (shown, *limits.split(" to "))
    known = zip(numbers.items(), texts, strict=False)
    stated = tuple(Number(name, value, text) for (name, value), text in known if value is not None)
    return Sentence((Run(shown if limits == NONE else f"{shown} ({limits})"),), stated)


def _split_marks(literal: str) -> Iterator[tuple[str, str]]:
    """Words up to each mark, with the mark."""
    words = ""
    for char in literal:
        if char in MARKS:
            yield words, char
            words = ""
        else:
            words += char
    yield words, ""


def _merge_runs(runs: list[Run]) -> Iterator[Run]:
    """Neighbours of one style as one run."""
    last: Run | None = None
    for run in runs:
        if last is not None and (last.stress, last.foreign, run.foreign) == (run.stress, False, False):
            last = Run(last.text + run.text, last.stress)
            continue
        if last is not None:
            yield last
        last = run
    if last is not None:
        yield last


def paragraph(*sentences: Sentence) -> Sentence:
    """Return sentences one after the other, without empty ones.

    Examples
    --------
    >>> paragraph(say("One."), NOTHING, say("Two.")).text
    'One. Two.'
    """
    whole = NOTHING
    for sentence in sentences:
        whole = whole + sentence
    return whole


def join_sentences(*parts: Sentence) -> Sentence:
    """Return parts of one sentence, without spaces between.

    Examples
    --------
    >>> join_sentences(say("a"), say("b")).text
    'ab'
    """
    return Sentence(
        tuple(run for part in parts for run in part.runs),
        tuple(number for part in parts for number in part.numbers),
    )


def with_options(text: str) -> Sentence:
    """Return words in which options of the command line stand as code.

    Examples
    --------
    >>> [(run.text, run.stress) for run in with_options("Pass --threshold max-f1, or not.").runs]
    [('Pass ', ''), ('--threshold max-f1', 'code'), (', or not.', '')]
    """
    parts = OPTION.split(text)
    runs = (
        Run(part, "code" if place % 2 else "", foreign=bool(place % 2)) for place, part in enumerate(parts)
    )
    return Sentence(tuple(run for run in runs if run.text))


def truncate_name(name: str, length: int = 28) -> str:
    """Return a name short enough for a headline.

    Examples
    --------
    >>> truncate_name("card_payment_wrong_exchange_rate", 12)
    'card_paymen…'
    """
    return name if len(name) <= length else name[: length - 1] + "…"


def quote_name(name: str) -> str:
    """Return a name in quotation marks.

    Examples
    --------
    >>> quote_name("benign")
    '“benign”'
    """
    return f"“{name}”"


NAMES: Mapping[str, Callable[[str], str]] = {
    "": str,
    "short": truncate_name,
    "quoted": lambda name: quote_name(truncate_name(name)),
}
"""What a name may be shown as: ``{run:short}``."""


def join_as_list(parts: Sequence[Sentence], last: str = "and") -> Sentence:
    """Return parts as a list in words.

    Examples
    --------
    >>> join_as_list([say("a"), say("b"), say("c")]).text
    'a, b and c'
    """
    return _join_with(parts, [", "] * (len(parts) - 2) + [f" {last} "])


def join_with_dots(parts: Sequence[Sentence]) -> Sentence:
    """Return parts that hold commas of their own, with dots between them.

    Examples
    --------
    >>> join_with_dots([say("a, b and c"), say("not used: d")]).text
    'a, b and c · not used: d'
    """
    return _join_with(parts, [" · "] * len(parts))


def _join_with(parts: Sequence[Sentence], between: Sequence[str]) -> Sentence:
    marked = ((Sentence((Run(mark),)), part) for mark, part in zip(between, parts[1:], strict=False))
    return join_sentences(*parts[:1], *chain.from_iterable(marked))
