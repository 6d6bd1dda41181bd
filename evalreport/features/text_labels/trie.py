"""The labels and cues of a text, found in one pass by a trie over its tokens, as a string of letters.

The string, the *shape*, has one letter for each label, cue, word or sign; `cues.py` lists the letters.
"The intent is **card_arrival**, not card_linking." has the shape ``fkvqLq,NL.``; what it means is then
a question of short regular expressions (`rules.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from evalreport.features.text_labels import cues
from evalreport.features.text_labels.doubt import settle
from evalreport.features.text_labels.folding import bare, cased_tokens_of, is_word, spelling, tokens_of

_SEPARATORS = frozenset({":", "=", ">", "|", "- "})
_KEYS = frozenset("kAPI")
_SIGN = {"\n": "\n", **{sign: letter for letter, signs in cues.SIGNS.items() for sign in signs.split()}}


class Node:
    """A place in the trie: what follows, the label that ends here, the cue that ends here."""

    __slots__ = ("code", "cue", "loose", "next")

    def __init__(self) -> None:
        self.next: dict[str, Node] = {}
        self.code = -1
        self.cue = ""
        self.loose = False

    def place(self, form: Sequence[str]) -> Node:
        """Return the node of a sequence of tokens, made if it is not there."""
        node = self
        for token in form:
            node = node.next.setdefault(token, Node())
        return node


@cache
def _cue_root() -> Node:
    root = Node()
    for phrase, letter in cues.phrases().items():
        root.place(spelling(phrase)).cue = letter
    return root


@dataclass(frozen=True)
class Shape:
    """A text as letters.

    Parameters
    ----------
    letters : str
        One letter for each unit.
    codes : mapping of int to int
        Code of the label at a position of `letters`.
    starts : sequence of int
        First token of each unit, and the number of tokens at the end.
    tokens : sequence of str
    """

    letters: str
    codes: dict[int, int]
    starts: Sequence[int]
    tokens: Sequence[str]

    def words(self, low: int, high: int) -> str:
        """Return the words of the units from `low` up to `high`, parted by spaces."""
        inside = self.tokens[self.starts[low] : self.starts[high]]
        return " ".join(bare(token) for token in inside if is_word(token))


class Trie(NamedTuple):
    """The labels in a trie, and what is known of them.

    Parameters
    ----------
    root : Node
    labels : tuple of str
        As declared.
    odd : frozenset of int
        Codes of the labels declared as identifiers: in prose their plain words may mean less.
    plain : mapping of str to str
        Letter of each token that is a cue or a sign by itself and begins no label.
    """

    root: Node
    labels: tuple[str, ...]
    odd: frozenset[int]
    plain: Mapping[str, str]


def label_trie(root: Node, labels: tuple[str, ...], odd: frozenset[int]) -> Trie:
    """Return the labels in their trie, with the letters of all signs and cues that begin nothing longer."""
    alone = {word: node.cue for word, node in _cue_root().next.items() if node.cue and not node.next}
    signs = {sign: letter for sign, letter in _SIGN.items() if sign not in _cue_root().next}
    plain = {word: letter for word, letter in (*alone.items(), *signs.items()) if word not in root.next}
    return Trie(root, labels, odd, plain)


def read_shape(trie: Trie, text: str) -> Shape:
    """Return the shape of a normalised text; linear in its length.

    Examples
    --------
    >>> root = Node()
    >>> root.place(spelling("not spam")).code = 1
    >>> root.place(spelling("spam")).code = 0
    >>> shape = read_shape(label_trie(root, ("spam", "not spam"), frozenset()), "It is not spam.")
    >>> shape.codes.values()  # the longer label, not the one at its end
    dict_values([1])
    """
    reader = _Reader(trie, text)
    reader.read()
    letters = "".join(reader.letters)
    if reader.doubtful:
        letters = settle(letters, reader.doubtful)
    return Shape(letters, reader.codes, [*reader.starts, len(reader.tokens)], reader.tokens)


class _Reader:
    """One pass over the tokens of one text."""

    def __init__(self, trie: Trie, text: str) -> None:
        self.trie = trie
        self.labels = trie.root.next
        self.cues = _cue_root().next
        self.text = text
        self.tokens = tokens_of(text)
        glued = "_" in text or "-" in text
        self.words = [bare(token) for token in self.tokens] if glued else self.tokens
        self.letters: list[str] = []
        self.starts: list[int] = []
        self.codes: dict[int, int] = {}
        self.doubtful: dict[int, str] = {}

    @cached_property
    def cased(self) -> list[str]:
        """The tokens with their case, or those without where folding changed their number."""
        cased = cased_tokens_of(self.text)
        return cased if len(cased) == len(self.tokens) else self.tokens

    def read(self) -> None:
        """Fill letters, starts and codes."""
        at, end, plain = 0, len(self.tokens), self.trie.plain
        while at < end:
            self.starts.append(at)
            letter = plain.get(self.tokens[at])
            if letter:
                self.letters.append(letter)
                at += 1
            elif self.words[at] in self.cues or self.words[at] in self.labels:
                at = self._known(at, end)
            else:
                at = self._stranger(at)

    def _known(self, at: int, limit: int) -> int:
        """Take the longest label or cue that begins here and ends by `limit`; of equal ones the label."""
        label, code = self._find_label(at, limit)
        end, cue = self._find_cue(at, limit)
        if label > at and label >= end:
            return self._label(at, label, code, cue if label == end else "")
        if end == at or self._glue(end - 1):
            return self._stranger(at)
        for inner in range(at + 1, end):  # "is not" before the label "not spam", "is rejected"
            label, _ = self._find_label(inner, len(self.words))
            if label > end or (label == end and self.words[inner] in cues.CONTENT_WORDS):
                return self._known(at, inner)
        self.letters.append(cue)
        return end

    def _find_label(self, at: int, limit: int) -> tuple[int, int]:
        """Return the end and the code of the longest label from `at`."""
        best, here, node = (at, -1), at, self.labels.get(self.words[at])
        while node is not None:
            here += 1
            if node.code >= 0 and self._stands_apart(at, here) and not (node.loose and self._is_small(at)):
                best = (here, node.code)
            node = node.next.get(self.words[here]) if here < limit else None
        return best

    def _find_cue(self, at: int, limit: int) -> tuple[int, str]:
        """Return the end and the letter of the longest cue from `at`."""
        best, here, node = (at, ""), at, self.cues.get(self.words[at])
        while node is not None:
            here += 1
            if node.cue:
                best = (here, node.cue)
            node = node.next.get(self.words[here]) if here < limit else None
        return best

    def _label(self, at: int, end: int, code: int, cue: str) -> int:
        word, position = self.words[at], len(self.letters)
        alone = end == at + 1
        common = alone and word in cues.COMMON_WORDS
        cue = "" if not alone or cue in "XV" or word in cues.CONTENT_WORDS else cue
        small = alone and len(word) == 1 and word.isalpha() and self.cased[at] not in self.trie.labels[code]
        if cue or common or small:
            self.doubtful[position] = cue or "x"
            self.letters.append("w" if small else "m")
        else:
            plain = code in self.trie.odd and not self._is_underscored(at, end)
            self.letters.append("l" if plain else "L")
        self.codes[position] = code
        return end

    def _stands_apart(self, at: int, end: int) -> bool:
        """Tell whether the words from `at` to `end` are whole, not a part of a longer identifier."""
        glue = (self._glue(at - 1) if at else "") + self._glue(end - 1)
        return not glue or ("_" not in glue and self._is_underscored(at, end))

    def _glue(self, at: int) -> str:
        """Return the sign by which a word is glued to the next, or nothing."""
        token = self.tokens[at]
        return token[-1] if is_word(token) and token != self.words[at] else ""

    def _is_underscored(self, at: int, end: int) -> bool:
        return any(self.tokens[here][-1] == "_" for here in range(at, end - 1))

    def _is_small(self, at: int) -> bool:
        return self.cased[at].islower()

    def _stranger(self, at: int) -> int:
        """Take one word or sign that is neither label nor cue, or an identifier as a whole."""
        token = self.tokens[at]
        if not is_word(token):
            self.letters.append(_SIGN.get(token[0], "y"))
        elif token[-1] == "_":
            return self._identifier(at)
        else:
            self.letters.append("d" if token[0].isdigit() and self.words[at][-1].isdigit() else "x")
        return at + 1

    def _identifier(self, at: int) -> int:
        """Take an identifier: a key such as ``final_answer`` before a separator, else an unknown name."""
        end = at
        while self.tokens[end][-1] == "_" and end + 1 < len(self.tokens):
            end += 1
        after = end + 1
        while after < len(self.tokens) and _SIGN.get(self.tokens[after][0]) == "q":
            after += 1
        letter = "u"
        if after < len(self.tokens) and self.tokens[after] in _SEPARATORS:
            letter = self._key(at, end + 1)
        self.letters.append(letter)
        return end + 1

    def _key(self, at: int, end: int) -> str:
        cues_inside = [self._cue(word) for word in self.words[at:end]]
        first = next((cue for cue in "FA" if cue in cues_inside), None)
        return first or next((cue for cue in reversed(cues_inside) if cue in _KEYS), "x")

    def _cue(self, word: str) -> str:
        node = self.cues.get(word)
        return node.cue if node and node.cue else "x"
