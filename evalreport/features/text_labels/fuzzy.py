"""Guessing a label by similarity: only where the user says so."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from evalreport.features.text_labels.folding import normalise, words_of
from evalreport.features.text_labels.labelset import LabelIndex
from evalreport.features.text_labels.outcomes import Outcome, parsed

_LONGEST = 120
"""Characters: what is longer is a sentence, no misspelt label."""
_LIKE = 0.8
"""Ratcliff and Obershelp's measure from which a label is alike enough: of ten letters two may differ.
Chosen by hand: it has to be asked for (`--fuzzy`), and is told."""
_AHEAD = 0.05
"""By how much the likest label must be ahead of the next: half a letter of ten (chosen by hand)."""
_SHORTEST_STEM = 4
"""Letters: fewer begin words of any kind."""
_AFTER_SIGN = re.compile(r"^.*[:=>]\s*", re.DOTALL)


def guess(text: str, index: LabelIndex, outcome: Outcome) -> Outcome:
    """Return the label most like the last words of a text, or the outcome as it was.

    A text that is the beginning of one label alone stands for it; else the likest label counts, if it is
    alike enough (0.8 of Ratcliff and Obershelp's measure) and ahead of the next.

    Examples
    --------
    >>> from evalreport.features.text_labels.outcomes import unparsed
    >>> index = LabelIndex(("card_arrival", "card_linking"))
    >>> guess("Intent: card_arri", index, unparsed("unknown_label")).code
    0
    >>> guess("card", index, unparsed("unknown_label")).code
    -1
    """
    if outcome.reason not in ("unknown_label", "no_label"):
        return outcome
    said = "_".join(words_of(_AFTER_SIGN.sub("", normalise(text[-2 * _LONGEST :]).strip())))
    if not _SHORTEST_STEM <= len(said) <= _LONGEST:
        return outcome
    names = ["_".join(words_of(label)) for label in index.labels]
    begun = [code for code, name in enumerate(names) if name.startswith(said)]
    if len(begun) == 1:
        return parsed(begun[0], "fuzzy")
    ranked = sorted(_alike(said, names), reverse=True)[:2]
    if not ranked or (len(ranked) > 1 and ranked[0][0] - ranked[1][0] < _AHEAD):
        return outcome
    return parsed(ranked[0][1], "fuzzy")


def _alike(said: str, names: list[str]) -> list[tuple[float, int]]:
    matcher = SequenceMatcher(None, b=said, autojunk=False)
    found = []
    for code, name in enumerate(names):
        matcher.set_seq1(name)
        if (
            matcher.real_quick_ratio() >= _LIKE
            and matcher.quick_ratio() >= _LIKE
            and matcher.ratio() >= _LIKE
        ):
            found.append((matcher.ratio(), code))
    return found
