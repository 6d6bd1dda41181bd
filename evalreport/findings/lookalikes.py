"""Labels that a person would read as one: two spellings of a class make every answer to it wrong."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np

from evalreport.evaluation.model import Evaluation
from evalreport.findings.labels import section
from evalreport.findings.words import describe
from evalreport.values import Finding

BROKEN = 0.01
"""Share of the rows, wrong by their spelling alone, from which on the numbers mean little."""


def lookalikes(ev: Evaluation) -> Finding | None:
    """Labels that differ only in spaces, in case or in how Unicode writes them."""
    groups = _groups(ev.space.names)
    if not groups:
        return None
    first = max(groups, key=lambda codes: _mistaken(ev, [codes]))
    one, other = (ev.space.shown[code] for code in first[:2])
    mistaken = _mistaken(ev, groups)
    claim = "{first:label} and {second:label} differ only in {how}"
    if len(groups) > 1:
        claim += ", as do {n:count} sets of labels in all"
    claim += "."
    if mistaken:
        claim += " {mistaken:weight} {mistaken:is} counted as wrong for no other reason."
    return describe(
        ev,
        "lookalikes",
        "error" if mistaken >= BROKEN * ev.weight else "caution",
        claim,
        {
            "first": one,
            "second": other,
            "how": _how(str(one), str(other)),
            "n": len(groups),
            "mistaken": mistaken,
        },
        action="If they are one class, write it alike in truth and predictions; nothing is put together unasked.",
        section=section(ev),
    )


def _groups(names: Sequence[str]) -> list[list[int]]:
    """Codes of labels that are one when folded, two or more of each, in the order of the labels."""
    found: dict[str, list[int]] = {}
    for code, name in enumerate(names):
        found.setdefault(_folded(name), []).append(code)
    return [codes for codes in found.values() if len(codes) > 1]


def _folded(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def _how(one: str, other: str) -> str:
    """Which of the differences there are, in words."""
    forms = [unicodedata.normalize("NFKC", name) for name in (one, other)]
    spaced = [" ".join(form.split()) for form in forms]
    found = [
        ("the form of their Unicode characters", forms[0] != one or forms[1] != other),
        ("spaces", forms != spaced),
        ("case", spaced[0] != spaced[1]),
    ]
    return " and ".join(what for what, is_so in found if is_so)


def _mistaken(ev: Evaluation, groups: Sequence[Sequence[int]]) -> float:
    """Weight of the rows whose answer is another spelling of their truth."""
    if ev.confusion is None:
        return 0.0
    group = np.arange(len(ev.space) + 1)
    for codes in groups:
        group[list(codes)] = codes[0]
    rows, columns = ev.confusion.rows, ev.confusion.columns
    alike = (rows != columns) & (group[rows] == group[columns])
    return float(ev.confusion.weight[alike].sum())
