"""Whatever strangers call their things: the page's tree keeps its shape, and the words arrive."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any, TypeAlias

import html5lib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalreport.core.text import printable
from evalreport.page.render import render
from tests.page.made import renamed

CORPUS = (
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "</style><img src=x onerror=alert(1)>",
    "</title><svg onload=alert(1)>",
    "\"><img src=x onerror='alert(1)'>",
    "' onmouseover='alert(1)",
    "{{7*7}}{% raw %}",
    "${alert(1)}`${7*7}`",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "a\x00b\x1b]8;;http://x\x07",
    "line\u2028sep\u2029arated\r\n",
    "\u202egnp.exe",
    "]]><![CDATA[x",
    "$\\frac{1}$ & &amp; &lt;",
    "a" * 300,
)
NAMES = st.text(min_size=1, max_size=40).map(lambda text: f"{text}.")
"""Any text; NumPy's own strings lose a NUL at their end, so that none ends with one."""
TASKS = ("binary", "multiclass", "multilabel")


Shape: TypeAlias = list[tuple[int, str, tuple[str, ...]]]


def tree(page: str) -> Any:
    return html5lib.parse(page, treebuilder="etree")


def shape(page: str) -> Shape:
    """Depth, tag and attribute names of every element."""
    return elements(tree(page))


def elements(root: Any) -> Shape:
    found = []

    def walk(element: Any, depth: int) -> None:
        if isinstance(element.tag, str) and not element.tag.endswith("}wbr"):  # where a name may be broken
            found.append((depth, element.tag, tuple(sorted(element.keys()))))
            for child in element:
                walk(child, depth + 1)

    walk(root, 0)
    return found


@pytest.mark.parametrize("task", TASKS)
def test_hostile_names_do_not_change_the_tree(task: str) -> None:
    page = render(renamed(task, CORPUS))
    plain = render(renamed(task, [f"name{place}" for place in range(len(CORPUS))]))
    hostile, good = shape(page), shape(plain)
    assert len([e for e in hostile if e[1].endswith("script")]) == 2
    assert {tag for _, tag, _ in hostile} == {tag for _, tag, _ in good}
    assert not [names for _, _, names in hostile if any(name.startswith("on") for name in names)]
    assert "\x00" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page


@cache
def plain_shape(task: str, letters: bool) -> Shape:
    """The tree of a page whose names are harmless; names without a letter are told apart from others."""
    return shape(render(renamed(task, ["a" if letters else "1"])))


@settings(max_examples=8)
@given(st.sampled_from(TASKS), NAMES)
def test_any_name_keeps_the_tree_and_arrives(task: str, name: str) -> None:
    page = render(renamed(task, [name]))
    letters = any(map(str.isalpha, name))
    root = tree(page)
    assert elements(root) == plain_shape(task, letters)
    text = "".join(root.itertext())
    assert re.sub(r"\s+", " ", printable(name)).strip() in re.sub(r"\s+", " ", text)
    block = page[page.index('id="data">') + 10 :].split("</script>")[0]
    assert not re.search("[<>&\u2028\u2029]", block)
    json.loads(block)
