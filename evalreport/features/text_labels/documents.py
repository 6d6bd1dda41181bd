"""JSON documents as answers: which value of the document is the answer.

The name of a value says what it is: a final answer, an answer, something else, or beside the matter
(reasons, alternatives, confidence). The best name that is there decides.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from evalreport.features.text_labels import cues
from evalreport.features.text_labels.folding import split_camel, words_of
from evalreport.features.text_labels.outcomes import Outcome, unparsed

_FINAL, _ANSWER, _OTHER, _INPUT, _BESIDE, _SCORE, _NEVER = 6, 5, 4, 3, 2, 1, 0
"""Ranks of a key, by how surely the answer stands under it: the highest rank that holds a label decides."""
_ROLES = {
    "F": _FINAL,
    "k": _ANSWER,
    "A": _BESIDE,
    "I": _INPUT,
    "S": _SCORE,
    "P": _NEVER,
    "N": _NEVER,
    "X": _NEVER,
}
_LONGEST, _MOST = 1_048_576, 10_000
"""Characters, and commas and colons, of the documents that are read; larger ones are read as prose."""
_CUES = cues.phrases()


class _Pairs(list[tuple[str, Any]]):
    """A JSON object with its pairs in order, a repeated name kept."""


class _Leaf(NamedTuple):
    role: int
    value: object
    depth: int = 0


_Scored: TypeAlias = tuple[float, int]


class _NotJSON:
    """What `load` returns of a text that is no JSON document."""


NOT_JSON = _NotJSON()


def load(text: str) -> object:
    """Return the document that the whole text is, or `NOT_JSON`.

    Examples
    --------
    >>> load("[1]"), load("[1] and more") is NOT_JSON
    ([1], True)
    """
    if len(text) > _LONGEST or text.count(",") + text.count(":") > _MOST:
        return NOT_JSON
    try:
        return json.loads(text, object_pairs_hook=_Pairs, strict=False)
    except (ValueError, RecursionError):
        return NOT_JSON


def answer(document: object, read: Callable[[str], Outcome], whole: Callable[[str], int]) -> Outcome:
    """Return the outcome of a JSON document.

    Parameters
    ----------
    document : object
        From `load`.
    read : callable
        Reads one string value.
    whole : callable
        Returns the code of the label that a string is, or -1.

    Examples
    --------
    >>> whole = lambda text: ["a", "b"].index(text) if text in ("a", "b") else -1
    >>> read = lambda text: Outcome(whole(text), "" if whole(text) >= 0 else "unknown_label")
    >>> answer(load('{"reason": "b", "label": "a"}'), read, whole).code
    0
    """
    leaves = list(_leaves(document, whole))
    first: Outcome | None = None
    for role in sorted({leaf.role for leaf in leaves if leaf.role}, reverse=True):
        outcome = _outermost(
            [(leaf.depth, _value(leaf.value, read, whole)) for leaf in leaves if leaf.role == role]
        )
        if outcome.code >= 0 or outcome.reason == "ambiguous" or role >= _ANSWER:
            return outcome
        first = first or outcome
    return first or unparsed("no_label" if leaves else "empty")


def role_of(name: str) -> int:
    """Return the rank of a name: the higher, the more it says "this is the answer"; 0 is never one.

    Examples
    --------
    >>> role_of("final_answer") > role_of("predictedIntent") > role_of("foo") > role_of("reasoning")
    True
    """
    words = words_of(split_camel(name[:200]))
    whole = _CUES.get(" ".join(words))
    if whole in _ROLES:
        return _ROLES[whole]
    letters = [_CUES.get(word, "x") for word in words]
    first = next((letter for letter in "FA" if letter in letters), None)
    last = next((letter for letter in reversed(letters) if letter in _ROLES), None)
    return _ROLES.get(first or last or "", _OTHER)


def _leaves(document: object, whole: Callable[[str], int]) -> Iterator[_Leaf]:
    """Yield the values of a document in order, a list of scored labels as one value.

    The values of a list take the role of its name.
    """
    stack: list[_Leaf] = [_Leaf(_OTHER, document)]
    while stack:
        role, value, depth = stack.pop()
        if isinstance(value, _Pairs):
            scored = _scored_names(value, whole) or _scored_lists(value, whole)
            inside = [_Leaf(_inner(role, role_of(name)), item, depth + 1) for name, item in value]
        elif isinstance(value, list):
            scored = _scored_records(value, whole)
            inside = [_Leaf(role, item, depth) for item in value]
        else:
            scored, inside = (), []
            yield _Leaf(role, value, depth)
        if scored:
            yield _Leaf(role, _highest(scored), depth)
        else:
            stack.extend(reversed(inside))


def _inner(outer: int, inner: int) -> int:
    """Return the role of a value in an object that itself has a role: what is beside the matter stays so."""
    return min(outer, inner) if outer < _OTHER else inner


def _value(value: object, read: Callable[[str], Outcome], whole: Callable[[str], int]) -> Outcome:
    match value:
        case None | "":
            return unparsed("empty")
        case Outcome():
            return value
        case str():
            return read(value)
        case bool():
            code = max(whole(str(value)), whole(json.dumps(value)))
        case float() if value.is_integer():
            code = max(whole(json.dumps(value)), whole(str(int(value))))
        case _:
            code = whole(json.dumps(value))
    return Outcome(code, "", "json") if code >= 0 else unparsed("unknown_label")


def _outermost(outcomes: Sequence[tuple[int, Outcome]]) -> Outcome:
    """Return what the outermost values say that have a label; values of inner objects describe details."""
    levels: dict[int, list[Outcome]] = {}
    for depth, outcome in outcomes:
        levels.setdefault(depth, []).append(outcome)
    for depth in sorted(levels):
        outcome = _combine(levels[depth])
        if outcome.code >= 0 or outcome.reason == "ambiguous":
            return outcome
    return _combine([outcome for _, outcome in outcomes])


def _combine(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the one label that the values agree on; values without label count only where none has one."""
    codes = {outcome.code for outcome in outcomes if outcome.code >= 0}
    if len(codes) > 1 or any(outcome.reason == "ambiguous" for outcome in outcomes):
        return unparsed("ambiguous")
    if codes:
        return Outcome(codes.pop(), "", "json")
    reasons = [outcome.reason for outcome in outcomes if outcome.reason != "empty"]
    return unparsed(reasons[0] if reasons else "empty")


