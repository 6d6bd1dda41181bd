"""The page as a whole: complete, reproducible, escaped, within its budgets, under its own policy."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import html5lib
import numpy as np
import pytest

from evalreport import __version__
from evalreport.core.result import Estimate
from evalreport.core.sentences import NOTHING
from evalreport.data.labels import Multiclass
from evalreport.data.predictions import predictions
from evalreport.evaluation.evaluation import Evaluation
from evalreport.page.contents import LAST, OF_ANY_TASK, PANELS
from evalreport.page.elements import Forest, Section, forest_row
from evalreport.page.payload import present
from evalreport.page.render import asset, environment, policy, render, templates, templates_of, whole_page
from tests.page.made import KINDS, PROVENANCE, collapsed, evaluation, made, multiclass, multilabel

XHTML = "{http://www.w3.org/1999/xhtml}"
VOID_ATTRIBUTES = re.compile(r"\s(on\w+|style|srcset|formaction|ping|background)\s*=", re.IGNORECASE)


def tree(page: str) -> Any:
    return html5lib.parse(page, treebuilder="etree")


@cache
def page_of(kind: str) -> str:
    """The page of a kind, with all that it may have."""
    return render(made(kind))


@cache
def tree_of(kind: str) -> Any:
    return tree(page_of(kind))


def data_of(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found.group(1))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_page(kind: str) -> None:
    root = tree_of(kind)
    heads = [e for e in root.iter() if e.tag == f"{XHTML}h1"]
    assert len(heads) == 1
    assert "".join(heads[0].itertext()).strip()
    ids = [e.get("id") for e in root.iter() if e.get("id")]
    assert len(ids) == len(set(ids)), "an id appears twice"
    sections = [e for e in root.iter() if e.tag == f"{XHTML}section"]
    linked = [a.get("href") for a in root.iter(f"{XHTML}a")]
    assert {f"#{e.get('id')}" for e in sections} <= set(linked)
    assert {href.removeprefix("#") for href in linked} <= set(ids)
    assert [e.get("aria-labelledby") in ids for e in sections].count(False) == 0
    assert [e.get("id") for e in sections[-2:]] == ["provenance", "files"]
    named = ["".join(e.itertext()) for e in root.iter() if (e.get("id") or "").endswith("-title")]
    named += [e.get("aria-label") for e in root.iter() if e.get("role") == "region"]
    assert len(named) == len(set(named)), "two regions have one name"
    for word in ("nan", "None", "inf", "Undefined"):
        texts = [text for e in sections if e.get("id") != "provenance" for text in e.itertext()]
        assert not any(re.search(rf"(?<![\w-]){word}(?![\w-])", text) for text in texts), word


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_of_the_json_is_the_page(kind: str) -> None:
    ev = made(kind)
    for same in (ev, Evaluation.from_json(ev.to_json())):
        assert render(same) == page_of(kind)


@pytest.mark.parametrize("kind", ["binary-slices", "twenty", "multilabel", "text"])
def test_policy_names_what_is_on_the_page(kind: str) -> None:
    page = render(made(kind))
    head = page[: page.index("<title>")]
    metas = re.findall(r"<meta ([^>]*)>", head)
    assert metas[0] == 'charset="utf-8"'
    assert metas[1].startswith('http-equiv="Content-Security-Policy"')
    stated = re.search(r'content="([^"]*)"', metas[1])
    assert stated is not None
    spoken = stated.group(1).replace("&#39;", "'")
    for kind_of, text in (("style", r"<style>(.*?)</style>"), ("script", r"<script>(.*?)</script>")):
        inside = re.findall(text, page, re.DOTALL)
        assert len(inside) == 1
        digest = base64.b64encode(hashlib.sha256(inside[0].encode()).digest()).decode()
        assert f"{kind_of}-src 'sha256-{digest}'" in spoken
    assert "default-src 'none'" in spoken
    assert "unsafe" not in spoken
    assert page.count("<script") == 2
    assert [m.split('"')[1] for m in metas[2:]] == [
        "viewport",
        "color-scheme",
        "referrer",
        "robots",
        "generator",
    ]


def test_a_changed_script_has_another_policy() -> None:
    assert policy("a", "b") != policy("a", "c")


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_fetched_and_nothing_runs_from_attributes(kind: str) -> None:
    page = page_of(kind)
    outside = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", page, flags=re.DOTALL)
    for element in tree_of(kind).iter():
        for name, value in element.items() if isinstance(element.tag, str) else ():
            assert not VOID_ATTRIBUTES.match(f" {name}="), name
            assert name not in ("src", "data", "poster", "srcdoc")
            if name == "href":
                assert value.startswith("#")
            else:
                assert not re.search(r"https?://|url\(|javascript:", value), (name, value)
    assert "<link" not in outside
    assert "@import" not in page
    assert "url(" not in page


def test_script_touches_nothing_that_a_sandbox_forbids() -> None:
    script = asset("script.js")
    for word in (
        *("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("),
        *("localStorage", "sessionStorage", "cookie", "fetch(", "XMLHttpRequest", "window.open", "import("),
    ):
        assert word not in script, word
    assert "</" not in script
    assert "</" not in asset("style.css")


def test_only_our_own_script_and_style_are_not_escaped() -> None:
    folder = templates()
    unescaped = {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8").count("|safe")
        for path in folder.rglob("*.j2")
    }
    assert {name: n for name, n in unescaped.items() if n} == {"page.html.j2": 2}
    for path in folder.rglob("*.j2"):
        text = path.read_text(encoding="utf-8")
        assert "autoescape false" not in text
        assert "Markup" not in text


def test_a_long_text_is_cut_and_its_rest_can_be_opened() -> None:
    page = tree(render(made("binary-slices")))
    opened = page.findall(".//{*}table[@id='examples-table']//{*}details")
    assert len(opened) == 5
    for details in opened:
        shown = "".join(details[0].itertext())
        whole = shown.removesuffix("…") + "".join(details[1].itertext()).removeprefix("…")
        assert len(shown) == 140
        assert re.fullmatch(r"note \d+ (long ){40}", whole)


@pytest.mark.parametrize(
    "data",
    [(), ("threshold", "utility"), ("cutoff", "confusions"), ("matched",)],
)
def test_size_of_style_and_script(data: tuple[str, ...]) -> None:
    assert len(asset("style.css").encode()) < 26_500
    assert len(asset("script.js", data).encode()) < 16_000


def test_a_page_has_the_parts_of_the_script_that_it_has_data_for() -> None:
    whole = asset("script.js")
    for name, word in (
        ("confusions", "matrix-order"),
        ("threshold", "miss-cost"),
        ("matched", "alerts-said"),
    ):
        assert word in whole
        assert word not in asset("script.js", ())
        assert word in asset("script.js", (name,))


@pytest.mark.parametrize("kind", KINDS)
def test_small_pages_stay_small(kind: str) -> None:
    page = page_of(kind)
    assert len(page.encode()) < 150_000
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)
    assert script is not None and len(script[1].encode()) < 16_000


@pytest.mark.parametrize(
    ("classes", "rows", "limit"), [(50, 2000, 155_000), (77, 3080, 250_000), (1000, 20_000, 1_000_000)]
)
def test_many_classes_stay_within_their_budget(classes: int, rows: int, limit: int) -> None:
    ev = evaluation(multiclass(classes, rows, scores=classes < 1000))
    page = render(ev)
    assert len(page.encode()) < limit
    assert ('id="matrix"' in page) == (classes <= 1000)


def test_many_labels_stay_within_their_budget() -> None:
    assert len(render(evaluation(multilabel(50, 1500))).encode()) < 155_000


def test_above_a_thousand_classes_there_is_only_the_list() -> None:
    page = render(evaluation(multiclass(1001, 3000, scores=False)))
    assert 'id="matrix"' not in page
    assert "A matrix of 1,001 classes is too large to draw" in page


@pytest.mark.parametrize("kind", ["binary", "twenty", "multilabel"])
def test_data_block_holds_no_markup(kind: str) -> None:
    page = render(made(kind))
    block = page[page.index('id="data">') + 10 :].split("</script>")[0]
    assert not re.search("[<>&\u2028\u2029]", block)
    assert set(data_of(page)) <= {"threshold", "cutoff", "utility", "confusions"}


def test_examples_can_be_withheld() -> None:
    ev = replace(made("binary-slices"), mistakes=(), pair_texts=())
    page = render(ev)
    assert "Examples are withheld." in page
    assert "note 1" not in page


def test_titles() -> None:
    ev = made("binary")
    assert "<title>calm-heron-412: held-out evaluation</title>" in render(ev)
    titled = ev.with_provenance(replace(PROVENANCE, title="Triage, spring"))
    assert "<title>Triage, spring</title>" in render(titled)
    assert f'content="evalreport {__version__}"' in render(ev)


def test_templates_stand_beside_the_package_or_inside_it(tmp_path: Any) -> None:
    package = tmp_path / "evalreport"
    package.mkdir()
    assert templates_of(package) == tmp_path / "templates"
    (package / "templates").mkdir()
    assert templates_of(package) == package / "templates"
    assert (templates() / "page.html.j2").is_file()


def test_templates_are_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    pages, kept = [], []
    for writes in (False, True, True):
        monkeypatch.setattr(sys, "dont_write_bytecode", not writes)
        environment.cache_clear()
        pages.append(render(made("binary")))
        kept.append({path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.jinja")})
    environment.cache_clear()
    assert pages[0] == pages[1] == pages[2]
    assert not kept[0] and len(kept[1]) > 10 and kept[1] == kept[2]


def test_every_panel_is_used_once_a_task() -> None:
    for task, own in PANELS.items():
        panels = (*own, *OF_ANY_TASK, *LAST)
        assert len(set(panels)) == len(panels), task


def test_a_collapsed_model_is_reported_so() -> None:
    page = render(evaluation(collapsed()))
    assert "17 of 20 classes are never predicted" in re.sub(r"<[^>]*>", "", page)


def test_an_interval_that_misses_is_marked_where_it_stands() -> None:
    """In the first table by a sign that leads to the words, in the table of all metrics by the words."""
    said = "coverage 88% in simulations: prevalence 0.05, calibrated, n = 200"
    root = tree(render(replace(made("binary"), off_coverage={"recall": said})))
    marks = [a for a in root.iter(XHTML + "a") if a.get("title")]
    assert [(a.get("href"), a.get("title"), a.text) for a in marks] == [("#metrics", said, "*")]
    assert sum(said in (part or "") for part in root.itertext()) == 1


def test_above_two_hundred_classes_blocks_of_look_alikes_are_drawn() -> None:
    rng = np.random.default_rng(0)
    names = np.array([f"intent {code:04d}" for code in range(400)])
    truth = rng.integers(0, 400, 9_000)
    near = truth // 8 * 8 + rng.integers(0, 8, 9_000)
    answers = np.where(rng.random(9_000) < 0.9, near, rng.integers(0, 400, 9_000))
    ev = evaluation(predictions(Multiclass(names.tolist()), names[truth], names[answers]))
    page = render(ev)
    data = data_of(page)["confusions"]
    assert 40 <= len(data["names"]) <= 100
    assert sum(1 + int((re.findall(r"and (\d+) more", name) or [0])[0]) for name in data["names"]) == 400
    assert (sum(data["weights"]), sum(data["support"])) == (9_000, 9_000)
    cells = zip(data["cells"][::2], data["cells"][1::2], data["weights"], strict=True)
    within = sum(weight for row, column, weight in cells if row == column)
    assert within > np.sum(truth // 8 == answers // 8) * 0.95, "who is confused with whom stands in one block"
    assert f"The matrix has {len(data['names'])} blocks" in page
    table = present(ev).exports()["confusions.csv"].decode().splitlines()
    assert len(table) == 1 + len({(a, b) for a, b in zip(truth, answers, strict=True) if a != b})


def test_a_table_of_very_many_classes_keeps_the_weakest(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = tree(render(evaluation(multiclass(60, 600, scores=False))))
    monkeypatch.setattr("evalreport.page.sections.classes.MOST_ROWS", 40)
    page = render(evaluation(multiclass(60, 600, scores=False)))
    rows = ".//{*}table[@id='classes-table']/{*}tbody/{*}tr/{*}th"
    names = ["".join(head.itertext()) for head in whole.findall(rows)]
    assert ["".join(head.itertext()) for head in tree(page).findall(rows)] == names[:40]
    assert "The weakest 40 of 60 are listed" in page


def test_a_forest_without_a_reference_has_no_such_column() -> None:
    row = forest_row("f1", "F1", NOTHING, Estimate(0.5, 9, 0.4, 0.6), "ratio")
    for head, columns in (("No skill", 5), ("", 4)):
        forest = Forest((row,), heads=("Metric", "Estimate", "95% interval", head))
        section = Section.from_parts("one", "One", "One", NOTHING, forest)
        page = whole_page("One", (section,), "", asset("style.css"), "")
        assert page.count('role="columnheader"') == columns
        assert page.count('role="cell"') == columns - 1 and (f'class="ref">{head}' in page) == (head != "")
