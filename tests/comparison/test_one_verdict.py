"""One verdict of a pair: every text that states its outcome agrees with `verdicts` of the JSON."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache

import numpy as np
import pytest

from evalreport.cli.compare import print_comparison
from evalreport.cli.console import Console
from evalreport.comparison.compare import compare
from evalreport.comparison.comparison import Comparison, PairVerdict
from evalreport.core.json_codec import encode
from evalreport.data.labels import Binary, Multiclass
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Probabilities
from evalreport.page.comparison.sections import PANELS
from evalreport.page.comparison.wording import baseline_counts
from evalreport.page.payload import present
from evalreport.page.render import render
from evalreport.page.text_summary import comparison_brief
from evalreport.page.text_summary import markdown as as_markdown
from evalreport.workflow.compare import Compared
from tests.comparison import models

WORDS = {
    "better": r"is better than",
    "worse": r"is worse than",
    "trade_off": r"\bbut\b.* than",
    "not_significant": r"^No significant difference between",
    "undefined": r"cannot be compared",
}


def frauds(rng: np.random.Generator, spread: float) -> list[Predictions]:
    """Rare positives; the second run ranks as well and finds few of them, or none."""
    n, share = 3000, 0.03
    truth = rng.random(n) < share
    truth[:2] = True, False
    common = rng.normal(0, 0.8, n)
    made = []
    for shift in (0.0, spread):
        logit = 3.0 * truth + common + rng.normal(0, 0.6, n) - 2.2 - shift
        scores = Probabilities(1 / (1 + np.exp(-logit)))
        made.append(predictions(Binary("ok", "fraud"), np.where(truth, "fraud", "ok"), scores=scores))
    return made


def one_class(rng: np.random.Generator) -> list[Predictions]:
    """The second run gives up a class of thirty of 1,500 rows, which accuracy hardly notices."""
    old, _ = models.multiclass(rng, 1500, np.array([0.58, 0.4, 0.02]), skills=(2.5, 2.5))
    assert old.y_pred is not None
    answer = np.where(np.asarray(old.y_pred) == 2, 0, np.asarray(old.y_pred))
    names = np.asarray(old.space.names)
    return [predictions(old.space, names[old.y_true], names[codes]) for codes in (old.y_pred, answer)]


def moved_threshold(rng: np.random.Generator) -> list[Predictions]:
    """One model at two thresholds."""
    (rows,) = models.binary(rng, 600, skills=(1.8,))
    names = np.asarray(rows.space.labels)[rows.y_true]
    return [predictions(rows.space, names, scores=rows.scores, threshold=at) for at in (0.2, 0.6)]


def grades(rng: np.random.Generator) -> list[Predictions]:
    """The same rows are right in both; the first run misses by one grade, the second by two."""
    truth = rng.integers(0, 5, 600)
    wrong = rng.random(600) < 0.3
    answers = [np.where(wrong, np.where(truth >= by, truth - by, truth + by), truth) for by in (1, 2)]
    return [predictions(Multiclass(range(5), ordered=True), truth, answer) for answer in answers]


PAIRS: Mapping[str, Callable[[np.random.Generator], list[Predictions]]] = {
    "equal": lambda rng: models.binary(rng, 500),
    "rare": lambda rng: frauds(rng, 0.5),
    "silent": lambda rng: frauds(rng, 6.0),
    "other threshold": moved_threshold,
    "better": lambda rng: models.binary(rng, 600, skills=(1.0, 2.2)),
    "classes": lambda rng: models.multiclass(rng, 500, np.array([0.6, 0.3, 0.1]), skills=(2.2, 1.6)),
    "one class": one_class,
    "grades": grades,
    "labels": lambda rng: models.multilabel(rng, 400, np.array([0.4, 0.2, 0.1]), skills=(1.2, 2.4)),
    "identical": lambda rng: models.binary(rng, 300)[:1] * 2,
}


def pair(kind: str, seed: int) -> list[Predictions]:
    return PAIRS[kind](np.random.default_rng(seed))


@cache
def compared(kind: str, seed: int) -> Comparison:
    return compare([models.bare(p) for p in pair(kind, seed)], names=["old", "new"])


def texts(found: Comparison) -> Iterator[tuple[str, str]]:
    """Every place that states the outcome of a comparison in words, as its plain text."""
    printed: list[str] = []
    print_comparison(Console(), Compared(found, ()), printed.append)
    yield "terminal", printed[0]
    yield "json", present(found).content()["headline"]
    yield "brief", comparison_brief(found).headline
    yield "summary", present(found).summary().verdict
    yield "markdown", plain(as_markdown(present(found).summary()).strip().splitlines()[0])
    yield "description", plain(present(found).description.splitlines()[0])
    (body,) = [section.body for section in (PANELS[0](found),) if section is not None]
    yield "section", body.headline.text
    (head,) = re.findall(r"<h1[^>]*>(.*?)</h1>", render(found), re.DOTALL)
    yield "page", plain(re.sub(r"<[^>]+>", "", head))


def plain(text: str) -> str:
    text = re.sub(r"\\([\\`*_\[\]#|~$])", r"\1", text.replace("**", "").strip("# "))
    return " ".join(text.split())


def checked(verdict: PairVerdict, where: str, text: str) -> None:
    said = {name for name, words in WORDS.items() if re.search(words, text)}
    assert said == {verdict.verdict}, (where, text, verdict)


def test_ordered_labels_are_compared_by_their_order() -> None:
    """Accuracy and the recall of each grade are equal; the distance of the misses is not."""
    found = compared("grades", 0)
    (verdict,) = found.verdicts
    assert found.primary == "cohen_kappa_quadratic"
    assert verdict.over == ("cohen_kappa_quadratic", "mean_absolute_error")
    assert (verdict.verdict, verdict.worse) == ("worse", verdict.over)


@pytest.mark.parametrize("kind", PAIRS)
def test_every_text_states_the_verdict_of_the_json(kind: str) -> None:
    for seed in range(4):
        found = compared(kind, seed)
        (verdict,) = found.verdicts
        stored = encode(found)["verdicts"][0]
        assert stored["verdict"] == verdict.verdict
        said = dict(texts(found))
        for where, text in said.items():
            checked(verdict, where, text)
        assert len({plain(text) for text in said.values()}) == 1, said


def test_the_pairs_differ_in_every_way() -> None:
    counts = Counter(compared(kind, seed).verdicts[0].verdict for kind in PAIRS for seed in range(4))
    assert set(counts) == {"better", "worse", "trade_off", "not_significant"}, "else the test above is blind"


@pytest.mark.parametrize("seed", range(4))
def test_finding_no_fraud_at_all_is_not_called_no_difference(seed: int) -> None:
    found = compared("silent", seed)
    (verdict,) = found.verdicts
    assert found.differences_for("roc_auc")[0].verdict == "not_significant", "the ranking is as good"
    assert "recall" in verdict.worse
    moved = found.movement[0].by_class["fraud"]
    assert f"{moved[1] - moved[0]} fewer “fraud”" in dict(texts(found))["terminal"]


@pytest.mark.parametrize("kind", PAIRS)
def test_the_interval_in_a_headline_excludes_0_only_where_the_verdict_does(kind: str) -> None:
    for seed in range(4):
        (verdict,) = compared(kind, seed).verdicts
        main = verdict.primary
        assert main is not None
        if main.limits is None:
            continue
        low, high = main.limits
        named = main.metric in verdict.better + verdict.worse
        assert (low > 0 or high < 0) == named, (main, verdict)


def test_weights_that_turn_a_recall_round_are_not_reported_in_rows() -> None:
    """More rows of the class are found, and less of its weight."""
    truth = np.array(["yes"] * 200 + ["no"] * 200)
    old, new = (np.where(truth == "yes", "no", truth) for _ in range(2))
    old[:60], new[60:160] = "yes", "yes"
    weights = np.where(np.arange(400) < 60, 20.0, 1.0)
    runs = [predictions(Binary("no", "yes"), truth, answer, weights=weights) for answer in (old, new)]
    found = compare([models.bare(p) for p in runs], names=["old", "new"], primary="recall")
    assert found.verdicts[0].worse == ("recall",)
    assert "more" not in dict(texts(found))["terminal"]


def test_the_verdicts_of_several_runs_are_counted_not_those_of_one_metric() -> None:
    old, new = pair("silent", 0)
    found = compare([models.bare(p) for p in (old, new, old)], names=["old", "new", "same"])
    assert all(d.verdict == "not_significant" for d in found.differences_for("roc_auc"))
    counts = Counter(one.verdict for one in found.verdicts)
    text = baseline_counts(found).text
    assert counts["not_significant"] == 1 and "same is not significantly different" in text
    assert "better" in text or "worse" in text