def _scored_records(items: list[Any], whole: Callable[[str], int]) -> Sequence[_Scored]:
    """Return (score, code) of a list of objects that each hold one label and one score, else nothing."""
    scored: list[_Scored] = []
    for item in items:
        pairs = item if isinstance(item, _Pairs) else _Pairs()
        codes = [whole(value) for name, value in pairs if isinstance(value, str) and role_of(name) >= _OTHER]
        scores = [value for name, value in pairs if _is_number(value) and role_of(name) <= _SCORE]
        if len(codes) != 1 or len(scores) != 1:
            return ()
        scored.append((scores[0], codes[0]))
    return scored


def _scored_names(pairs: _Pairs, whole: Callable[[str], int]) -> Sequence[_Scored]:
    """Return (score, code) of an object whose names are labels and whose values numbers, else nothing."""
    scored = [(value, whole(name)) for name, value in pairs if isinstance(value, (int, float))]
    return scored if len(scored) == len(pairs) and all(code >= 0 for _, code in scored) else ()


def _scored_lists(pairs: _Pairs, whole: Callable[[str], int]) -> Sequence[_Scored]:
    """Return (score, code) of an object with a list of labels and a list of as many numbers, else nothing."""
    lists = [
        value for _, value in pairs if isinstance(value, list) and not isinstance(value, _Pairs) and value
    ]
    names = [items for items in lists if all(isinstance(item, str) and whole(item) >= 0 for item in items)]
    scores = [items for items in lists if all(map(_is_number, items))]
    if len(names) != 1 or len(scores) != 1 or len(names[0]) != len(scores[0]):
        return ()
    return [(score, whole(name)) for score, name in zip(scores[0], names[0], strict=True)]


def _highest(scored: Sequence[_Scored]) -> Outcome:
    top = max(score for score, _ in scored)
    codes = {code for score, code in scored if score == top}
    if len(codes) > 1 or top <= 0:
        return unparsed("ambiguous" if top > 0 else "no_label")
    code = codes.pop()
    return Outcome(code, "", "json") if code >= 0 else unparsed("unknown_label")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
