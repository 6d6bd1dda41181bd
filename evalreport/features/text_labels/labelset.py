"""The label set as the parsers look labels up: exactly, folded, and within a text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from evalreport.core.errors import DataError
from evalreport.features.text_labels.folding import is_word, normalise, spelling, split_camel, words_of
from evalreport.features.text_labels.trie import Node, Shape, Trie, label_trie, read_shape

LONGEST_LABEL = 64
"""Tokens: a longer label is found as a whole answer, not within a text."""


@dataclass(frozen=True)
class LabelIndex:
    """The label set as the parsers look labels up: exactly, folded, and within a text.

    Raises
    ------
    DataError
        A label that is blank, or two that differ only by case, spaces or underscores.

    Examples
    --------
    >>> index = LabelIndex(("card_arrival", "card_linking"))
    >>> index.whole("Card arrival"), index.whole("card")
    (0, -1)
    >>> index.shape("The intent is **card_arrival**, not card_linking.").letters
    'fkvqLq,NL.'
    """

    labels: tuple[str, ...]
    exact: dict[str, int] = field(init=False, repr=False, compare=False)
    _folded: dict[tuple[str, ...], int] = field(init=False, repr=False, compare=False)
    _crowded: frozenset[tuple[str, ...]] = field(init=False, repr=False, compare=False)
    _trie: Trie = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_distinct(self.labels)
        forms = list(_forms(self.labels))
        odd = frozenset(code for code, label in enumerate(self.labels) if _is_odd(label))
        put = object.__setattr__
        put(self, "exact", {label.strip(): code for code, label in enumerate(self.labels)})
        put(self, "_folded", {form: code for form, code, _ in reversed(forms)})
        times = Counter(map(words_of, self.labels))
        put(self, "_crowded", frozenset(words for words, number in times.items() if number > 1))
        put(self, "_trie", label_trie(_root(forms), self.labels, odd))

    def whole(self, text: str) -> int:
        """Return the code of the label that the whole text is, without regard to case and dress; or -1."""
        code = self.exact.get(text.strip(), -1)
        if code >= 0 or len(text) > 50 * LONGEST_LABEL:  # longer than any label of so many tokens
            return code
        tokens = spelling(text)
        code = self._folded.get(tokens, -1)
        words = tuple(filter(is_word, tokens))
        return code if code >= 0 or words in self._crowded else self._folded.get(words, -1)

    def shape(self, text: str) -> Shape:
        """Return the shape of a normalised text; linear in its length."""
        return read_shape(self._trie, text)


def check_distinct(labels: Sequence[str]) -> None:
    """Raise a DataError for a blank label and for two labels that text cannot tell apart.

    Examples
    --------
    >>> check_distinct(["top_up", "Top up"])
    Traceback (most recent call last):
    evalreport.core.errors.DataError: labels 'top_up' and 'Top up' differ only by case, spaces or underscores
    """
    folds: tuple[Callable[[str], object], ...] = (_tight, _key)
    for fold in folds:
        seen: dict[object, str] = {}
        for label in labels:
            key = fold(label)
            if not key:
                raise DataError(
                    f"label {label!r} is blank", fix="an answer without text cannot stand for a label"
                )
            if key in seen:
                raise DataError(
                    f"labels {seen[key]!r} and {label!r} differ only by case, spaces or underscores",
                    where="label set",
                    fix="rename one, or use the parser 'exact', which compares letter for letter",
                )
            seen[key] = label


def _tight(label: str) -> str:
    return re.sub(r"[\s_]+", "", normalise(label).casefold()) or label.strip()


def _key(label: str) -> tuple[str, ...]:
    """Return the tokens of a label, words and signs, without what glues them."""
    return spelling(label) or (label.strip(),)


def _forms(labels: Sequence[str]) -> Iterator[tuple[tuple[str, ...], int, bool]]:
    """Yield (tokens, code, loose) of every way to write every label; the declared way of all comes first.

    A form that two labels share is left out. A loose form is found within a text only where a capital
    letter shows that a name is meant.
    """
    taken = {form: code for code, form in enumerate(map(_key, labels))}
    yield from ((form, code, False) for form, code in taken.items())
    for variant, loose in ((words_of, False), (_camel_words, False), (_compact, True)):
        forms = [variant(label) for label in labels]
        times = Counter(forms)
        for code, form in enumerate(forms):
            if form and form not in taken and times[form] == 1:
                taken[form] = code
                yield form, code, loose


def _camel_words(label: str) -> tuple[str, ...]:
    return words_of(split_camel(label))


def _compact(label: str) -> tuple[str, ...]:
    joined = "".join(words_of(label))
    return (joined,) if joined else ()


def _root(forms: Sequence[tuple[tuple[str, ...], int, bool]]) -> Node:
    root = Node()
    for form, code, loose in forms:
        if (len(form) <= LONGEST_LABEL and any(map(is_word, form))) or _is_pictorial(form):
            node = root.place(form)
            node.code, node.loose = code, loose
    return root


def _is_pictorial(form: Sequence[str]) -> bool:
    """Tell whether a label without words, such as an emoji, may be sought in a text; "-" may not."""
    return all(ord(token[0]) > 0x2190 for token in form)  # arrows, signs and pictures begin there


def _is_odd(label: str) -> bool:
    """Tell whether a label is declared as an identifier, so that in prose its plain words may mean less."""
    return "_" in label.strip("_") or bool(re.search("[a-z][A-Z]", label))
