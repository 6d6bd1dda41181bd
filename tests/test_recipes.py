"""The recipes of CONTRIBUTING.md: each is followed in a copy of the package, and what it says follows.

A reader is added in `tests/readers/test_a_new_reader.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.package_copy import copy_package, insert, run_python

COUNT = '''

def false_omission_rate(c: BinaryCounts) -> Any:
    """Return the share of negative predictions that are wrong, FN / (TN + FN), in [0, 1]."""
    return divide(c.fn, c.predicted_negatives)
'''
COUNT_RECORD = """
    _proportion(
        name="false_omission_rate",
        title="False omission rate",
        meaning="share of negative predictions that are wrong",
        formula="FN / (TN + FN)",
        better="lower",
        function=false_omission_rate,
        undefined=because(NONE_CLEARED),
        over="predicted_negatives",
        source="1 - npv",
        use="a negative answer is relied upon",
        trap="near 0 by itself when positives are rare",
    ),"""
RANKING = '''

def ranks_lost(t: ScoreTable) -> float:
    """Return 1 - AUC, the share of pairs that are ranked the wrong way, in [0, 1]."""
    return 1 - roc_auc(t)
'''
RANKING_RECORD = """
    _metric(
        name="ranks_lost",
        title="Pairs ranked wrongly",
        meaning="share of pairs of a positive and a negative that are ranked the wrong way",
        formula="1 - AUC",
        better="lower",
        strategy=Smooth("ranking", merged=True),
        function=ranks_lost,
        derivative=lambda t: tuple(-part for part in influence.roc_auc(t)),
        no_skill=constant_level(0.5),
        source="Bamber 1975",
        use="what is lost is easier to grasp than what is won",
        trap="the same evidence as ROC AUC",
    ),"""
FINDING = '''"""A finding of its own."""

from evalreport.evaluation.evaluation import Evaluation
from evalreport.findings.rule import FindingDraft, rule


@rule("note", section="metrics")
def even_rows(ev: Evaluation) -> FindingDraft | None:
    """The number of rows is even."""
    return None if ev.rows % 2 else FindingDraft("{n:rows} is an even number.", {"n": ev.rows})
'''
PANEL = '''"""A panel of its own."""

from evalreport.evaluation.evaluation import Evaluation
from evalreport.page.elements import Section
from evalreport.core.sentences import say


def panel(ev: Evaluation) -> Section | None:
    """Return how many rows there are."""
    return Section("rows", "Rows", "How many rows", "rows", say("{rows:count} rows.", rows=ev.rows), None)
'''
TEMPLATE = '{% from "macros/text.html.j2" import open %}\n{{ open(section) }}\n</section>\n'
SENTENCE = "The model helps where its line is above both others."
"""Words of every page with a decision curve."""
FEATURE = '''"""A feature of its own."""

from evalreport.evaluation.evaluation import Evaluation
from evalreport.page.elements import Section
from evalreport.core.sentences import say


def size_section(ev: Evaluation) -> Section | None:
    """Return that there are rows."""
    return Section("size", "Size", "There are rows", "size", say("{rows:count} rows.", rows=ev.rows), None)
'''
SINK = '''"""A sink of its own: it remembers."""

from evalreport.page.payload import Payload
from evalreport.tracking.runs import Logged


class MemorySink:
    """A place in memory."""

    held: dict[str, Payload] = {}

    def log(self, payload: Payload, *, dry_run: bool = False) -> Logged:
        """Keep the payload under its part."""
        if not dry_run:
            self.held[payload.part] = payload
        return Logged("dry run" if dry_run else "written", tuple(payload.metrics), tuple(payload.files))
'''
ASKED = """
import json
import evalreport as er
from evalreport.findings.ordered_rules import find
from evalreport.page.payload import present
from evalreport.page.render import render_page
from evalreport.tracking.memory import MemorySink

