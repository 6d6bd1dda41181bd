"""What the shape of an answer means: which label is the answer, or why there is none.

Each rule is one regular expression over the letters of `shape.py`, with bounded repeats, so that reading
takes time in proportion to the text. First the labels that are ruled out, left open or in reasons
are taken from the shape; then the strongest kind of evidence that names a label decides:

1. an announced final answer, or a last line that is only a label ("Final answer: x");
2. a named answer ("Intent: x", ``"label": "x"``, ``<label>x</label>``, "I classify this as x");
3. a label that opens the text ("x, because …");
4. a label that is set off or written as declared;
5. a label written in plain words.

Two labels of the strongest kind are ambiguous, but the last final answer counts, and the last
answer after a correction. A final or named answer that is not a label outranks any other label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from evalreport.data.labels import UNPARSED
from evalreport.features.text_labels.shape import FUNCTION_WORDS, NULL_ANSWERS, Shape

FINAL, NAMED, OPENING, MARKED, PLAIN = 5, 4, 3, 2, 1
"""Ranks of a place in prose, by how surely it states the answer: the highest rank with a label decides."""

_ASIDE = r"(?:\([^()LlN\n]{1,8}\))?"
_CELL = r"\|(?![^\n|]{0,60}\|q{0,3}(?:\n|$))"
_JOIN = rf"[q)]{{0,4}}{_ASIDE}(?:,?[c/]|{_CELL}|,)[fqR(]{{0,4}}"
_LIST = rf"[Ll](?:{_JOIN}[Ll]){{0,50}}"
_CLOSED = (  # "a, b or c"
    r"[Ll](?:(?:[q)]{0,4},[fq(]{0,4}[Ll]){0,50}?"
    rf"(?:[q)]{{0,4}}x{{0,2}},?(?:[c/]|{_CELL})[fq(]{{0,4}}[Ll]){{1,50}})?"
)
_ANY_LABEL = re.compile("[Ll]")
_FEW, _SHORT = 60, 300
"""Labels and letters of the shapes that are remembered."""
_GROUP = re.compile(_LIST)
_MEASURES = (
    re.compile(r"P[fq:v>(|-]{1,5}(?P<labels>[Ll])"),  # "confidence: high"
    re.compile(r"(?P<labels>[Ll])(?=P(?![q]{0,3}[:v(d]))"),  # "high confidence"
)
_BESIDE = (
    re.compile(  # "Reason: …" to the end of the line, or to the next cue
        r"(?:^|[\n{,(<;.q])[q-]{0,6}[fxd.]{0,2}A[q)]{0,4}[:>]"
        r"(?P<labels>(?:(?!k[fAqI]{0,3}[v:>]|[.,]q{0,3}[fxV]{1,3}:)[^\nF])*)"
    ),
    re.compile(  # the paragraph under the title "Alternatives"
        r"(?:^|\n)[q-]{0,6}[fx]{0,2}A[q:]{0,6}\n{1,2}(?P<labels>(?:(?!k[fAqI]{0,3}[v:>\n]|\n\n)[^F])*)"
    ),
    re.compile(r"C(?P<labels>(?:(?!k[fAqI]{0,3}[v:>])[^.,\nFV]){0,60})"),  # "although it mentions x"
)
_NEGATED = (
    re.compile(rf"(?:[ND]:?[fvkVAIRx]{{0,6}}?[fq(]{{0,4}}?|W[fqkAI(]{{0,3}}?)(?P<labels>{_CLOSED})"),
    re.compile(r"(?P<labels>[Ll])[q)]{0,4}(?:f{0,2}D|[vxf]{1,3}X)"),
    re.compile(r"(?P<labels>[Ll])[q)]{0,4}[:-]?q{0,3}[WX](?=[q.,]{0,4}(?:[\n.,]|$))"),  # "x: no"
    re.compile(r"(?P<labels>[Ll])[q)]{0,4}[,.]?b,?f{1,2}D(?![fkqx]{0,5}[LlZ])"),  # "x, but that is not it"
)
_ASKED = (re.compile(r"(?P<labels>[Ll])[q)]{0,4}\?"),)
_OPEN = (re.compile(rf"U[^.?\n,:bFLl]{{0,30}}?(?P<labels>{_LIST})"),)
_CLEARING = (("o", _MEASURES), ("Z", _NEGATED), ("Y", _OPEN), ("o", _BESIDE), ("Q", _ASKED))
"""Labels that are not asserted, the clearest first; the last two kinds are kept if no other label is left."""
_RATIO = re.compile(r"[Ll][qk]{0,4}[/O]q{0,4}(?P<labels>[Ll])")
_LISTED = re.compile(r"\n[q(-]{0,12}(?:d[.)])?[qx]{0,4}(?P<label>[Ll])")
_CORRECTION = re.compile(r"(?:^|[\n.?,])q{0,4}[WR]?,?R[fR,]{0,3}[,.:]")
_NEXT_EXAMPLE = re.compile(r"\n[q]{0,6}I[q]{0,4}:")

_KEY = r"(?<!t)k"
_LABEL = "(?P<label>[Llu])"
_ONE_LINE = r"[fxyduoZY()q.-]"
_EVIDENCE: Mapping[int, tuple[re.Pattern[str], ...]] = {
    rank: tuple(map(re.compile, patterns))
    for rank, patterns in {
        FINAL: (
            # "so the label is x"; "final answer: I think of x"; a final answer that is not a label
            rf"F[fqkvVAe,:>(|\nR-]{{0,12}}{_LABEL}",
            r"F[q(]{0,3}(?:k[fAqI]{0,3})?[:>v|-][^.?\n]{0,60}?(?P<label>[Ll])",
            r"F[q)]{0,4}(?:k[fAqI]{0,3}[q)]{0,4})?:(?P<label>)(?P<value>[^Ll\n]{0,200})(?=\n|\Z)",
        ),
        NAMED: (
            # "intent: x" and "I choose x"; "intent: the customer means x"; a title and then x;
            # a named answer that is not a label; "x is the best label"
            rf"(?:{_KEY}[fAqxI]{{0,5}}[v:>|-]|V)[fqvkVAIe:>(]{{0,10}}[fq\n]{{0,8}}{_LABEL}",
            rf"{_KEY}[fAqI]{{0,3}}[:>|][^.?\n]{{0,60}}?(?P<label>[Ll])",
            rf"(?:^|\n)q{{0,4}}[fx]{{0,3}}k[q:]{{0,6}}\n{{1,3}}[q-]{{0,6}}{_LABEL}(?=[q.]{{0,6}}(?:\n|$))",
            rf"{_KEY}[q)]{{0,4}}[:>](?P<label>)(?P<value>{_ONE_LINE}{{1,12}})(?=\n|\Z|,q{{0,3}}[kAPx])",
            r"(?P<label>[Ll])[q)]{0,4}vf{1,4}k",
        ),
        OPENING: (
            r"\A[q(\n-]{0,12}(?:d[.)]q{0,4})?(?P<label>[Ll])[q)]{0,6}(?=[,.:(\n-]|e|\Z)"
            r"(?![q),.:(\n-]{0,12}(?:d[.)])?q{0,6}[Ll])",
        ),
        MARKED: (r"[q(](?P<label>[Ll])(?=[q)])", r"(?P<label>L)"),
        PLAIN: (r"(?P<label>l)",),
    }.items()
}
_LINE = re.compile(  # a label alone, a list number before it, its confidence or a "because" after it
    r"[q(:-]{0,12}(?:d[.)]q{0,6})?(?P<label>[Ll])[q).,]{0,12}(?:[(,:q-]{0,4}P?[:v,q]{0,4}dy?[)q.]{0,6})?"
    r"(?:,?e[^Ll]{0,200}|\([^Ll]{0,60}\)[q.]{0,6})?"
)


class Evidence(NamedTuple):
    """A label, or a value that is none (then without codes), that is an answer in a shape."""

    at: int
    codes: frozenset[int]
    value: tuple[int, int]


_Groups: TypeAlias = dict[int, frozenset[int]]


class Reading(NamedTuple):
    """What a shape says.

    Parameters
    ----------
    codes : frozenset of int
        Distinct labels of the deciding evidence: one is the answer, several are ambiguous.
    rank : int
        Kind of the deciding evidence, 0 where there is none.
    at : int
        Its position.
    value : tuple of int
        Start and end of a final or named answer that is not a label.
    letters : str
        The shape, cleared.
    """

    codes: frozenset[int]
    rank: int
    at: int
    value: tuple[int, int]
    letters: str


def read_letters(shape: Shape) -> Reading:
    """Return what a shape says.

    Examples
    --------
    >>> read_letters(Shape("kLcL.", {1: 7, 3: 4}, range(6), ["intent", "a", "or", "b", "."])).codes
    frozenset({4, 7})
    """
    letters = _drop_ratios(shape)
    places = [match.start() for match in _ANY_LABEL.finditer(letters)]
    codes = list(dict.fromkeys(shape.codes[at] for at in places))
    numbers = tuple(codes.index(shape.codes[at]) for at in places[:_FEW])
    if len(places) > _FEW or len(letters) > _SHORT:
        return _answer(letters, {at: shape.codes[at] for at in places})
    found = _cached_answer(letters, numbers)
    return found._replace(codes=frozenset(codes[number] for number in found.codes))


@lru_cache(maxsize=20_000)
def _cached_answer(letters: str, numbers: tuple[int, ...]) -> Reading:
    """Return the result for a short shape, with its labels numbered: most responses have the same shape."""
    places = (match.start() for match in _ANY_LABEL.finditer(letters))
    return _answer(letters, dict(zip(places, numbers, strict=True)))


def _answer(letters: str, codes: Mapping[int, int]) -> Reading:
    """Return what letters say; a named or opening answer before an invented next example ends the text."""
    cleared = (clear(letters, _CLEARING[:number]) for number in (5, 4, 3))  # see `_CLEARING`
    letters = next((text for text in cleared if _ANY_LABEL.search(text)), clear(letters))
    first = _ANY_LABEL.search(letters)
    extra = _NEXT_EXAMPLE.search(letters, first.end()) if first else None
    if extra:
        before = _decide(letters[: extra.start()], codes)
        if before.rank >= OPENING and len(before.codes) == 1:
            return before
    return _decide(letters, codes)


def clear(letters: str, kinds: Sequence[tuple[str, Sequence[re.Pattern[str]]]] = _CLEARING) -> str:
    """Return the letters with the labels that are not asserted under other letters.

    Beside the matter ``o``, ruled out ``Z``, left open ``Y``, asked about ``Q``.

    Examples
    --------
    >>> clear("fvNL.fvL.")
    'fvNZ.fvL.'
    """
    for letter, patterns in kinds:
        for pattern in patterns:
            letters = _replace_labels(letters, pattern, letter)
    return letters


def _replace_labels(letters: str, pattern: re.Pattern[str], letter: str) -> str:
    out, done = [], 0
    for match in pattern.finditer(letters):
        low, high = match.span("labels")
        out += [letters[done:low], _ANY_LABEL.sub(letter, letters[low:high])]
        done = high
    return "".join((*out, letters[done:])) if out else letters


def _drop_ratios(shape: Shape) -> str:
    """Take the 5 of "4/5" and of "4 out of 5" for no label."""
    if not _RATIO.search(shape.letters):
        return shape.letters
    letters = list(shape.letters)
    for match in _RATIO.finditer(shape.letters):
        low, high = match.start(), match.start("labels")
        if shape.words(low, low + 1).isdigit() and shape.words(high, high + 1).isdigit():
            letters[high] = "d"
    return "".join(letters)


def _decide(letters: str, codes: Mapping[int, int]) -> Reading:
    groups = _groups(letters, codes)
    for rank in range(FINAL, 0, -1):
        best = _valid_evidence(letters, groups, rank, list(_evidence(letters, groups, rank)))
        if best:
            found = frozenset[int]().union(*(item.codes for item in best))
            return Reading(found, rank, best[-1].at, best[-1].value, letters)
    return Reading(frozenset(), 0, -1, (0, 0), letters)


def _valid_evidence(letters: str, groups: _Groups, rank: int, evidence: list[Evidence]) -> list[Evidence]:
    """Return the evidence of one rank that counts: not taken back ("Wait, …"), not one of a list."""
    if not evidence:
        return []
    turn = max(
        (m.end() for m in _CORRECTION.finditer(letters) if m.end() <= max(groups, default=-1)), default=0
    )
    best = sorted((item for item in evidence if item.at >= turn), key=lambda item: item.at)
    if rank == OPENING:
        listed = {code for match in _LISTED.finditer(letters) for code in groups[match.start("label")]}
        best = [item for item in best if not listed - item.codes]
    if rank == FINAL:
        return [item for item in best if item.at == best[-1].at]
    best = [item for item in best if item.codes] or best
    turn = letters.rfind("R", 0, best[-1].at) if best else 0
    return [item for item in best if item.at > turn]


def _evidence(letters: str, groups: _Groups, rank: int) -> Iterator[Evidence]:
    for pattern in _EVIDENCE[rank]:
        for match in pattern.finditer(letters):
            at = match.start("label")
            value = match.span("value") if "value" in pattern.groupindex else (at, at + 1)
            yield Evidence(at, groups.get(at, frozenset()), value)
    last = _last_line(letters) if rank == FINAL else -1
    if last >= 0:
        yield Evidence(last, groups[last], (last, last + 1))


def _groups(letters: str, codes: Mapping[int, int]) -> _Groups:
    """Return, for each label, the codes of the labels that it is joined to by commas, "or" and "and"."""
    groups: _Groups = {}
    for match in _GROUP.finditer(letters):
        members = [at for at in range(*match.span()) if letters[at] in "Ll"]
        groups.update(dict.fromkeys(members, frozenset(codes[at] for at in members)))
    return groups


def _last_line(letters: str) -> int:
    """Return the position of a label that is the whole last line with a label, after prose; else -1."""
    lines = letters[: max(letters.rfind("L"), letters.rfind("l")) + 1].count("\n")
    starts, rows = [0], letters.split("\n")
    for row in rows[:lines]:
        starts.append(starts[-1] + len(row) + 1)
    filled = [number for number, row in enumerate(rows[: lines + 1]) if row.strip("q-.()")]
    alone = {number: match for number in filled if (match := _LINE.fullmatch(rows[number]))}
    if len(filled) < 2 or lines not in alone or len(alone) == len(filled):
        return -1
    if filled[-2] in alone and filled[-2] == lines - 1:
        return -1
    return starts[lines] + alone[lines].start("label")


class Outcome(NamedTuple):
    """What one text gave: code of the label or -1, reason, format, and a note on an error."""

    code: int
    reason: str = ""
    format: str = ""
    note: str = ""


def label_outcome(code: int, format_: str) -> Outcome:
    """Return the outcome of a text that gave a label.

    Examples
    --------
    >>> label_outcome(3, "json")
    Outcome(code=3, reason='', format='json', note='')
    """
    return Outcome(code, "", format_)


def failure(reason: str, note: str = "") -> Outcome:
    """Return the outcome of a text that gave none.

    Examples
    --------
    >>> failure("refusal").code
    -1
    """
    return Outcome(UNPARSED, reason, "", note)


_SEARCHED = 2_000
"""Characters at either end of a text in which a refusal is sought: it opens or closes an answer, and the
middle of a long one may quote another's (chosen by hand)."""
_WORDS = r"(?:[\w']{1,30} ){0,3}?"
_CANNOT = (
    "can ?not|can'?t|could ?n[o']t|couldn't|unable to|not able to|won't|will not|refuse to|decline to"
    "|not possible to"
)
_ACTS = (
    "help|assist|determine|classif|categori|identif|provide|answer|fulfil|comply|process|decide|tell|say|label"
    "|assign|proceed|engage|discuss|respond|complete|make"
)
_HELP = re.compile(
    r"\bas an? (?:ai|large language|language) ?(?:model|assistant)?\b"
    rf"|\b(?:{_CANNOT}) {_WORDS}(?:{_ACTS})"
    r"|\bi must decline|\bagainst my (?:guidelines|polic|programming)"
    r"|抱歉|对不起|无法|申し訳|できません|죄송"
)
_VAGUE = re.compile(
    r"\b(?:sorry|apolog\w{1,10}|insufficient|ambiguous|unclear|out of scope|inappropriate"
    r"|i (?:do not|don't) (?:know|have)"
    r"|not (?:sure|clear|possible|certain|enough|applicable|allowed|permitted)"
    rf"|(?:need|require|provide) {_WORDS}(?:information|context|details?|text|input|message|query)"
    rf"|(?:more|additional|further|enough|without) {_WORDS}(?:information|context|details?|data)"
    rf"|(?:does not|doesn't|do not|don't) {_WORDS}(?:fit|match|belong|correspond|fall)"
    rf"|(?:cannot|can't|could not) be {_WORDS}(?:determined|classified|categori[sz]ed|identified)"
    r"|no \w{1,30} (?:match|fit|appl)"
    r"|no (?:suitable|matching|appropriate|relevant|clear|applicable|such) "
    r"|tut mir leid|kann (?:ich )?nicht|désolé|je ne (?:peux|suis|sais)|lo siento|no puedo"
    r"|mi dispiace|non posso|não posso|desculpe)"
)
_LABEL_WORDS = 5
"""Words up to which an answer may be a name that is not declared: more are a sentence (chosen by hand)."""
_NAME = re.compile(r"[q(\n-]*(?:d[.)]q*)?[fxyduRVvAbcFkPISNDXUWeO]{1,9}[q).\n]*")
_FRAME = re.compile(r"[q(\n-]*[fI]{0,3}[Fk]{1,2}[fAI]{0,3}q{0,4}[:v>-]{1,3}")
_TAGS = re.compile(r"(?:[qt][kAxu]>|[q\n])*")
_UNKNOWN = re.compile(r"[q(\n.-]*u[q).,\n]*")


