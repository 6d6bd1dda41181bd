"""Whether a word that is both a label and a word of the language is meant as the label.

"No", "A", "other" and "question" are labels of many label sets and words of every text. In a shape such a
word is ``m``, or ``w`` where its case is not the declared one; it is a label where an answer stands.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_NOUNS = frozenset("kAPI")
_IS_NOUN = re.compile(r"[mw](?=[q)]{0,4}[:>=|-])|[mw](?=[fAqI]{0,3}v)")
_PLACES = tuple(
    map(
        re.compile,
        (
            r"(?m)^[q(-]{0,12}([mw])(?=[q).,?]{0,12}$)",  # alone on its line
            r"\A[q(\n-]{0,12}(?:kq{0,3}[:|-][q(]{0,6})?([mw])(?=[q)]{0,6}(?:[,.:\n()|-]|e|\Z))",  # opens it
            r"[q(]([mw])(?=[q)])",  # set off
            r"[kFV][fAqI]{0,3}[v:>|-][fq(]{0,4}(m)",  # after "the answer is"
            r"[kVF][fq(e]{0,3}(m)(?=[q).,?\n]|\Z)",  # "option A", "I choose B"
            r"F[,fqkv:>(]{0,8}(m)(?=[q).,?\n]|\Z)",
            r"v[fq]{0,3}(m)(?=[q]{0,3}(?:[.,\n]|\Z))",  # "it is other."
            r"(m)(?=[q.]{0,6}\Z)",  # the last word
            r"[.?,:\n][q(]{0,3}(m)(?=[q.]{0,6}\Z)",  # the last word, by itself
            r"[.?\n][q(]{0,3}(m)(?=[q.,]{0,6}(?:\n|\Z))",  # a sentence that ends the line
            r"(m)(?=[q)]{0,2}[vD])",  # "A is wrong"
            r"[NDU][fq]{0,2}(m)(?=[q)]{0,3}(?:[.,cbn\n]|\Z))",  # "not A"
        ),
    )
)
_LAST_WORD = 7
"""Place among these of the last word, which counts alone where the word is no cue of anything else."""
_JOINED = re.compile(r"(?<=[Ll])[q)]{0,3},?[c/|,][fq(]{0,3}(m)")


def settle(letters: str, doubtful: Mapping[int, str]) -> str:
    """Return the shape with each doubtful word as the label ``L`` or as the cue that it else is.

    Parameters
    ----------
    letters : str
        Shape in which the doubtful words are ``m`` or ``w``.
    doubtful : mapping of int to str
        The cue that each is, if it is no label.

    Examples
    --------
    >>> settle("fkvm", {3: "N"}), settle("xxmxx", {2: "N"})
    ('fkvL', 'xxNxx')
    """
    nouns = {at: cue for at, cue in doubtful.items() if cue in _NOUNS}
    settled = list(letters)
    if nouns:
        keys = {match.start() for match in _IS_NOUN.finditer(letters)}
        for at, cue in nouns.items():
            settled[at] = cue if at in keys else "L"
    letters = "".join(settled)
    for number, place in enumerate(_PLACES):
        for match in place.finditer(letters):
            if number != _LAST_WORD or doubtful[match.start(1)] == "x":
                settled[match.start(1)] = "L"
    letters = _JOINED.sub(lambda match: match[0][:-1] + "L", "".join(settled))
    return "".join(
        doubtful[at] if letter in "mw" and at in doubtful else letter for at, letter in enumerate(letters)
    )
