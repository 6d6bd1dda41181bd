"""Text of strangers in Markdown: a run's description, a summary."""

from __future__ import annotations

import re

_LINKED = re.compile(r"(?<=@)(?=\S)|(?<=:)(?=//)|(?<=www)(?=\.)", re.IGNORECASE)
"""Places in what Markdown makes a mention or a link of without a mark: ``@name``, ``http://``, ``www.``."""
_MARKDOWN = re.compile(r"([\\`*_\[\]#|~$])")


def as_text(text: str) -> str:
    """Return text that Markdown shows as it is, on one line; no link and no mention arises from it.

    Addresses and names after ``@`` are broken by a space of no width.

    Examples
    --------
    >>> as_text("a*b <script>")
    'a\\\\*b &lt;script&gt;'
    >>> as_text("@ada http://x.org").replace("\\u200b", "|")
    '@|ada http:|//x.org'
    """
    plain = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKDOWN.sub(r"\\\1", _LINKED.sub("\u200b", plain))
