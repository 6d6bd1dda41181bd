"""Why a text gives no label."""

from __future__ import annotations

import re

from evalreport.features.text_labels.cues import FUNCTION_WORDS, NULL_ANSWERS
from evalreport.features.text_labels.rules import Reading
from evalreport.features.text_labels.trie import Shape

_READ = 2_000
"""Characters at either end of a text in which a refusal is sought: it opens or closes an answer, and the
middle of a long one may quote another's (chosen by hand)."""
_WORDS = r"(?:[\w']{1,30} ){0,3}?"
_CANNOT = "|".join(
    (
        *("can ?not", "can'?t", "could ?n[o']t", "couldn't", "unable to", "not able to", "won't", "will not"),
        *("refuse to", "decline to", "not possible to"),
    )
)
_ACTS = "|".join(
    (
        *(
            "help",
            "assist",
            "determine",
            "classif",
            "categori",
            "identif",
            "provide",
            "answer",
            "fulfil",
            "comply",
        ),
        *("process", "decide", "tell", "say", "label", "assign", "proceed", "engage", "discuss", "respond"),
        *("complete", "make"),
    )
)
_HELP = re.compile(
    r"\bas an? (?:ai|large language|language) ?(?:model|assistant)?\b"
    rf"|\b(?:{_CANNOT}) {_WORDS}(?:{_ACTS})"
    r"|\bi must decline|\bagainst my (?:guidelines|polic|programming)"
    r"|抱歉|对不起|无法|申し訳|できません|죄송"
)
_VAGUE = re.compile(
    r"\b(?:"
    + "|".join(
        (
            r"sorry|apolog\w{1,10}|insufficient|ambiguous|unclear|out of scope|inappropriate",
            r"i (?:do not|don't) (?:know|have)",
            r"not (?:sure|clear|possible|certain|enough|applicable|allowed|permitted)",
            rf"(?:need|require|provide) {_WORDS}(?:information|context|details?|text|input|message|query)",
            rf"(?:more|additional|further|enough|without) {_WORDS}(?:information|context|details?|data)",
            rf"(?:does not|doesn't|do not|don't) {_WORDS}(?:fit|match|belong|correspond|fall)",
            rf"(?:cannot|can't|could not) be {_WORDS}(?:determined|classified|categori[sz]ed|identified)",
            r"no \w{1,30} (?:match|fit|appl)",
            r"no (?:suitable|matching|appropriate|relevant|clear|applicable|such) ",
            r"tut mir leid|kann (?:ich )?nicht|désolé|je ne (?:peux|suis|sais)|lo siento|no puedo",
            r"mi dispiace|non posso|não posso|desculpe",
        )
    )
    + ")"
)
_SPACE = re.compile(r"\s+")
_LABEL_WORDS = 5
"""Words up to which an answer may be a name that is not declared: more are a sentence (chosen by hand)."""
_NAME = re.compile(r"[q(\n-]*(?:d[.)]q*)?[fxyduRVvAbcFkPISNDXUWeO]{1,9}[q).\n]*")
_FRAME = re.compile(r"[q(\n-]*[fI]{0,3}[Fk]{1,2}[fAI]{0,3}q{0,4}[:v>-]{1,3}")
_TAGS = re.compile(r"(?:[qt][kAxu]>|[q\n])*")
_UNKNOWN = re.compile(r"[q(\n.-]*u[q).,\n]*")


def is_refusal(text: str) -> bool:
    """Tell whether a text says that no answer will be given, at its beginning or end.

    Examples
    --------
    >>> is_refusal("As an AI language model, I cannot determine the intent.")
    True
    >>> is_refusal("Sorry to hear that! This is about card arrival.")
    False
    """
    return bool(_HELP.search(_folded(text)))


def reason(text: str, shape: Shape, reading: Reading) -> str:
    """Return why a text gives no label: one of `REASONS`.

    Parameters
    ----------
    text : str
        Normalised.
    shape : Shape
        Of the text.
    reading : Reading
        Of the shape, with no label or several.
    """
    if len(reading.codes) > 1:
        return "ambiguous"
    low, high = reading.value if reading.rank else (0, len(shape.letters))
    if _is_null(shape, low, high) or _is_null(shape, 0, len(shape.letters)):
        return "empty"
    left_open = {shape.codes[at] for at, letter in enumerate(reading.letters) if letter == "Y"}
    if len(left_open) > 1:
        return "ambiguous"
    folded = _folded(text)
    if "u" in reading.letters[low:high] and _UNKNOWN.fullmatch(reading.letters[low:high]):
        return "unknown_label"
    if left_open or _HELP.search(folded) or _VAGUE.search(folded):
        return "refusal"
    return "unknown_label" if _is_name(shape, reading, low, high) else "no_label"


def _folded(text: str) -> str:
    ends = text if len(text) <= 2 * _READ else f"{text[:_READ]}\n{text[-_READ:]}"
    return _SPACE.sub(" ", ends.casefold())


def _is_null(shape: Shape, low: int, high: int) -> bool:
    """Tell whether units hold no word, or say "none", perhaps after a name ("Intent: N/A")."""
    if _TAGS.fullmatch(shape.letters, low, high):
        return True
    frame = _FRAME.match(shape.letters, low, high)
    inner = shape.words(frame.end() if frame else low, high)
    return not inner or inner in NULL_ANSWERS or shape.words(low, high) in NULL_ANSWERS


def _is_name(shape: Shape, reading: Reading, low: int, high: int) -> bool:
    """Tell whether units are shaped like a label: an identifier, or a few words that are no sentence."""
    letters = reading.letters[low:high]
    if "u" in letters:
        return True
    words = shape.words(low, high).split()
    if not reading.rank and ("Z" in letters or ":" in letters):
        return False
    return (
        len(words) <= _LABEL_WORDS
        and bool(_NAME.fullmatch(letters))
        and not FUNCTION_WORDS.intersection(words)
    )
