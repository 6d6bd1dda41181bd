"""How findings name labels and counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evalreport.evaluation.model import Evaluation
from evalreport.format import count, plural
from evalreport.values import Estimate

SHOWN = 6
"""Names that a claim spells out."""
NAME = 40


def quoted(name: object) -> str:
    """Return a label in quotation marks, cut where it is long.

    Examples
    --------
    >>> quoted("card_arrival")
    '“card_arrival”'
    """
    text = str(name)
    return f"“{text if len(text) <= NAME else text[: NAME - 1] + '…'}”"


def listed(names: Sequence[object], shown: int = SHOWN) -> str:
    """Return names as a list in words, the rest counted.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a", "b", "c", "d"], 2)
    ('“a”, “b” and “c”', '“a”, “b” and 2 more')
    """
    parts = [quoted(name) for name in names[:shown]]
    if len(names) > shown:
        parts.append(f"{len(names) - shown:,} more")
    return in_words(parts)


def in_words(parts: Iterable[str]) -> str:
    """Join parts with commas and a last "and".

    Examples
    --------
    >>> in_words(["a"]), in_words(["a", "b"]), in_words(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    *head, last = parts
    return f"{', '.join(head)} and {last}" if head else last


def some(n: float, one: str, many: str) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> some(1, "label", "labels"), some(1200, "label", "labels")
    ('1 label', '1,200 labels')
    """
    return f"{count(n)} {plural(n, (one, many))}"


def rows(ev: Evaluation, n: float) -> str:
    """Return a count of the user's unit."""
    return some(n, *ev.provenance.unit)


def value(ev: Evaluation, name: str) -> float | None:
    """Return the value of a metric, None where it is undefined or was not computed."""
    result = ev.metrics.get(name)
    return result.value if isinstance(result, Estimate) else None


def estimate(ev: Evaluation, name: str) -> Estimate | None:
    """Return a metric that has an interval, else None."""
    result = ev.metrics.get(name)
    return result if isinstance(result, Estimate) and result.low is not None else None
