"""The parser `auto`: the label that a generated text gives as its answer, in whatever dress.

In this order: the text as it is, and without its dress; what remains without a block of reasoning; a JSON
document; and the shape of the prose (`rules.py`). What gives no label has a reason.
"""

from __future__ import annotations

import re

from evalreport.features.text_labels import documents, reasons, rules
from evalreport.features.text_labels.folding import normalise
from evalreport.features.text_labels.labelset import LabelIndex
from evalreport.features.text_labels.outcomes import Outcome, parsed, unparsed
from evalreport.features.text_labels.trie import Shape

_PAIRS = {
    '"': '"',
    "'": "'",
    "`": "`",
    "*": "*",
    "_": "_",
    "[": "]",
    "(": ")",
    "<": ">",
    "“": "”",
    "‘": "’",
    "«": "»",
    "「": "」",
    "『": "』",
    "【": "】",
    "„": "“",
    "‹": "›",
    "{": "}",
    "~": "~",
    "$": "$",
}
_QUOTES = frozenset("\"'“‘«「『【„‹")
_ROUNDS = 8
"""Layers of quotes and markup that are taken off: more than a model puts on, and a bound on time."""
_SHORT = 400
"""Characters up to which a whole text may be one label in some dress: a label has 64 tokens at most."""
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


def read(text: str, index: LabelIndex) -> Outcome:
    """Return what a text gives.

    Examples
    --------
    >>> index = LabelIndex(("card_arrival", "card_linking"))
    >>> read("Not card_arrival; it is **card_linking**.", index)
    Outcome(code=1, reason='', format='negated', note='')
    >>> read("card_arrival or card_linking", index).reason
    'ambiguous'
    """
    outcome = _peeled(text, index)
    if outcome:
        return outcome
    answer = _before_end(_without_reasoning(text))
    if answer is not text and not answer.strip():
        return unparsed("no_label")
    plain = normalise(answer)
    return _document(answer, index) or _prose(plain, index)


def _peeled(text: str, index: LabelIndex) -> Outcome | None:
    """Return the outcome of a text that is a label in quotes, markup or with a full stop."""
    if len(text) > _SHORT:
        return None
    inner, dress = text.strip(), "bare"
    for _ in range(_ROUNDS):
        code = index.exact.get(inner, -1)
        if code >= 0:
            return parsed(code, dress)
        if len(inner) > 2 and _PAIRS.get(inner[0]) == inner[-1] and inner[:3] != "```":
            dress = "quoted" if inner[0] in _QUOTES else "markdown"
            inner = inner[1:-1].strip()
        elif inner.endswith((".", "!", ",", ";")):
            inner = inner[:-1].rstrip()
        else:
            return None
    return None


def _without_reasoning(text: str) -> str:
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
            kept.clear()  # the opening tag stood in the prompt
        elif not closing and not depth:
            kept.append(text[start : tag.start()])
        depth = max(0, depth - 1) if closing else depth + 1
        start = tag.end()
    if not start:
        return text
    return "\n".join([*kept, text[start:] if not depth else ""])


def _before_end(text: str) -> str:
    """Return a text up to the first token that ends an answer: what follows is a turn of its own."""
    if "<" not in text:
        return text
    begin = _BEFORE.match(text)
    end = _END.search(text, begin.end() if begin else 0)
    return text[: end.start()] if end else text


def document_in(answer: str) -> object:
    r"""Return the JSON document that a text is, or holds as its one code fence; else `documents.NOT_JSON`.

    Examples
    --------
    >>> document_in("```json\n[1]\n```"), document_in("card") is documents.NOT_JSON
    ([1], True)
    """
    candidates = [answer.strip()]
    if "```" in answer:
        blocks = [match[1].strip() for match in _FENCE.finditer(answer)]
        candidates += blocks if len(blocks) == 1 else []
    for candidate in candidates:
        document = documents.load(candidate) if candidate[:1] in ("{", "[", '"') else documents.NOT_JSON
        if document is not documents.NOT_JSON:
            return document
    return documents.NOT_JSON


def _document(answer: str, index: LabelIndex) -> Outcome | None:
    document = document_in(answer)
    if document is documents.NOT_JSON:
        return None
    return documents.answer(document, lambda value: _value(value, index), index.whole)


def _value(value: str, index: LabelIndex) -> Outcome:
    """Return the outcome of one string of a document."""
    code = index.whole(value)
    return parsed(code, "json") if code >= 0 else _prose(normalise(value), index)


def _prose(plain: str, index: LabelIndex) -> Outcome:
    shape = index.shape(plain)
    reading = rules.read(shape)
    if len(reading.codes) == 1 and not (reading.rank == rules.PLAIN and reasons.is_refusal(plain)):
        return parsed(next(iter(reading.codes)), _format(plain, shape, reading))
    if not shape.codes and len(plain) <= _SHORT:
        outcome = _without_words(plain, index)
        if outcome:
            return outcome
    return unparsed(reasons.reason(plain, shape, reading))


def _without_words(plain: str, index: LabelIndex) -> Outcome | None:
    """Return the label that a text is without spaces, or that is made of signs and stands after a name."""
    code = index.whole(plain)
    if code >= 0:
        return parsed(code, "bare")
    prefix = _PREFIX.match(plain)
    rest = _peeled(plain[prefix.end() :], index) if prefix else None
    return parsed(rest.code, "prefix") if rest else None


def _format(plain: str, shape: Shape, reading: rules.Reading) -> str:
    """Return the dress in which the label of a reading stands: one of `FORMATS`."""
    letters, at = reading.letters, reading.at
    before = letters[:at].rstrip("q(fn")
    tag = letters[:at].endswith(">") and letters[at + 1 : at + 3].startswith("t")
    around = shape.tokens[shape.starts[at] - 1] if at else ""
    checks = (
        ("json", plain.lstrip()[:1] in ("{", "[") and ":" in before),
        ("xml", tag),
        ("code_fence", "```" in plain),
        ("final_answer", reading.rank == rules.FINAL),
        ("negated", "Z" in letters),
        (_SET_OFF.get(around[:1], ""), around[:1] in _SET_OFF),
        ("prefix", before[-1:] in (":", "-", "|", "k") and before != ""),
        ("spaced", letters.strip("q.()\n-,") == "l"),
        ("bare", letters.strip("q.()\n-,") == "L"),
    )
    return next((name for name, holds in checks if holds), "sentence")
