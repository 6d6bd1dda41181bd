"""The parser `regex:PATTERN`: what the user's expression captures.

Safe against any expression on any text: it is run by RE2 (through Arrow), which has no backtracking; its
time grows with the length of the text times the size of the expression, and that product is bounded here.
The price is RE2's syntax: no look-around, no back-references.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from evalreport.core.errors import UsageError
from evalreport.features.text_labels.labelset import LabelIndex
from evalreport.features.text_labels.outcomes import Outcome, parsed, unparsed

_WORK = 20_000_000
"""Steps (characters times states) for one text: about a tenth of a second."""
_LARGEST = 2_000
"""States of an expression, its counted repeats written out."""
_PROPERTY = 20
"""States of a Unicode class, about."""
_GROUP = "label"
_LEXEME = re.compile(
    r"\\Q.*?(?:\\E|\Z)|\\p\{[^}]*\}|\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]"
    r"|\(\?P?<\w+>|\(\?[a-zA-Z-]*[:)]|[()]|\{\d*,?\d*\}|.",
    re.DOTALL,
)


class Pattern(NamedTuple):
    """An expression ready for RE2: its text with the group ``label``, and its size in states."""

    text: str
    size: int


def compile_pattern(pattern: str) -> Pattern:
    r"""Return the user's expression, checked.

    What counts is the group named ``label``; without one the first group; without any the whole match.

    Raises
    ------
    UsageError
        An expression that is none, or that RE2 does not know, or too large.

    Examples
    --------
    >>> compile_pattern(r"intent=(\w+)")
    Pattern(text='intent=(?P<label>\\w+)', size=12)
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    size = _size(pattern)
    if size > _LARGEST:
        raise _refused(f"it has {size} states, over {_LARGEST}")
    text = _with_group(pattern)
    if text.count(f"<{_GROUP}>") > 1:
        raise _refused(f"it has two groups named {_GROUP}")
    try:
        pc.match_substring_regex(pa.array([""]), pattern)
        pc.struct_field(pc.extract_regex(pa.array([""]), text), _GROUP)
    except (pa.ArrowInvalid, UnicodeEncodeError) as error:
        raise _refused(str(error).removeprefix("Invalid regular expression: ")) from None
    return Pattern(text, size)


def search(
    pattern: Pattern, texts: Sequence[str], index: LabelIndex, why: Callable[[str], str]
) -> list[Outcome]:
    """Return the outcome of each text: the label that the first match captures.

    A text longer than the bound on the work allows is searched at its beginning and its end.

    Parameters
    ----------
    pattern : Pattern
    texts : sequence of str
    index : LabelIndex
    why : callable
        Returns the reason for a text without a match.

    Examples
    --------
    >>> search(compile_pattern("=(.*)"), ["x=Yes", "x"], LabelIndex(("yes", "no")), lambda text: "no_label")
    [Outcome(code=0, ...'pattern', note=''), Outcome(code=-1, reason='no_label', format='', note='')]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    window = max(_WORK // pattern.size, 2)
    cut = [
        _utf8(text if len(text) <= window else f"{text[: window // 2]}\n{text[-window // 2 :]}")
        for text in texts
    ]
    matches = pc.struct_field(pc.extract_regex(pa.array(cut, pa.large_string()), pattern.text), _GROUP)
    return [_outcome(found, text, index, why) for found, text in zip(matches.to_pylist(), texts, strict=True)]


def _outcome(found: str | None, text: str, index: LabelIndex, why: Callable[[str], str]) -> Outcome:
    if not found:
        return unparsed(why(text))
    code = index.whole(found)
    return parsed(code, "pattern") if code >= 0 else unparsed("unknown_label")


def _with_group(pattern: str) -> str:
    """Return an expression in which the group that counts has its name, the plain others none."""
    if f"(?P<{_GROUP}>" in pattern or f"(?<{_GROUP}>" in pattern:
        return "".join("(?:" if part == "(" else part for part in _lexemes(pattern))
    parts = list(_lexemes(pattern))
    first = next((at for at, part in enumerate(parts) if part == "(" or re.match(r"\(\?P?<", part)), None)
    if first is None:
        return f"(?P<{_GROUP}>{pattern})"
    parts = ["(?:" if part == "(" else part for part in parts]
    parts[first] = f"(?P<{_GROUP}>"
    return "".join(parts)


def _lexemes(pattern: str) -> Iterator[str]:
    return (match[0] for match in _LEXEME.finditer(pattern))


def _size(pattern: str) -> int:
    """Return about how many states an expression has, its counted repeats written out."""
    outer: list[int] = []
    total, last = 1, 0
    for part in _lexemes(pattern):
        if part[0] == "(" and part[-1] != ")":
            outer.append(total)
            total = 0
        elif part == ")":
            last = total + 2
            total = last + (outer.pop() if outer else 0)
        elif part[0] == "{" and len(part) > 1:
            times = max([int(number) for number in re.findall(r"\d+", part)], default=1)
            total += last * max(times - 1, 0)
        else:
            last = len(part) if part.startswith(r"\Q") else _PROPERTY if r"\p" in part.lower() else 1
            total += last
    return total


def _utf8(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _refused(why: str) -> UsageError:
    return UsageError(
        f"regex: cannot be used: {why}",
        where="parser",
        fix="write it in RE2's syntax, without look-around and back-references",
    )
