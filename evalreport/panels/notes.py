"""What the authors say beside the numbers: intended use, limits, approval; a safe subset of Markdown.

The text is parsed as CommonMark with tables, and only its shape is kept: headings, paragraphs, lists, quotes,
tables, code, stress, and links to other pages. The page's template places the pieces, escaped as all else;
HTML stands there as text, and pictures, which would be fetched, as their words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from evalreport.panels.parts import Section
from evalreport.panels.words import NOTHING

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

ALIKE = {"softbreak": " ", "hardbreak": "\n"}
"""Ends of lines in a paragraph."""
PLACED = {
    "paragraph": "p",
    "blockquote": "blockquote",
    "bullet_list": "ul",
    "ordered_list": "ol",
    "list_item": "li",
    "strong": "strong",
    "em": "em",
    "s": "s",
    "table": "table",
    "thead": "thead",
    "tbody": "tbody",
    "tr": "tr",
    "th": "th",
    "td": "td",
    "code_inline": "code",
    "code_block": "pre",
    "fence": "pre",
    "hr": "hr",
}
"""Elements that a note may hold, by the parser's name; of all else the words stand alone."""
LINKS = ("http", "https", "mailto")


@dataclass(frozen=True)
class NotePiece:
    """A piece of a note: an element with its pieces, or text where there is no element.

    Parameters
    ----------
    tag : str
    text : str
    inner : tuple of NotePiece
    href : str
        Of a link.
    """

    tag: str
    text: str = ""
    inner: tuple[NotePiece, ...] = ()
    href: str = ""


def with_notes(made: Sequence[Section], text: str) -> tuple[Section, ...]:
    """Return the sections of a page with the notes before the origin of the numbers."""
    if not text.strip():
        return tuple(made)
    note = Section("notes", "Notes", "Intended use, limits, approval", "notes", NOTHING, nodes(text))
    places = [place for place, section in enumerate(made) if section.id == "provenance"]
    place = places[0] if places else len(made)
    return (*made[:place], note, *made[place:])


def nodes(text: str) -> tuple[NotePiece, ...]:
    """Return the pieces of a Markdown text.

    Examples
    --------
    >>> [(node.tag, [inner.tag for inner in node.inner]) for node in nodes("# For *triage* <b>")]
    [('h3', ['', 'em', ''])]
    """
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

    reader = MarkdownIt("commonmark", {"html": False}).enable("table").enable("strikethrough")
    return tuple(_placed(SyntaxTreeNode(reader.parse(text))))


def _placed(parent: SyntaxTreeNode) -> Iterator[NotePiece]:
    for node in parent.children:
        yield from _node(node)


def _node(node: SyntaxTreeNode) -> Iterator[NotePiece]:
    if node.type in ALIKE or node.type == "text":
        yield NotePiece("", ALIKE.get(node.type, node.content))
    elif node.type == "heading":
        yield NotePiece("h3" if node.tag in ("h1", "h2") else "h4", inner=tuple(_placed(node)))
    elif node.type == "link" and urlsplit(href := str(node.attrs.get("href", ""))).scheme in LINKS:
        yield NotePiece("a", inner=tuple(_placed(node)), href=href)
    elif node.type == "image":
        yield NotePiece("", node.content)
    elif node.type in PLACED:
        yield NotePiece(
            PLACED[node.type], node.content, () if node.is_nested is False else tuple(_placed(node))
        )
    else:
        yield from _placed(node)
