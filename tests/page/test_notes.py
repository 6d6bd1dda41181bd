"""Notes of the authors, and labels as people call them."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalreport.data.labels import Binary, Multiclass, Multilabel, rename_labels
from evalreport.page.render import render
from evalreport.page.sections.appendix import nodes
from tests.cli.running import run
from tests.page.made import made
from tests.page.test_page import XHTML, tree

NOTE = """# Intended use
For **triage**, *not* for [therapy](https://example.org/x?a=1&b=2).

| who | when |
|---|---|
| board | 2026 |

- one
- [bad](javascript:alert(1)) [worse](data:text/html,x) [near](//evil.example/x) [here](#verdict)

![secret](https://evil.example/pixel.png)

<script>alert(1)</script> <img src=x onerror=alert(1)>

```html
<b>code</b>
second line
```
"""


def test_a_note_keeps_its_shape_and_nothing_else() -> None:
    root = tree(render(made("binary"), notes=NOTE))
    sections = list(root.iter(XHTML + "section"))
    (note,) = (node for node in sections if node.get("id") == "notes")
    assert {node.tag.removeprefix(XHTML) for node in note.iter()} == {
        *(
            "section",
            "a",
            "h2",
            "h3",
            "div",
            "p",
            "strong",
            "em",
            "table",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
        ),
        *("ul", "li", "pre"),
    }
    links = [node.get("href") for node in note.iter(XHTML + "a")]
    assert links == ["#notes", "https://example.org/x?a=1&b=2"]
    words = "".join(note.itertext())
    assert (
        "<script>alert(1)</script> <img src=x onerror=alert(1)>" in words
        and "<b>code</b>\nsecond line" in words
    )
    assert "secret" in words and "pixel" not in words
    ids = [node.get("id") for node in sections]
    assert ids.index("notes") == ids.index("provenance") - 1


def test_no_note_no_section() -> None:
    assert 'id="notes"' not in render(made("binary"), notes=" \n")
    assert nodes("") == ()


@pytest.mark.parametrize(
    ("space", "names", "expected"),
    [
        (Binary(0, 1), {"1": "failure"}, ("0", "failure")),
        (Multiclass(["b", "a"], ordered=True), {"a": "x"}, ("b", "x")),
        (Multilabel(["b", "a"]), {"b": "y", "a": "x"}, ("y", "x")),
    ],
)
def test_codes_stay(space: Binary | Multiclass | Multilabel, names: dict[str, str], expected: object) -> None:
    found = rename_labels(space, names)
    assert (found.names, found.task) == (expected, space.task)
    assert getattr(found, "ordered", False) == getattr(space, "ordered", False)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "p.csv"
    rows = [f"{i % 2},{(i % 7 in (1, 3)) + 0},{(i * 37 % 100) / 100}" for i in range(40)]
    path.write_text("y_true,y_pred,score\n" + "\n".join(rows))
    return path


def test_labels_as_people_call_them(capsys: pytest.CaptureFixture[str], table: Path) -> None:
    named = ("--set", "label_names=1=failure,0=fine")
    ran = run(capsys, "report", str(table), "--json", *named)
    (body,) = ran.json["runs"]
    assert (body["labels"], body["positive"]) == (["fine", "failure"], "failure")
    assert body["provenance"]["label_names"] == [["1", "failure"], ["0", "fine"]]
    assert "failure cases" in run(capsys, "report", str(table), "-o", "-", *named).out
    plain = run(capsys, "report", str(table), "--json").json["runs"][0]
    assert plain["metrics"] == body["metrics"]


@pytest.mark.parametrize(
    ("given", "reported"),
    [
        ("2=x", "there is no label '2'"),
        ("1", "which is not LABEL=NAME"),
        ("1=same,0=same", "appears twice"),
    ],
)
def test_names_that_do_not_fit(
    capsys: pytest.CaptureFixture[str], table: Path, given: str, reported: str
) -> None:
    ran = run(capsys, "report", str(table), "--json", "--set", f"label_names={given}")
    assert ran.code in (2, 5) and reported in ran.err + ran.out


def test_notes_that_cannot_be_read(capsys: pytest.CaptureFixture[str], table: Path) -> None:
    note = table.with_name("n.md")
    note.write_bytes(b"\xff\xfe")
    for path in (note, note.with_name("none.md")):
        ran = run(capsys, "report", str(table), "-o", "-", "--set", f"notes={path!s}")
        assert ran.code == 2 and "the notes cannot be read" in ran.err
