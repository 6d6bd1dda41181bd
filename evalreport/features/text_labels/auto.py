"""The parser `auto`: the label that a generated text gives as its answer, in any format.

In this order: the text as it is, and without its markup; what remains without a block of reasoning; a JSON
document; and the shape of the prose (`parsing_rules.py`). What gives no label has a reason.

Of a JSON document the name of a value says what it is: a final answer, an answer, something else, or beside
the matter (reasons, alternatives, confidence). The best name that is there decides.

A label is guessed by similarity only where the user asks for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, Final, NamedTuple, TypeAlias

from evalreport.features.text_labels import parsing_rules
from evalreport.features.text_labels.parsing_rules import Outcome, failure, label_outcome
from evalreport.features.text_labels.shape import LabelIndex, Shape, normalise, phrases, split_camel, words_of

_PAIRS = dict(zip("\"'`*_[(<“‘«「『【„‹{~$", "\"'`*_])>”’»」』】“›}~$", strict=True))
_QUOTES = frozenset("\"'“‘«「『【„‹")
_ROUNDS = 8
"""Layers of quotes and markup that are taken off: more than a model puts on, and a bound on time."""
_SHORT = 400
"""Characters up to which a whole text may be one label with some markup: a label has 64 tokens at most."""
_REASONING = re.compile(
    r"(?i)<(/?)(?:think|thinking|thought|thoughts|reasoning|scratchpad|analysis|reflection|rationale)>"
    r"|(\u25c1)(/?)think\u25b7"
)
_TURN = r"(?:<\|(?:im_end|eot_id|endoftext|end_of_text|end|return)\|>|</s>|<(?:eos|end_of_turn)>)"
_END = re.compile(_TURN)
_BEFORE = re.compile(rf"(?:\s|{_TURN})*")
_CHANNEL = re.compile(r"(?i)<\|channel\|>\s*final\s*<\|message\|>")
_FENCE = re.compile(r"```[^\n`]*\n(.*?)(?:```|\Z)", re.DOTALL)
_PREFIX = re.compile(r"[^\W\d_][\w ]{0,30}(?::|=|->)")
_SET_OFF = {**dict.fromkeys("*`#~", "markdown"), **dict.fromkeys("\"'“”‘«»「」『』【】„‹›", "quoted")}


def read_text(text: str, index: LabelIndex) -> Outcome:
    """Return what a text gives.

    Examples
    --------
    >>> index = LabelIndex(("card_arrival", "card_linking"))
    >>> read_text("Not card_arrival; it is **card_linking**.", index)
    Outcome(code=1, reason='', format='negated', note='')
    >>> read_text("card_arrival or card_linking", index).reason
    'ambiguous'
    """
    outcome = _label_in_markup(text, index)
    if outcome:
        return outcome
    answer = _cut_after_end(_strip_reasoning(text))
    if answer is not text and not answer.strip():
        return failure("no_label")
    document = document_in(answer)
    if document is NOT_JSON:
        return _prose(normalise(answer), index)
    return document_answer(document, lambda value: _value(value, index), index.code_of)


def _label_in_markup(text: str, index: LabelIndex) -> Outcome | None:
    """Return the outcome of a text that is a label in quotes, markup or with a full stop."""
    if len(text) > _SHORT:
        return None
    inner, format_ = text.strip(), "bare"
    for _ in range(_ROUNDS):
        code = index.exact.get(inner, -1)
        if code >= 0:
            return label_outcome(code, format_)
        if len(inner) > 2 and _PAIRS.get(inner[0]) == inner[-1] and inner[:3] != "```":
            format_ = "quoted" if inner[0] in _QUOTES else "markdown"
            inner = inner[1:-1].strip()
        elif inner.endswith((".", "!", ",", ";")):
            inner = inner[:-1].rstrip()
        else:
            return None
    return None


def _strip_reasoning(text: str) -> str:
    """Return a text without its blocks of reasoning; one that is not closed reaches to the end."""
    channels = list(_CHANNEL.finditer(text)) if "<|" in text else []
    if channels:
        return text[channels[-1].end() :]
    if "<" not in text and "\u25c1" not in text:
        return text
    kept: list[str] = []
    start, depth = 0, 0
    for tag in _REASONING.finditer(text):
        closing = bool(tag[1] or tag[3])
        if closing and not depth:
            kept.clear()  # the opening tag was in the prompt
        elif not closing and not depth:
            kept.append(text[start : tag.start()])
        depth = max(0, depth - 1) if closing else depth + 1
        start = tag.end()
    if not start:
        return text
    return "\n".join([*kept, text[start:] if not depth else ""])


def _cut_after_end(text: str) -> str:
    """Return a text up to the first token that ends a response: a new turn follows."""
    if "<" not in text:
        return text
    begin = _BEFORE.match(text)
    end = _END.search(text, begin.end() if begin else 0)
    return text[: end.start()] if end else text


def document_in(answer: str) -> object:
    r"""Return the JSON document that a text is, or contains as its only code fence; else `NOT_JSON`.

    Examples
    --------
    >>> document_in("```json\n[1]\n```"), document_in("card") is NOT_JSON
    ([1], True)
    """
    candidates = [answer.strip()]
    if "```" in answer:
        blocks = [match[1].strip() for match in _FENCE.finditer(answer)]
        candidates += blocks if len(blocks) == 1 else []
    for candidate in candidates:
        document = load_json(candidate) if candidate[:1] in ("{", "[", '"') else NOT_JSON
        if document is not NOT_JSON:
            return document
    return NOT_JSON


def _value(value: str, index: LabelIndex) -> Outcome:
    """Return the outcome of one string of a document."""
    code = index.code_of(value)
    return label_outcome(code, "json") if code >= 0 else _prose(normalise(value), index)


def _prose(plain: str, index: LabelIndex) -> Outcome:
    shape = index.shape(plain)
    reading = parsing_rules.read_letters(shape)
    if len(reading.codes) == 1 and not (
        reading.rank == parsing_rules.PLAIN and parsing_rules.is_refusal(plain)
    ):
        return label_outcome(next(iter(reading.codes)), _format(plain, shape, reading))
    if not shape.codes and len(plain) <= _SHORT and (outcome := _unspaced_label(plain, index)):
        return outcome
    return failure(parsing_rules.failure_reason(plain, shape, reading))


def _unspaced_label(plain: str, index: LabelIndex) -> Outcome | None:
    """Return the label that a text is without spaces, or that is made of signs and follows a name."""
    code = index.code_of(plain)
    if code >= 0:
        return label_outcome(code, "bare")
    prefix = _PREFIX.match(plain)
    rest = _label_in_markup(plain[prefix.end() :], index) if prefix else None
    return label_outcome(rest.code, "prefix") if rest else None


def _format(plain: str, shape: Shape, reading: parsing_rules.Reading) -> str:
    """Return the format of the label of a reading: one of `FORMATS`."""
    letters, at = reading.letters, reading.at
    before = letters[:at].rstrip("q(fn")
    tag = letters[:at].endswith(">") and letters[at + 1 : at + 3].startswith("t")
    around = shape.tokens[shape.starts[at] - 1] if at else ""
    checks = (
        ("json", plain.lstrip()[:1] in ("{", "[") and ":" in before),
        ("xml", tag),
        ("code_fence", "```" in plain),
        ("final_answer", reading.rank == parsing_rules.FINAL),
        ("negated", "Z" in letters),
        (_SET_OFF.get(around[:1], ""), around[:1] in _SET_OFF),
        ("prefix", before[-1:] in (":", "-", "|", "k") and before != ""),
        ("spaced", letters.strip("q.()\n-,") == "l"),
        ("bare", letters.strip("q.()\n-,") == "L"),
    )
    return next((name for name, is_met in checks if is_met), "sentence")


_FINAL, _ANSWER, _OTHER, _INPUT, _BESIDE, _SCORE, _NEVER = 6, 5, 4, 3, 2, 1, 0
"""Ranks of a key, by how surely its value is the answer: the highest rank with a label decides."""
_ROLES = {"F": _FINAL, "k": _ANSWER, "A": _BESIDE, "I": _INPUT, "S": _SCORE, **dict.fromkeys("PNX", _NEVER)}
_LONGEST_JSON, _MOST_SIGNS = 1_048_576, 10_000
"""Characters, and commas and colons, of the documents that are read; larger ones are read as prose."""
_CUES = phrases()


class _Pairs(list[tuple[str, Any]]):
    """A JSON object with its pairs in order, a repeated name kept."""


class _Leaf(NamedTuple):
    role: int
    value: object
    depth: int = 0


_Scored: TypeAlias = tuple[float, int]


NOT_JSON: Final = object()
"""What `load_json` returns of a text that is not a JSON document."""


def load_json(text: str) -> object:
    """Return the document that the whole text is, or `NOT_JSON`.

    Examples
    --------
    >>> load_json("[1]"), load_json("[1] and more") is NOT_JSON
    ([1], True)
    """
    if len(text) > _LONGEST_JSON or text.count(",") + text.count(":") > _MOST_SIGNS:
        return NOT_JSON
    try:
        return json.loads(text, object_pairs_hook=_Pairs, strict=False)
    except (ValueError, RecursionError):
        return NOT_JSON


def document_answer(
    document: object, read: Callable[[str], Outcome], code_of: Callable[[str], int]
) -> Outcome:
    """Return the outcome of a JSON document.

    Parameters
    ----------
    document : object
        From `load_json`.
    read : callable
        Reads one string value.
    code_of : callable
        Returns the code of the label that a string is, or -1.

    Examples
    --------
    >>> code_of = lambda text: ["a", "b"].index(text) if text in ("a", "b") else -1
    >>> read = lambda text: Outcome(code_of(text), "" if code_of(text) >= 0 else "unknown_label")
    >>> document_answer(load_json('{"reason": "b", "label": "a"}'), read, code_of).code
    0
    """
    leaves = list(_leaves(document, code_of))
    first: Outcome | None = None
    for role in sorted({leaf.role for leaf in leaves if leaf.role}, reverse=True):
        outcome = _outermost_answer(
            [(leaf.depth, _value_outcome(leaf.value, read, code_of)) for leaf in leaves if leaf.role == role]
        )
        if outcome.code >= 0 or outcome.reason == "ambiguous" or role >= _ANSWER:
            return outcome
        first = first or outcome
    return first or failure("no_label" if leaves else "empty")


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


def _leaves(document: object, code_of: Callable[[str], int]) -> Iterator[_Leaf]:
    """Yield the values of a document in order, a list of scored labels as one value.

    The values of a list take the role of its name.
    """
    stack: list[_Leaf] = [_Leaf(_OTHER, document)]
    while stack:
        role, value, depth = stack.pop()
        if isinstance(value, _Pairs):
            scored = _scored_names(value, code_of) or _scored_lists(value, code_of)
            limit = role if role < _OTHER else _FINAL  # nor is a value within reasons or alternatives
            inside = [_Leaf(min(limit, role_of(name)), item, depth + 1) for name, item in value]
        elif isinstance(value, list):
            scored = _scored_records(value, code_of)
            inside = [_Leaf(role, item, depth) for item in value]
        else:
            scored, inside = (), []
            yield _Leaf(role, value, depth)
        if scored:
            yield _Leaf(role, _best_scored(scored), depth)
        else:
            stack.extend(reversed(inside))


def _value_outcome(value: object, read: Callable[[str], Outcome], code_of: Callable[[str], int]) -> Outcome:
    match value:
        case None | "":
            return failure("empty")
        case Outcome():
            return value
        case str():
            return read(value)
        case bool():
            code = max(code_of(str(value)), code_of(json.dumps(value)))
        case float() if value.is_integer():
            code = max(code_of(json.dumps(value)), code_of(str(int(value))))
        case _:
            code = code_of(json.dumps(value))
    return Outcome(code, "", "json") if code >= 0 else failure("unknown_label")


def _outermost_answer(outcomes: Sequence[tuple[int, Outcome]]) -> Outcome:
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
        return failure("ambiguous")
    if codes:
        return Outcome(codes.pop(), "", "json")
    reasons = [outcome.reason for outcome in outcomes if outcome.reason != "empty"]
    return failure(reasons[0] if reasons else "empty")


def _scored_records(items: list[Any], code_of: Callable[[str], int]) -> Sequence[_Scored]:
    """Return (score, code) of a list of objects that each hold one label and one score, else nothing."""
    scored: list[_Scored] = []
    for item in items:
        pairs = item if isinstance(item, _Pairs) else _Pairs()
        codes = [
            code_of(value) for name, value in pairs if isinstance(value, str) and role_of(name) >= _OTHER
        ]
        scores = [value for name, value in pairs if _is_number(value) and role_of(name) <= _SCORE]
        if len(codes) != 1 or len(scores) != 1:
            return ()
        scored.append((scores[0], codes[0]))
    return scored


def _scored_names(pairs: _Pairs, code_of: Callable[[str], int]) -> Sequence[_Scored]:
    """Return (score, code) of an object whose names are labels and whose values numbers, else nothing."""
    scored = [(value, code_of(name)) for name, value in pairs if isinstance(value, (int, float))]
    return scored if len(scored) == len(pairs) and all(code >= 0 for _, code in scored) else ()


def _scored_lists(pairs: _Pairs, code_of: Callable[[str], int]) -> Sequence[_Scored]:
    """Return (score, code) of an object with a list of labels and a list of as many numbers, else nothing."""
    lists = [value for _, value in pairs if type(value) is list and value]
    names = [items for items in lists if all(isinstance(item, str) and code_of(item) >= 0 for item in items)]
    scores = [items for items in lists if all(map(_is_number, items))]
    if len(names) != 1 or len(scores) != 1 or len(names[0]) != len(scores[0]):
        return ()
    return [(score, code_of(name)) for score, name in zip(scores[0], names[0], strict=True)]


def _best_scored(scored: Sequence[_Scored]) -> Outcome:
    top = max(score for score, _ in scored)
    codes = {code for score, code in scored if score == top}
    if len(codes) > 1 or top <= 0:
        return failure("ambiguous" if top > 0 else "no_label")
    code = codes.pop()
    return Outcome(code, "", "json") if code >= 0 else failure("unknown_label")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_LONGEST_GUESS = 120
"""Characters: what is longer is a sentence, not a misspelt label."""
_SIMILAR = 0.8
"""Ratcliff and Obershelp's measure from which a label is similar enough: of ten letters two may differ.
Chosen by hand: it has to be asked for (`--set fuzzy`), and is reported."""
_AHEAD = 0.05
"""By how much the most similar label must be ahead of the next: half a letter of ten (chosen by hand)."""
_SHORTEST_STEM = 4
"""Letters: fewer begin words of any kind."""
_AFTER_SIGN = re.compile(r"^.*[:=>]\s*", re.DOTALL)


def guess(text: str, index: LabelIndex, outcome: Outcome) -> Outcome:
    """Return the label most like the last words of a text, or the outcome as it was.

    A text that is the beginning of only one label means it; else the most similar label counts, if it is
    similar enough (0.8 of Ratcliff and Obershelp's measure) and ahead of the next.

    Examples
    --------
    >>> index = LabelIndex(("card_arrival", "card_linking"))
    >>> guess("Intent: card_arri", index, failure("unknown_label")).code
    0
    >>> guess("card", index, failure("unknown_label")).code
    -1
    """
    if outcome.reason not in ("unknown_label", "no_label"):
        return outcome
    words = "_".join(words_of(_AFTER_SIGN.sub("", normalise(text[-2 * _LONGEST_GUESS :]).strip())))
    if not _SHORTEST_STEM <= len(words) <= _LONGEST_GUESS:
        return outcome
    names = ["_".join(words_of(label)) for label in index.labels]
    begun = [code for code, name in enumerate(names) if name.startswith(words)]
    if len(begun) == 1:
        return label_outcome(begun[0], "fuzzy")
    matcher, similar = SequenceMatcher(None, b=words, autojunk=False), []
    for code, name in enumerate(names):
        matcher.set_seq1(name)
        bounds = (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio)  # the cheaper ones first
        if all(bound() >= _SIMILAR for bound in bounds):
            similar.append((matcher.ratio(), code))
    ranked = sorted(similar, reverse=True)[:2]
    if not ranked or (len(ranked) > 1 and ranked[0][0] - ranked[1][0] < _AHEAD):
        return outcome
    return label_outcome(ranked[0][1], "fuzzy")
