"""Which fonts figures are drawn with: matplotlib's own, and installed ones for the scripts that it lacks."""

from __future__ import annotations

import re
from collections.abc import Iterable

OWN = "DejaVu Sans"
"""Comes with matplotlib: Latin, Greek, Cyrillic, Arabic and (not bold) Hebrew letters, no Chinese ones."""
OTHERS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Noto Sans JP",
    "Noto Sans KR",
    "Source Han Sans SC",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "IPAGothic",
    "NanumGothic",
    "PingFang SC",
    "Hiragino Sans",
    "Apple SD Gothic Neo",
    "Microsoft YaHei",
    "Yu Gothic",
    "Malgun Gothic",
    "Arial Unicode MS",
    "Noto Sans Devanagari",
    "Nirmala UI",
    "Noto Sans Bengali",
    "Noto Sans Tamil",
    "Noto Sans Thai",
    "Leelawadee UI",
    "Noto Sans Ethiopic",
    "Noto Sans Symbols 2",
    "Noto Emoji",
)
"""Fonts of Linux, macOS and Windows, asked in this order, so that one machine always draws alike."""
SHAPED = (3, 11)
"""Version of matplotlib from which on letters are joined and words run from right to left."""
MISSING = re.compile(r"Glyph (\d+) ")
"""How matplotlib warns of a character that no font has."""
RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
MOST = 10
"""Characters that a warning lists."""


def families() -> list[str]:
    """Return the fonts to draw with, each for what those before it lack."""
    from matplotlib.font_manager import fontManager

    installed = {entry.name for entry in fontManager.ttflist}
    return [OWN, *(name for name in OTHERS if name in installed)]


def undrawn(warned: Iterable[str], words: str) -> str:
    """Return what a reader of a drawing must know of its letters; nothing where all are drawn right.

    Parameters
    ----------
    warned : iterable of str
        What matplotlib warned of while it drew.
    words : str
        Everything that was drawn.

    Examples
    --------
    >>> undrawn(["Glyph 26085 (CJK) missing from font(s) DejaVu Sans."], "日")
    'no installed font has 日: boxes stand in their place; install one that does, such as Noto Sans CJK'
    """
    found = (match for text in warned if (match := MISSING.search(text)))
    lacking = list(dict.fromkeys(chr(int(match[1])) for match in found))
    if lacking:
        more = f" and {len(lacking) - MOST} more characters" if len(lacking) > MOST else ""
        named = " ".join(lacking[:MOST]) + more
        remedy = "install one that does, such as Noto Sans CJK"
        return f"no installed font has {named}: boxes stand in their place; {remedy}"
    if RIGHT_TO_LEFT.search(words) and not _shapes():
        return (
            "this matplotlib draws Arabic and Hebrew letter by letter from the left: take 3.11 or later, or "
            "print the page from a browser"
        )
    return ""


def _shapes() -> bool:
    """Whether words that run from right to left are drawn as they are written."""
    import matplotlib as mpl

    return mpl.__version_info__[:2] >= SHAPED
