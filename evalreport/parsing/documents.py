"""JSON documents as answers: which value of the document is the answer.

The name of a value says what it is: a final answer, an answer, something else, or beside the matter
(reasons, alternatives, confidence). The best name that is there decides.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from evalreport.parsing import cues
from evalreport.parsing.folding import split_camel, words_of
from evalreport.parsing.outcomes import Outcome, unparsed

_FINAL, _ANSWER, _OTHER, _BESIDE, _SCORE, _NEVER = 5, 4, 3, 2, 1, 0
_ROLES = {
    "F": _FINAL,
    "k": _ANSWER,
    "A": _BESIDE,
    "I": _BESIDE,
    "S": _SCORE,
    "P": _NEVER,
    "N": _NEVER,
    "X": _NEVER,
}
_LONGEST = 1_000_000
_CUES = cues.phrases()


class _Pairs(list[tuple[str, Any]]):
    """A JSON object with its pairs in order, a repeated name kept."""


class _Leaf(NamedTuple):
    role: int
    value: object


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
    if len(text) > _LONGEST:
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
    leaves = list(_leaves(document))
    best = _best_record(document, whole)
    if best is None:
        best = _scored_names(document, whole)
    if best is not None:
        return best
    for role in sorted({leaf.role for leaf in leaves if leaf.role}, reverse=True):
        outcome = _combine([_value(leaf.value, read, whole) for leaf in leaves if leaf.role == role])
        if outcome.code >= 0 or outcome.reason == "ambiguous" or role >= _ANSWER:
            return outcome
    return unparsed("no_label" if any(leaf.role != _BESIDE for leaf in leaves) else "empty")


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
    if "F" in letters:
        return _FINAL
    return next((_ROLES[letter] for letter in reversed(letters) if letter in _ROLES), _OTHER)


def _leaves(document: object) -> Iterator[_Leaf]:
    """Yield the values of a document in order; a list takes the role of its name."""
    stack: list[_Leaf] = [_Leaf(_OTHER, document)]
    while stack:
        role, value = stack.pop()
        if isinstance(value, _Pairs):
            inside = [_Leaf(_inner(role, role_of(name)), item) for name, item in value]
            stack.extend(reversed(inside))
        elif isinstance(value, list):
            stack.extend(_Leaf(role, item) for item in reversed(value))
        else:
            yield _Leaf(role, value)


def _inner(outer: int, inner: int) -> int:
    """Return the role of a value in an object that itself has a role: what is beside the matter stays so."""
    return min(outer, inner) if outer < _OTHER else inner


def _value(value: object, read: Callable[[str], Outcome], whole: Callable[[str], int]) -> Outcome:
    match value:
        case None | "":
            return unparsed("empty")
        case str():
            return read(value)
        case bool():
            code = max(whole(str(value)), whole(json.dumps(value)))
        case _:
            code = whole(json.dumps(value))
    return Outcome(code, "", "json") if code >= 0 else unparsed("unknown_label")


def _combine(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the one label that the values agree on; values without label count only where none has one."""
    codes = {outcome.code for outcome in outcomes if outcome.code >= 0}
    if len(codes) > 1 or any(outcome.reason == "ambiguous" for outcome in outcomes):
        return unparsed("ambiguous")
    if codes:
        return Outcome(codes.pop(), "", "json")
    reasons = [outcome.reason for outcome in outcomes if outcome.reason != "empty"]
    return unparsed(reasons[0] if reasons else "empty")


def _best_record(document: object, whole: Callable[[str], int]) -> Outcome | None:
    """Return the label with the highest score of a list of objects that each hold a label and a score."""
    if not isinstance(document, list) or isinstance(document, _Pairs) or len(document) < 2:
        return None
    scored: list[_Scored] = []
    for item in document:
        pairs = item if isinstance(item, _Pairs) else _Pairs()
        codes = [whole(value) for name, value in pairs if isinstance(value, str) and role_of(name) >= _OTHER]
        scores = [value for name, value in pairs if _is_number(value) and role_of(name) <= _SCORE]
        if len(codes) != 1 or len(scores) != 1:
            return None
        scored.append((scores[0], codes[0]))
    return _highest(scored)


def _scored_names(document: object, whole: Callable[[str], int]) -> Outcome | None:
    """Return the label with the highest number of an object whose names are labels and values numbers."""
    if not isinstance(document, _Pairs) or not document:
        return None
    scored = [(value, whole(name)) for name, value in document if isinstance(value, (int, float))]
    if len(scored) < len(document) or any(code < 0 for _, code in scored):
        return None
    return _highest(scored)


def _highest(scored: Sequence[_Scored]) -> Outcome:
    top = max(score for score, _ in scored)
    codes = {code for score, code in scored if score == top}
    if len(codes) > 1 or top <= 0:
        return unparsed("ambiguous" if top > 0 else "no_label")
    code = codes.pop()
    return Outcome(code, "", "json") if code >= 0 else unparsed("unknown_label")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
