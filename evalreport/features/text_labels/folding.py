"""Text as the parsers compare it: normalised, without case, cut into words and signs."""

from __future__ import annotations

import html
import re
import unicodedata

LONGEST_READ = 131_072
"""Characters: of a longer text the first and the last half of this are read."""

_ALONE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""Scripts written without spaces, or with endings glued to the word: each character is a word."""
_MARKS = "\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
_LETTER = rf"(?:[^\W_{_ALONE}]|[{_MARKS}])"
_WORD = "(?:{letter})+(?:(?<=[0-9])(?:[.,:][0-9]+)+(?!{letter}))?(?:'t(?!{letter}))?(?:(?:_+|-)(?={letter}))?"
_RUNS = r"-+[ \t]+|\n|\*+|`+|\.+|#+|\"+|'+|-+|=+|~+|>+|<+|\?+|!+|:+|\\+|\++|[^\w\s]"
_ASCII_TOKEN = re.compile(f"{_WORD.format(letter='[A-Za-z0-9]')}|{_RUNS}")
_TOKEN = re.compile(f"{_WORD.format(letter=_LETTER)}|[{_ALONE}]|{_RUNS}")
_STRUCK = re.compile(r"(?<!~)~~(?!~)[^~\n]{1,200}~~(?!~)|<(?:s|del)>[^<\n]{1,200}</(?:s|del)>")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_CONTROL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|[\x00-\x08\x0e-\x1f\x7f]")
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([nr])(?![a-z])|(?=[_*#\[\](){}\"'`>~|.!&-]))")
_SPECIAL = re.compile(
    r"<\|[^|<>\n]{0,40}\|>|<\uff5c[^<>\n]{0,40}\uff5c>|</?s>|<(?:eos|bos|pad|unk|end_of_turn|start_of_turn)>"
    r"|\[/?INST\]|<</?SYS>>"
)
_FENCE_INFO = re.compile(
    r"(?i)(```|~~~)(?:json[c5l]?|ya?ml|xml|html|te?xt|plain(?:text)?|python|py|markdown|md|csv|toml|bash|sh)(?=\s|[{<\[])"
)
_SIGNS = str.maketrans(
    {
        **dict.fromkeys("\u2019\u02bc\uff07\u2032", "'"),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d", "-"),
        **dict.fromkeys("\u2014\u2015", " - "),
        **dict.fromkeys("\u0085\u2028\u2029", "\n"),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufe0e\ufe0f\ufeff\u200e\u200f\u061c", None),
        **dict.fromkeys("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", None),
    }
)


def normalise(text: str) -> str:
    r"""Return text with one spelling of each sign: entities, escapes, special tokens and controls resolved.

    Case is kept. Linear in the length of the text; of a text over `LONGEST_READ` characters the middle
    is left out.

    Examples
    --------
    >>> normalise("Ham\u00a0&amp;\u00a0eggs\x00 \u2013 card\\_arrival<|im_end|>")
    'Ham & eggs - card_arrival\n'
    """
    text = _ends(text)
    if "<" in text or "[" in text or "~~" in text:
        text = _SPECIAL.sub("\n", _STRUCK.sub(" ", text))
    if "```" in text or "~~~" in text:
        text = _FENCE_INFO.sub(r"\1", text)
    if not text.isascii():
        text = _ends(unicodedata.normalize("NFKC", text)).translate(_SIGNS)
    if "&" in text:
        text = html.unescape(text)
    if "\\" in text:
        text = _whole(_ESCAPED.sub(_unescaped, text))
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if text.isprintable() else _CONTROL.sub("", text)


def _ends(text: str) -> str:
    if len(text) <= LONGEST_READ:
        return text
    return f"{text[: LONGEST_READ // 2]}\n{text[-LONGEST_READ // 2 :]}"


def _unescaped(match: re.Match[str]) -> str:
    if match[1]:
        return chr(int(match[1], 16))
    return "\n" if match[2] else ""


def _whole(text: str) -> str:
    """Join the halves of characters that were escaped as two; a half alone becomes a question mark."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def tokens_of(text: str) -> list[str]:
    """Return the tokens of a normalised text without case: words, numbers, runs of a sign, line ends.

    A word glued to the next by an underscore or a hyphen keeps that sign at its end.

    Examples
    --------
    >>> tokens_of("Not **Card_arrival**!")
    ['not', '**', 'card_', 'arrival', '**', '!']
    """
    return cased_tokens_of(text.casefold())


def cased_tokens_of(text: str) -> list[str]:
    """Return the tokens of a normalised text with their case.

    Examples
    --------
    >>> cased_tokens_of("Not B")
    ['Not', 'B']
    """
    return (_ASCII_TOKEN if text.isascii() else _TOKEN).findall(text)


def bare(token: str) -> str:
    """Return a token without the sign that glues it to the next.

    Examples
    --------
    >>> bare("card_"), bare("--")
    ('card', '--')
    """
    return token.rstrip("_-") or token


def is_word(token: str) -> bool:
    """Tell whether a token is a word or a number, not a sign.

    Examples
    --------
    >>> is_word("card_"), is_word("**")
    (True, False)
    """
    return token[:1].isalnum()


def spelling(text: str) -> tuple[str, ...]:
    """Return the words and signs of a text, without what glues or parts them.

    Examples
    --------
    >>> spelling("Reverted_card payment?")
    ('reverted', 'card', 'payment', '?')
    """
    return tuple(bare(token) for token in tokens_of(normalise(text)) if not token.isspace())


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text, as every parser compares them.

    Examples
    --------
    >>> words_of("Top-up_Failed?")
    ('top', 'up', 'failed')
    """
    return tuple(filter(is_word, spelling(text)))


def split_camel(text: str) -> str:
    """Return text with a space at each turn from a small to a capital letter.

    Examples
    --------
    >>> split_camel("cardArrival")
    'card Arrival'
    """
    return _CAMEL.sub(" ", text)