def is_refusal(text: str) -> bool:
    """Return whether a text says that no answer will be given, at its beginning or end.

    Examples
    --------
    >>> is_refusal("As an AI language model, I cannot determine the intent.")
    True
    >>> is_refusal("Sorry to hear that! This is about card arrival.")
    False
    """
    return bool(_HELP.search(_searched_text(text)))


def failure_reason(text: str, shape: Shape, reading: Reading) -> str:
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
    folded = _searched_text(text)
    if "u" in reading.letters[low:high] and _UNKNOWN.fullmatch(reading.letters[low:high]):
        return "unknown_label"
    if left_open or _HELP.search(folded) or _VAGUE.search(folded):
        return "refusal"
    return "unknown_label" if _is_name(shape, reading, low, high) else "no_label"


def _searched_text(text: str) -> str:
    ends = text if len(text) <= 2 * _SEARCHED else f"{text[:_SEARCHED]}\n{text[-_SEARCHED:]}"
    return re.sub(r"\s+", " ", ends.casefold())


def _is_null(shape: Shape, low: int, high: int) -> bool:
    """Return whether units contain no word, or "none", perhaps after a name ("Intent: N/A")."""
    if _TAGS.fullmatch(shape.letters, low, high):
        return True
    frame = _FRAME.match(shape.letters, low, high)
    inner = shape.words(frame.end() if frame else low, high)
    return not inner or inner in NULL_ANSWERS or shape.words(low, high) in NULL_ANSWERS


def _is_name(shape: Shape, reading: Reading, low: int, high: int) -> bool:
    """Return whether units look like a label: an identifier, or a few words that are not a sentence."""
    letters = reading.letters[low:high]
    if "u" in letters:
        return True
    words = shape.words(low, high).split()
    if not reading.rank and ("Z" in letters or ":" in letters):
        return False
    is_short = len(words) <= _LABEL_WORDS and not FUNCTION_WORDS.intersection(words)
    return is_short and bool(_NAME.fullmatch(letters))
