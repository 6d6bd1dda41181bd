"""What the shape of an answer says: which label is the answer, or why there is none.

Each rule is one regular expression over the letters of `cues.py`, with bounded repeats, so that reading
takes time in proportion to the text. First the labels that are ruled out, left open or beside the matter
are taken from the shape; then the strongest kind of evidence that names a label decides:

1. an announced final answer, or the last line alone being a label ("Final answer: x");
2. a named answer ("Intent: x", ``"label": "x"``, ``<label>x</label>``, "I classify this as x");
3. a label that opens the text ("x, because …");
4. a label that is set off or written as declared;
5. a label written in plain words.

Two labels of the strongest kind are ambiguous, save that the last final answer counts, and the last
answer after a correction. A final or named answer that is no label outranks any label named elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from evalreport.parsing.trie import Shape

FINAL, NAMED, OPENING, MARKED, PLAIN = 5, 4, 3, 2, 1

_JOIN = r"[q)]{0,4}(?:,?[c/|]|,)[fqR(]{0,4}"
_LIST = rf"[Ll](?:{_JOIN}[Ll]){{0,50}}"
_CLOSED = (
    r"[Ll](?:(?:[q)]{0,4},[fq(]{0,4}[Ll]){0,50}?(?:[q)]{0,4},?[c/|][fq(]{0,4}[Ll]){1,50})?"  # "a, b or c"
)
_GROUP = re.compile(_LIST)
_BESIDE = (
    re.compile(r"P[fq:v>(|-]{1,5}(?P<labels>[Ll])"),  # "confidence: high"
    re.compile(r"(?P<labels>[Ll])(?=P(?![q]{0,3}[:v(d]))"),  # "high confidence"
    re.compile(  # "Reason: …" to the end of the line, or to the next cue
        r"(?:^|[\n{,(<;.])[q-]{0,6}[fxd.]{0,2}A[q)]{0,4}[:>](?P<labels>(?:(?!k[fAqI]{0,3}[v:>])[^\nF])*)"
    ),
)
_NEGATED = (
    re.compile(rf"(?:[ND][fqvkVAIRx(:]{{0,6}}?|W[fqkAI(]{{0,3}}?)(?P<labels>{_CLOSED})"),
    re.compile(r"(?P<labels>[Ll])[q)]{0,4}(?:f{0,2}D|[vxf]{1,3}X)"),
)
_OPEN = (re.compile(rf"U[^.?\n,:bFLl]{{0,30}}?(?P<labels>{_LIST})"),)
_CLEARING = (("o", _BESIDE), ("Z", _NEGATED), ("Y", _OPEN))
_RATIO = re.compile(r"[Ll][/O](?P<labels>[Ll])")
_NEXT_EXAMPLE = re.compile(r"\n[q]{0,6}I[q]{0,4}:")

_KEY = r"(?<!t)k"
_LABEL = "(?P<label>[Llu])"
_ONE_LINE = r"[fxyduoZY()q.-]"
_EVIDENCE: tuple[tuple[int, re.Pattern[str]], ...] = (
    (FINAL, re.compile(rf"F[fqkvVAe,:>(|\nR-]{{0,12}}{_LABEL}")),
    (FINAL, re.compile(r"F[q(]{0,3}(?:k[fAqI]{0,3})?[:>v|-][^.?\n]{0,60}?(?P<label>[Ll])")),
    (FINAL, re.compile(r"F[q)]{0,4}(?:k[fAqI]{0,3}[q)]{0,4})?:(?P<label>)(?P<value>[^Ll\n]*)(?=\n|\Z)")),
    (
        NAMED,
        re.compile(rf"(?:{_KEY}[fAqxI]{{0,5}}[v:>|-]|V)[fqvkVAIe:>(]{{0,10}}\n{{0,2}}[fq]{{0,6}}{_LABEL}"),
    ),
    (NAMED, re.compile(rf"{_KEY}[fAqI]{{0,3}}[:>|][^.?\n]{{0,60}}?(?P<label>[Ll])")),
    (
        NAMED,
        re.compile(
            rf"(?:^|\n)q{{0,4}}[fx]{{0,3}}k[q:]{{0,6}}\n{{1,3}}[q-]{{0,6}}{_LABEL}(?=[q.]{{0,6}}(?:\n|$))"
        ),
    ),
    (
        NAMED,
        re.compile(
            rf"{_KEY}[q)]{{0,4}}[:>](?P<label>)(?P<value>{_ONE_LINE}{{1,12}})(?=\n|\Z|,q{{0,3}}[kAPx])"
        ),
    ),
    (
        OPENING,
        re.compile(
            r"\A[q(\n-]{0,12}(?:d[.)]q{0,4})?(?P<label>[Ll])[q)]{0,6}(?=[,.:>(\n-]|e|\Z)"
            r"(?![q),.:(\n-]{0,12}(?:d[.)])?q{0,6}[Ll])"
        ),
    ),
    (MARKED, re.compile(r"[q(](?P<label>[Ll])(?=[q)])")),
    (MARKED, re.compile(r"(?P<label>L)")),
    (PLAIN, re.compile(r"(?P<label>l)")),
)
_LINE = re.compile(
    r"[q(-]{0,12}(?:d[.)]q{0,6})?(?P<label>[Ll])[q).,]{0,12}(?:[(,:q-]{0,4}P?[:v,q]{0,4}dy?[)q.]{0,6})?"
)


class Evidence(NamedTuple):
    """A label, or a value that is none (then without codes), that stands as an answer in a shape."""

    rank: int
    at: int
    codes: frozenset[int]
    value: tuple[int, int]


class Reading(NamedTuple):
    """What a shape says.

    Parameters
    ----------
    codes : frozenset of int
        Distinct labels of the deciding evidence: one is the answer, several are ambiguous.
    rank : int
        Kind of the deciding evidence, 0 where there is none.
    at : int
        Where it stands.
    value : tuple of int
        From and to where a final or named answer stands that is no label.
    letters : str
        The shape, cleared.
    """

    codes: frozenset[int]
    rank: int
    at: int
    value: tuple[int, int]
    letters: str


def read(shape: Shape) -> Reading:
    """Return what a shape says.

    A named or opening answer before an invented next example ("Text: …") ends the text.
    """
    letters = clear(shape)
    first = re.search("[Ll]", letters)
    extra = _NEXT_EXAMPLE.search(letters, first.end()) if first else None
    if extra:
        before = _decide(shape, letters[: extra.start()])
        if before.rank >= OPENING and len(before.codes) == 1:
            return before
    return _decide(shape, letters)


def clear(shape: Shape) -> str:
    """Return the letters with labels ruled out as ``Z``, left open as ``Y``, beside the matter as ``o``."""
    letters = _drop_ratios(shape)
    for letter, patterns in _CLEARING:
        for pattern in patterns:
            letters = _replaced(letters, pattern, letter)
    return letters


def _replaced(letters: str, pattern: re.Pattern[str], letter: str) -> str:
    out, done = [], 0
    for match in pattern.finditer(letters):
        low, high = match.span("labels")
        out += [letters[done:low], re.sub("[Ll]", letter, letters[low:high])]
        done = high
    return "".join((*out, letters[done:])) if out else letters


def _drop_ratios(shape: Shape) -> str:
    """Take the 5 of "4/5" and of "4 out of 5" for no label."""
    letters = shape.letters
    for match in _RATIO.finditer(letters):
        low, high = match.start(), match.start("labels")
        if shape.words(low, low + 1).isdigit() and shape.words(high, high + 1).isdigit():
            letters = f"{letters[:high]}d{letters[high + 1 :]}"
    return letters


def _decide(shape: Shape, letters: str) -> Reading:
    evidence = list(_evidence(shape, letters))
    if not evidence:
        return Reading(frozenset(), 0, -1, (0, 0), letters)
    rank = max(item.rank for item in evidence)
    best = sorted((item for item in evidence if item.rank == rank), key=lambda item: item.at)
    if rank == FINAL:
        best = [item for item in best if item.at == best[-1].at]
    else:
        best = [item for item in best if item.codes] or best
        turn = letters.rfind("R", 0, best[-1].at)
        best = [item for item in best if item.at > turn]
    codes = frozenset[int]().union(*(item.codes for item in best))
    return Reading(codes, rank, best[-1].at, best[-1].value, letters)


def _evidence(shape: Shape, letters: str) -> Iterator[Evidence]:
    if not re.search("[Llku]|F", letters):
        return
    groups = _groups(shape, letters)
    for rank, pattern in _EVIDENCE:
        for match in pattern.finditer(letters):
            at = match.start("label")
            value = match.span("value") if "value" in pattern.groupindex else (at, at + 1)
            yield Evidence(rank, at, groups.get(at, frozenset()), value)
    last = _last_line(letters)
    if last >= 0:
        yield Evidence(FINAL, last, groups[last], (last, last + 1))


def _groups(shape: Shape, letters: str) -> dict[int, frozenset[int]]:
    """Return, for each label, the codes of the labels that it is joined to by commas, "or" and "and"."""
    groups: dict[int, frozenset[int]] = {}
    for match in _GROUP.finditer(letters):
        members = [at for at in range(*match.span()) if letters[at] in "Ll"]
        codes = frozenset(shape.codes[at] for at in members)
        groups.update(dict.fromkeys(members, codes))
    return groups


def _last_line(letters: str) -> int:
    """Return where the label stands that alone is the last line, after lines that are not; else -1."""
    lines = letters.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    filled = [number for number, line in enumerate(lines) if line.strip("q-.()")]
    if len(filled) < 2:
        return -1
    alone = {number for number in filled if _LINE.fullmatch(lines[number])}
    last, before = filled[-1], filled[-2]
    if last not in alone or alone.issuperset(filled) or (before in alone and before == last - 1):
        return -1
    match = _LINE.fullmatch(lines[last])
    return starts[last] + match.start("label") if match else -1