truth = [0, 1] * 20
ev = er.evaluate(truth, scores=er.Probabilities([(7 * k % 40) / 40 for k in range(40)]), resamples=50)
shown = present(ev)
html = render_page(shown)
made = present(ev, log_all=True).payload(html)
logged = MemorySink().log(made)
print(json.dumps({
    "count": json.loads(ev.to_json())["metrics"]["false_omission_rate"],
    "npv": ev["npv"].value,
    "ranking": json.loads(ev.to_json())["metrics"]["ranks_lost"],
    "auc": [ev["roc_auc"].value, ev["roc_auc"].low, ev["roc_auc"].high],
    "findings": [one.claim for one in find(ev)],
    "panel": "How many rows" in html,
    "feature": "There are rows" in html,
    "sentence": "The model is useful where its line is above both others." in html,
    "glossary": "False omission rate" in html,
    "keys": sorted(key for key in logged.metrics if "omission" in key or "ranks_lost" in key),
    "sink": logged.state,
}))
"""


@pytest.fixture(scope="module")
def package_copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = copy_package(tmp_path_factory.mktemp("copy"))
    package = copy / "evalreport"
    touched = {
        "count metric": _metric(
            package, "binary_decisions.py", "binary_decisions.py", "COUNTS", COUNT, COUNT_RECORD
        ),
        "ranking metric": _metric(
            package, "binary_ranking.py", "binary_ranking.py", "RANKING", RANKING, RANKING_RECORD
        ),
    }
    (package / "findings" / "even.py").write_text(FINDING)
    insert(package / "findings" / "ordered_rules.py", "RULES: tuple[Rule, ...] = (\n", "    even_rows,\n")
    insert(
        package / "findings" / "ordered_rules.py",
        "from evalreport.evaluation.evaluation import Evaluation\n",
        "from evalreport.findings.even import even_rows\n",
    )
    (package / "page" / "sections" / "rows.py").write_text(PANEL)
    (copy / "templates" / "panels" / "rows.html.j2").write_text(TEMPLATE)
    page = package / "page" / "contents.py"
    insert(page, "    label_table,\n    threshold,\n", "    rows,\n")
    insert(page, '    "binary": (\n        first_screen.first_screen,\n', "        rows.panel,\n")
    (package / "tracking" / "memory.py").write_text(SINK)
    feature = package / "features" / "size"
    feature.mkdir()
    (feature / "__init__.py").write_text("")
    (feature / "page.py").write_text(FEATURE)
    (copy / "templates" / "panels" / "size.html.j2").write_text(TEMPLATE)
    insert(
        package / "features" / "__init__.py",
        "TABLE: Final[Mapping[str, Table]] = {\n",
        '    "size": {"sections": {"size": "evalreport.features.size.page:size_section"}},\n',
    )
    (holding,) = [path for path in package.rglob("*.py") if SENTENCE in path.read_text()]
    holding.write_text(holding.read_text().replace(SENTENCE, SENTENCE.replace("helps", "is useful")))
    lexicon = package / "columns" / "lexicon.json"
    insert(lexicon, '"predicted": {\n    "words": "', "vorhersage ")
    insert(lexicon, '"true": {\n    "words": "', "wahrheit ")
    assert {name: len(files) for name, files in touched.items()} == {"count metric": 1, "ranking metric": 1}
    return copy


def _metric(
    package: Path, functions_of: str, records_of: str, catalogue: str, function: str, record: str
) -> set[Path]:
    """Append a function and put its record into the catalogue: the files that are touched."""
    functions = package / "metrics" / functions_of
    records = package / "metrics" / records_of
    insert(records, f"{catalogue}: tuple[Metric, ...] = (", record)
    text = functions.read_text()
    start = text.index(f"{catalogue}: tuple[") if functions == records else len(text)
    functions.write_text(text[:start].rstrip() + "\n\n" + function + "\n\n" + text[start:])
    return {functions, records}


@pytest.fixture(scope="module")
def shown(package_copy: Path) -> dict[str, Any]:
    done = run_python(package_copy, "-c", ASKED)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_count_metric_has_its_interval_and_is_shown_everywhere(
    shown: dict[str, Any], package_copy: Path
) -> None:
    assert shown["count"]["value"] == pytest.approx(1 - shown["npv"])
    assert shown["count"]["method"] == "wilson"
    assert shown["glossary"]
    assert "eval/false_omission_rate" in shown["keys"]
    explained = run_python(package_copy, "-m", "evalreport", "metrics", "false_omission_rate")
    assert "share of negative predictions that are wrong" in explained.stdout


def test_a_ranking_metric_has_an_interval_by_its_derivative(shown: dict[str, Any]) -> None:
    value, low, high = shown["auc"]
    assert shown["ranking"]["value"] == pytest.approx(1 - value)
    assert shown["ranking"]["low"] == pytest.approx(1 - high, abs=0.05)
    assert shown["ranking"]["high"] == pytest.approx(1 - low, abs=0.05)
    assert "eval/ranks_lost" in shown["keys"]


def test_a_finding_is_reported(shown: dict[str, Any]) -> None:
    assert "40 cases is an even number." in shown["findings"]


def test_a_section_is_on_the_page(shown: dict[str, Any]) -> None:
    assert shown["panel"]


def test_an_output_receives_the_payload(shown: dict[str, Any]) -> None:
    assert shown["sink"] == "written"


def test_a_sentence_is_found_by_its_words_and_changed(shown: dict[str, Any]) -> None:
    assert shown["sentence"]


def test_a_feature_adds_a_section_by_the_table(shown: dict[str, Any]) -> None:
    assert shown["feature"]


def test_a_word_of_columns_is_known_to_every_file(package_copy: Path) -> None:
    (package_copy / "rows.csv").write_text("wahrheit,vorhersage\n" + "ja,ja\nnein,ja\nnein,nein\nja,ja\n" * 5)
    done = run_python(package_copy, "-m", "evalreport", "report", "rows.csv", "--json", "-q")
    assert done.returncode == 0, done.stdout
    assert '"accuracy":{"value":0.75' in done.stdout
