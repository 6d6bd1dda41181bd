"""Evaluations at the edges of what occurs, and every sentence of their pages read a second time.

`test_words` holds each number against the JSON. Here sentences are held against one another: no page denies
in one place what it claims in another, no share leaves 0 to 100 %, no advice points to what is not the cause.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import evalreport as er
from evalreport.cli.compare import print_comparison
from evalreport.cli.console import Console
from evalreport.cli.print_evaluation import print_evaluation
from evalreport.core.json_codec import encode
from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Probabilities
from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.evaluation.evaluation import Evaluation
from evalreport.findings.ordered_rules import OF_ROWS, find
from evalreport.intervals.interval_settings import Sampling
from evalreport.metrics.operating_points import at_prevalence
from evalreport.page.sections.first_screen import next_step
from evalreport.page.sections.headline import headline
from evalreport.page.sections.threshold_table import NamedThreshold, _cheapest, _price, candidates
from evalreport.thresholds.sweep import Sweep
from evalreport.workflow.compare import Compared
from evalreport.workflow.evaluate import table_of
from tests.findings.wild import odd
from tests.page.test_words import check_page, of_page, silent

Make = Callable[[np.random.Generator], Predictions]
FRAUD = Binary("ok", "fraud")


def scored(
    rng: np.random.Generator,
    n: int,
    share: float = 0.3,
    skill: float = 2.0,
    *,
    shift: float = 0.0,
    spread: float = 1.0,
    labels: Binary = FRAUD,
    **options: object,
) -> Predictions:
    """Rows whose logits are right up to a shift and a spread; both classes occur."""
    truth = rng.random(n) < share
    truth[:2] = True, False
    # of two normals `skill` apart the log odds are linear in the score
    right = skill * (rng.normal(0, 1, n) + skill * (truth - 0.5)) + np.log(share / (1 - share))
    logit = spread * right + shift
    names = [labels.labels[int(value)] for value in truth]
    return predictions(labels, names, scores=Probabilities(1 / (1 + np.exp(-logit))), **options)  # type: ignore[arg-type]


def ranked(positives: int, negatives: int, *, right: bool) -> Predictions:
    """So many of each, ranked without one mistake, or the wrong way round."""
    truth = np.arange(positives + negatives) >= negatives
    scores = np.linspace(0.1, 0.9, len(truth))
    names = np.where(truth, "fraud", "ok").tolist()
    return predictions(FRAUD, names, scores=Probabilities(scores if right else 1 - scores))


def constant(rng: np.random.Generator) -> Predictions:
    truth = np.where(rng.random(200) < 0.2, "fraud", "ok").tolist()
    return predictions(FRAUD, truth, scores=Probabilities(np.full(200, 0.7)))


def digits(rng: np.random.Generator) -> Predictions:
    truth = rng.integers(0, 10, 3000)
    answer = np.where(rng.random(3000) < 0.8, truth, (truth + 1) % 10)
    return predictions(Multiclass(range(10)), truth.tolist(), answer.tolist())


def one_sided_pairs(_: np.random.Generator) -> Predictions:
    """Two labels of which each is often given the other, the one more often than the other."""
    cells = {
        ("cat", "cat"): 26, ("cat", "dog"): 355,
        ("dog", "dog"): 52, ("dog", "cat"): 99,
        ("emu", "emu"): 50,
    }  # fmt: skip
    truth = [pair[0] for pair, n in cells.items() for _ in range(n)]
    answer = [pair[1] for pair, n in cells.items() for _ in range(n)]
    return predictions(Multiclass(["cat", "dog", "emu"]), truth, answer)


def sliced(rng: np.random.Generator) -> Predictions:
    """Two sites that score alike, one whose scores are noise, and one of six rows."""
    site = np.array(["south"] * 300 + ["north"] * 300 + ["west"] * 200 + ["isle"] * 6)
    good, bad = scored(rng, 606), scored(rng, 200, skill=0.01)
    order = np.r_[0:600, 606:806, 600:606]
    truth = np.r_[good.y_true, bad.y_true][order]
    scores = np.r_[good.scores.values, bad.scores.values][order]  # type: ignore[union-attr]
    names = [FRAUD.labels[code] for code in truth]
    return predictions(FRAUD, names, scores=Probabilities(scores), slices={"site": site})


def weighted_classes(rng: np.random.Generator) -> Predictions:
    truth = rng.choice(["cat", "dog", "emu", "fox"], 300, p=[0.5, 0.3, 0.17, 0.03])
    answer = np.where(rng.random(300) < 0.7, truth, rng.choice(["cat", "dog"], 300))
    answer = np.where(truth == "fox", "emu", answer)
    weights = rng.lognormal(0, 1, 300)
    return predictions(
        Multiclass(["cat", "dog", "emu", "fox"]), truth.tolist(), answer.tolist(), weights=weights
    )


def flawless(rng: np.random.Generator) -> Predictions:
    truth = rng.choice(["a", "b", "c"], 500).tolist()
    return predictions(Multiclass("abc"), truth, truth, groups=np.arange(500) // 100)


EDGES: Mapping[str, Make] = {
    "good": lambda rng: scored(rng, 2000),
    "tiny": lambda rng: scored(rng, 6),
    "small and perfect": lambda _: ranked(4, 8, right=True),
    "perfect": lambda _: ranked(100, 300, right=True),
    "inverted": lambda _: ranked(40, 160, right=False),
    "useless": lambda rng: scored(rng, 3000, skill=0.001),
    "doubtful": lambda rng: scored(rng, 30, skill=0.5),
    "constant": constant,
    "rare": lambda rng: scored(rng, 5000, share=0.004, skill=1.5),
    "silent": lambda rng: scored(rng, 2000, share=0.05, skill=1.5, spread=0.3, shift=-3.0),
    "overconfident": lambda rng: scored(rng, 2000, spread=4.0),
    "shifted and timid": lambda rng: scored(rng, 2000, spread=0.25, shift=-1.0),
    "weights that sum to one": lambda rng: scored(rng, 500, weights=rng.dirichlet(np.ones(500))),
    "uneven weights": lambda rng: scored(rng, 500, weights=rng.lognormal(0, 1, 500)),
    "uneven weights, silent": silent,
    "uneven weights of classes": weighted_classes,
    "great weights": lambda rng: scored(rng, 500, weights=np.full(500, 1e6)),
    "clusters": lambda rng: scored(rng, 600, groups=np.arange(600) // 6),
    "digits as labels": lambda rng: scored(rng, 400, labels=Binary(0, 1)),
    "ten digits": digits,
    "pairs": one_sided_pairs,
    "flawless in groups": flawless,
    "sliced": sliced,
}
SHARE = re.compile(r"[−-]?\d[\d,]*(?:\.\d+)?(?=\s?%)")
CONTRADICTIONS = (
    (r"[Nn]o better than chance|No skill:", r"the threshold is the problem"),
    (r"[Nn]o better than chance", r"scores are inverted"),
    (r"No other threshold", r"the threshold is the problem|was not chosen"),
    (r"[Nn]o better than chance", r"ROC AUC (?:is )?(?:1\.00|0\.[89])"),
    (r"[Nn]ot significantly better than chance", r"No skill:"),
    (r"No mistakes", r"misses \d"),
    (r"overconfident", r"underconfident"),
    (r"The scores rank it", r"Check that they are in the training data"),
    (r"All scores are equal", r"the threshold is the problem|of the time"),
)


WRONG_WORDS = (
    r"(?<![\d,.])1 (?:cases|examples|classes|labels|rows|alarms|groups) ",
    r"(?<![\d,.])(?:[2-9]|\d\d+) (?:case|example|class|label|row|alarm) ",
    r"\d \d+ (?:are|read|of) ",  # a label that is a number stands bare
    r"(?i)\b(?:nan|inf)\b",
)
GENERATED = 1000 if "FUZZ_EXAMPLES" in os.environ else 24
"""Odd evaluations that are read; `make fuzz` reads a thousand."""


@cache
def edge(name: str) -> Evaluation:
    p = EDGES[name](np.random.default_rng(7))
    more = at_prevalence(0.01) if isinstance(p.space, Binary) else ()
    ev = evaluate_predictions(p, Sampling(resamples=100), more=more)
    return replace(ev, findings=find(ev))


def sentences_of(ev: Evaluation) -> list[str]:
    """Every sentence of the page and of its findings."""
    return [s.text for s in of_page(ev)] + [f"{one.claim} {one.action}" for one in ev.findings]


@pytest.mark.parametrize("name", EDGES)
def test_every_number_is_in_the_json(name: str) -> None:
    assert check_page(edge(name)) > 5


def consistent(texts: Sequence[str]) -> None:
    """No sentence denies another, shares are shares, and words agree with their numbers."""
    page = " ".join(texts)
    for claim, denial in CONTRADICTIONS:
        assert not (re.search(claim, page) and re.search(denial, page)), (claim, denial, page)
    for text in texts:
        for share in SHARE.findall(text):
            assert 0 <= float(share.replace(",", "").replace("−", "-")) <= 100, text
        for wrong in WRONG_WORDS:
            assert not re.search(wrong, text), text


@pytest.mark.parametrize("name", EDGES)
def test_sentences_of_a_page_agree(name: str) -> None:
    consistent(sentences_of(edge(name)))


@pytest.mark.parametrize("part", range(4))
def test_odd_evaluations_tell_nothing_false(part: int) -> None:
    """Weights, groups, several labels, text, few rows; perfect, inverted and constant scores."""
    for seed in range(part, GENERATED, 4):
        p = odd(seed)
        more = at_prevalence(0.01) if isinstance(p.space, Binary) else ()
        ev = evaluate_predictions(p, Sampling(resamples=30), more=more)
        ev = replace(ev, findings=find(ev))
        check_page(ev)
        consistent(sentences_of(ev))


def claims(name: str) -> dict[str, str]:
    return {one.rule: one.claim for one in edge(name).findings}


def test_a_pair_of_labels_is_counted_once() -> None:
    assert "both directions (355 of 381 and 99 of 151)" in claims("pairs")["top_confusions"]
    assert "%" not in claims("pairs")["top_confusions"]


def test_a_perfect_ranking_of_few_is_not_called_useless() -> None:
    page = " ".join(sentences_of(edge("small and perfect")))
    assert "no_skill" not in claims("small and perfect")
    assert not re.search("[Nn]o better than", page)


def test_doubt_is_not_reported_as_absence() -> None:
    assert "skill_not_significant" in claims("doubtful")
    assert "no_skill" not in claims("doubtful")
    assert "no_skill" in claims("useless")


def test_a_wrong_direction_is_reported_once_and_alike() -> None:
    page = " ".join(sentences_of(edge("inverted")))
    assert "inverted" in claims("inverted")
    assert not re.search("[Nn]o better than chance|[Nn]ot significantly better", page)


def test_silence_of_a_ranking_that_knows_is_no_matter_of_training_data() -> None:
    actions = {one.rule: one.action for one in edge("silent").findings}
    assert "--threshold" in actions["threshold_not_chosen"]


def test_the_spread_is_reported_beside_the_shift() -> None:
    claim = claims("shifted and timid")["miscalibrated"]
    assert "too low" in claim
    assert "underconfident" in claim
    assert "overconfident" in claims("overconfident")["miscalibrated"]


def test_the_bound_of_no_mistakes_is_of_independent_rows() -> None:
    page = " ".join(sentences_of(edge("flawless in groups")))
    assert "All are counted as 5 independent groups." in page
    low = float(re.findall(r"Recall of “\w” is between ([\d.]+)% and 100%", page)[0])
    assert 20 < low < 35, "of fewer than two independent groups of a class"


@pytest.mark.parametrize("name", ["uneven weights", "uneven weights of classes"])
def test_rows_that_weigh_are_counted_whole(name: str) -> None:
    """No fraction of a row in verdict, terminal, tables of classes or findings that count."""
    ev = edge(name)
    p = ev.predictions
    assert p is not None and p.y_pred is not None
    reported = [headline(ev).text, next_step(ev).text]
    reported += [one.claim for one in ev.findings if one.rule in {rule.__name__ for rule in OF_ROWS}]
    for text in reported:
        assert not re.search(r"\d\.\d+ (?!points|to )[a-z“]", text), text
        assert "weighted" not in text
    if isinstance(p.space, Binary):
        tp = ((p.y_true == 1) & (p.y_pred == 1)).sum()
        fn = (p.y_true == 1).sum() - tp
        assert f"Finds {tp} of {tp + fn} fraud cases and misses {fn}" in reported[0]
    else:
        right = (p.y_true == p.y_pred).sum()
        assert f"Right for {right} of 300" in reported[0]
        rows = {c.label: (c.support, c.confusions[0].weight) for c in ev.in_rows().classes if c.confusions}
        assert rows["fox"] == ((p.y_true == 3).sum(), (p.y_true == 3).sum())


def test_where_rows_weigh_a_better_threshold_has_its_price_in_shares() -> None:
    """Not in weighted counts less whole rows: "finds 70.4 more of 127"."""
    ev = edge("uneven weights, silent")
    said, p = next_step(ev).text, ev.predictions
    at = re.search(r"about (0\.\d+): it finds", said)
    assert at is not None and p is not None and isinstance(p.scores, Probabilities)
    flagged, positive = p.scores.values >= float(at[1]), p.y_true == 1
    found = p.weights[flagged & positive].sum() / p.weights[positive].sum()
    assert f"finds {100 * found:.0f}% of fraud cases instead of 0%" in said


def weighed(kind: str, factor: float) -> list[Evaluation]:
    """Two models on the same weighted rows."""
    rng = np.random.default_rng(3)
    weights = rng.lognormal(0, 0.7, 150) * factor
    many = rng.integers(0, 3, 150)
    if kind in ("binary", "comparison"):
        both = [scored(np.random.default_rng(4), 150, skill=skill, weights=weights) for skill in (2.0, 1.2)]
    elif kind == "classes":
        chances = [rng.dirichlet(np.ones(3), 150) + skill * np.eye(3)[many] for skill in (1.0, 0.5)]
        scores = [Probabilities(c / c.sum(axis=1, keepdims=True)) for c in chances]
        names = np.array(["cat", "dog", "emu"])[many].tolist()
        both = [
            predictions(Multiclass(["cat", "dog", "emu"]), names, scores=s, weights=weights) for s in scores
        ]
    else:
        truth = rng.random((150, 4)) < [0.5, 0.3, 0.2, 0.1]
        chances = [1 / (1 + np.exp(2 - skill * truth - rng.normal(0, 1, (150, 4)))) for skill in (3.0, 2.0)]
        space = Multilabel(["urban", "night", "rain", "snow"])
        both = [predictions(space, truth, scores=Probabilities(c), weights=weights) for c in chances]
    made = [
        evaluate_predictions(p, Sampling(resamples=50)) for p in (both if kind == "comparison" else both[:1])
    ]
    return [replace(ev, findings=find(ev)) for ev in made]


def everything(kind: str, factor: float) -> tuple[str, list[str], dict[str, object]]:
    """Page, terminal and JSON."""
    console = Console(verbosity=-1)
    lines: list[str] = []
    evaluations = weighed(kind, factor)
    if kind == "comparison":
        both = er.compare(evaluations, names=["old", "new"], cost=5)
        print_comparison(console, Compared(both, ()), lines.append)
        return er.to_html(both), [*lines, *console.warnings], encode(both)
    print_evaluation(console, evaluations[0], (), lines.append)
    return er.to_html(evaluations[0]), [*lines, *console.warnings], encode(evaluations[0])


@pytest.mark.parametrize("kind", ["binary", "classes", "labels", "comparison"])
def test_a_common_factor_of_weights_changes_nothing_that_is_reported(kind: str) -> None:
    page, lines, document = everything(kind, 1.0)
    assert "weighted" in page
    assert len(lines) > 3
    for factor in (1e-6, 1e6):
        assert everything(kind, factor) == (page, lines, document), factor


def test_the_weakest_slice_is_named_and_that_it_is_weaker_is_demonstrated() -> None:
    ev = edge("sliced")
    p = ev.predictions
    assert p is not None and p.y_pred is not None
    column = p.slices["site"]
    recalls = {}
    for code, name in enumerate(column.values):
        rows = (column.codes == code) & (p.y_true == 1)
        recalls[name] = (p.y_pred[rows] == 1).mean() if (column.codes == code).sum() >= 10 else 1.0
    weakest = min(recalls, key=lambda name: recalls[name])
    page = " ".join(sentences_of(ev))
    assert weakest == "west"
    assert re.search(r"is lowest for west of site \(.*\), significantly lower than the rest\.", page)
    assert "isle of site" not in page, "six rows are too few for a rate"


def test_prices_of_a_threshold_are_those_at_which_nothing_is_cheaper() -> None:
    """Every cost between both ends, tried at every threshold; just outside another is cheaper."""
    p = scored(np.random.default_rng(5), 400)
    sweep, ev = Sweep.from_table(table_of(p)), evaluate_predictions(p, Sampling(resamples=100))
    seen = 0
    for one in candidates(ev, sweep):
        why = "; ".join(_cheapest(sweep, one))
        for low, high in re.findall(r"cheapest if a miss costs ([\d.]+) to ([\d.]+) false", why):
            seen += 1
            for miss, best in ((1.02 * float(low), 1), (0.98 * float(high), 1), (1.1 * float(high), 0)):
                costs = sweep.fp + miss * (sweep.positives - sweep.tp)
                own = one.fp + miss * (sweep.positives - one.tp)
                assert (own <= costs.min() + 1e-9) == best
    assert seen >= 2


def test_one_false_alarm_is_no_plural() -> None:
    now, more, most = (NamedThreshold("now", "", "", 0.5, tp, fp) for tp, fp in ((10, 4), (13, 7), (14, 9)))
    assert _price(more, now) == "1"
    assert _price(most, more) == "2"
