"""What the sample allows to be known: repeats that are none, few groups behind many rows, gaps in points."""

from __future__ import annotations

import re

import numpy as np
import pytest

import evalreport as er
from evalreport.core.result import Finding
from evalreport.data.labels import Binary, Multiclass
from evalreport.data.predictions import predictions
from evalreport.evaluation.data_checks import row_facts
from evalreport.evaluation.evaluation import Evaluation
from evalreport.findings.sample import slice_calibration
from tests.findings.light import light

RNG = np.random.default_rng(8)
TRUTH = RNG.integers(0, 2, 3000)
SCORES = RNG.beta(2, 3, 3000)
CLASSES = Multiclass([0, 1, 2])


def found(ev: Evaluation) -> dict[str, Finding]:
    return {finding.rule: finding for finding in ev.findings}


def scored(truth: np.ndarray, scores: np.ndarray, **more: object) -> Evaluation:
    return er.evaluate(truth, scores=er.Probabilities(scores), confidence=None, **more)  # type: ignore[arg-type]


LOGITS = np.log(SCORES / (1 - SCORES))
GRIDS = {
    **{f"{digits} decimals": SCORES.round(digits) for digits in (3, 4, 5)},
    "three digits": np.array([float(f"{score:.3g}") for score in SCORES]),
    "float16": SCORES.astype(np.float16),
    "float32, nearly sure": (1 / (1 + np.exp(-4 * LOGITS - 6))).astype(np.float32),
    "float16 logits": 1 / (1 + np.exp(-LOGITS.astype(np.float16).astype(np.float64))),
    "rounded logits": 1 / (1 + np.exp(-LOGITS.round(3))),
}


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("weights", [None, RNG.uniform(0.5, 1.5, 3000)])
def test_rounded_scores_that_meet_are_no_repeats(grid: str, weights: np.ndarray | None) -> None:
    rounded = GRIDS[grid]
    assert len(np.unique(rounded)) < len(rounded) - 20
    assert "repeated_rows" not in found(scored(TRUTH, rounded, weights=weights))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_pasted_rows_are_distinguished_from_rounding(kind: type[np.floating]) -> None:
    again = np.r_[np.arange(3000), np.arange(50)]
    claim = found(scored(TRUTH[again], SCORES.astype(kind)[again]))["repeated_rows"]
    assert 50 <= claim.evidence["again"] <= 52  # of 3,000 scores in 32 bits one may meet another


def test_saturated_scores_are_no_repeats_and_copies_of_rounded_ones_are() -> None:
    saturated = np.where(RNG.random(3000) < 0.1, TRUTH, SCORES)
    assert "repeated_rows" not in found(scored(TRUTH, saturated))
    classes = RNG.dirichlet([1, 1, 1], 300)
    classes[:60] = np.eye(3)[RNG.integers(0, 3, 60)]
    assert "repeated_rows" not in found(scored(np.array(["a", "b", "c"] * 100), classes))
    rounded, again = SCORES.round(3), np.r_[np.arange(3000), np.arange(3000)]
    claim = found(scored(TRUTH[again], rounded[again]))["repeated_rows"].evidence
    assert claim["again"] >= 3000


@pytest.mark.parametrize(("rows", "pasted"), [(300, 100), (3000, 300), (100_000, 5000)])
def test_classes_rounded_to_two_digits_are_no_repeats_and_pasted_rows_are(rows: int, pasted: int) -> None:
    """Scores of three classes: spread over all places, or nearly sure of the right one."""
    rng = np.random.default_rng(rows)
    truth = rng.integers(0, 3, rows)
    sure = rng.dirichlet([0.2, 0.2, 0.2], rows)
    sure[np.arange(rows), truth] += 1
    for scores in (rng.dirichlet([1, 1, 1], rows), sure / sure.sum(axis=1, keepdims=True)):
        for digits in (2, 3):
            facts = row_facts(predictions(CLASSES, truth, scores=er.Decisions(scores.round(digits))))
            assert facts.get("repeated_rows", 0) < 0.01 * rows
        fine = np.r_[np.arange(rows), np.arange(pasted)]
        facts = row_facts(predictions(CLASSES, truth[fine], scores=er.Decisions(scores[fine])))
        assert facts["repeated_rows"] == pasted
        again = np.tile(np.arange(60), 10)
        facts = row_facts(predictions(CLASSES, truth[again], scores=er.Decisions(scores[again].round(2))))
        assert facts["repeated_rows"] > 300


def people(seed: int, rows: int = 3000) -> tuple[np.ndarray, np.ndarray]:
    """Independent people with five categorical features: their outcomes, and their true probabilities."""
    rng = np.random.default_rng(seed)
    features = [rng.choice(size, rows, p=rng.dirichlet(np.full(size, 2.0))) for size in (2, 5, 6, 7, 9)]
    logit = sum(rng.normal(0, 0.5, 10)[feature] for feature in features) - 0.8
    chance = 1 / (1 + np.exp(-logit))
    return (rng.random(rows) < chance).astype(np.int64), chance


@pytest.mark.parametrize("seed", range(30))
def test_people_who_share_their_features_are_not_repeats(seed: int) -> None:
    truth, chance = people(seed)
    assert len(np.unique(chance)) < 0.6 * len(chance)
    assert "repeated_rows" not in row_facts(predictions(Binary(0, 1), truth, scores=er.Probabilities(chance)))
    both = np.stack([1 - chance, chance], axis=1)  # the same as two of several classes
    assert "repeated_rows" not in row_facts(
        predictions(Multiclass([0, 1]), truth, scores=er.Probabilities(both))
    )


def test_survey_of_statsmodels() -> None:
    """Affairs among 6,366 women (Fair 1978): each set of held-out women was said to repeat rows."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    datasets = pytest.importorskip("statsmodels.datasets")
    women = datasets.fair.load_pandas().data
    features, truth = (
        women.drop(columns="affairs").to_numpy(),
        (women["affairs"] > 0).to_numpy(dtype=np.int64),
    )
    models = (
        LogisticRegression(max_iter=1000),
        RandomForestClassifier(20, min_samples_leaf=3, random_state=0),
    )
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(truth))
        trained, held_out = order[:4000], order[4000:]
        for model in models:
            chance = model.fit(features[trained], truth[trained]).predict_proba(features[held_out])[:, 1]
            assert len(np.unique(chance)) < 0.99 * len(chance)
            rows = predictions(Binary(0, 1), truth[held_out], scores=er.Probabilities(chance))
            assert "repeated_rows" not in row_facts(rows)


@pytest.mark.parametrize("seed", range(10))
def test_people_some_of_whom_are_copied_are_suspected_but_not_accused(seed: int) -> None:
    """Positives written five times over, as when oversampling comes before the split."""
    truth, chance = people(seed)
    chance = np.random.default_rng(seed).beta(2, 3, len(truth)) * 0.2 + 0.8 * chance  # no two people alike
    again = np.random.default_rng(seed).choice(np.flatnonzero(truth), 300)
    rows = np.r_[np.arange(len(truth)), again]
    claim = found(scored(truth[rows], chance[rows]))["repeated_rows"]
    assert claim.evidence["again"] == 300
    assert claim.claim == (
        "300 cases of 3,300 have exactly the same label and score as another, more than chance explains, "
        "and may be duplicates."
    )


def test_equal_texts_may_be_duplicates() -> None:
    texts = [f"text {row}" for row in range(400)]
    texts[:10] = texts[10:20]
    ev = er.evaluate(TRUTH[:400] * 0 + np.arange(400) % 2, TRUTH[:400], texts=texts)
    assert (
        found(ev)["duplicates"].claim
        == "10 cases of 400 have the same text as another and may be duplicates."
    )
    assert "too narrow" not in found(ev)["duplicates"].claim


def test_many_examples_in_few_groups_are_not_called_few_examples() -> None:
    ev = er.evaluate(TRUTH[:500], TRUTH[:500], groups=np.arange(500) // 100)
    rules = found(ev)
    assert re.match(r"\d+ of 500 cases are “[01]”, but they are in 5 groups: ", rules["few_events"].claim)
    assert rules["few_events"].action.startswith("Add groups")
    interval = ev["mcc"]
    assert isinstance(interval, er.Estimate) and interval.low is not None
    assert ("skill_not_significant" in rules) == (interval.low <= 0)  # five groups, all right, may be chance
    uneven = er.evaluate(TRUTH[:500], TRUTH[:500], weights=np.r_[np.full(470, 0.01), np.full(30, 50.0)])
    claim = found(uneven)["few_events"]
    assert "but their weights are so uneven that they count as" in claim.claim
    assert claim.action.startswith("Check the largest weights")


FORTY = np.arange(300) < 40
MISSED = np.where(np.isin(np.arange(300), [*range(6), *range(100, 110)]), ~FORTY, FORTY)


@pytest.mark.parametrize(
    ("options", "words", "action"),
    [
        ({}, "Only 40 of 300 cases are “1”: their recall is 85% (71% to 93%).", "Add examples"),
        (
            {"groups": np.arange(300) // 10},
            "40 of 300 cases are “1”, but they are in 4 groups: ",
            "Add groups",
        ),
        (
            {"weights": np.where(np.arange(300) == 3, 39.0, 1.0)},
            "40 of 300 cases are “1”, but one of them has 50% of their weight: ",
            "Check this weight",
        ),
    ],
)
def test_the_cause_of_a_wide_interval_and_its_advice(
    options: dict[str, np.ndarray], words: str, action: str
) -> None:
    ev = er.evaluate(FORTY.astype(int), MISSED.astype(int), **options)  # type: ignore[arg-type]
    few = found(ev)["few_events"]
    assert few.claim.startswith(words)
    assert few.action.startswith(action)
    recall = ev["recall"]
    assert isinstance(recall, er.Estimate)
    assert (few.evidence["low"], few.evidence["high"]) == (recall.low, recall.high)
    skill = found(ev).get("skill_not_significant")
    assert skill is None or skill.action == few.action  # one advice


@pytest.mark.parametrize(("right", "severity"), [(19, "note"), (10, "caution")])
def test_the_severity_of_a_small_class_follows_its_interval(right: int, severity: str) -> None:
    """Of 19 of 19 right, 83% to 100%, nobody can say that it is mostly chance."""
    truth = np.repeat([0, 1, 2], [200, 200, 19])
    answer = truth.copy()
    answer[400 : 419 - right] = 0
    answer[:20] = 1
    small = found(er.evaluate(truth, answer))["small_classes"]
    assert small.severity == severity
    ends = "100% (83.2% to 100%)" if right == 19 else "53% (32% to 73%)"
    assert small.claim == f"1 of 3 classes has fewer than 20 examples (19): “2”. Recall of “2” is {ends}."


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rows", [500, 5000])
def test_a_gain_over_the_constant_answer_is_said_with_its_interval(rows: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.random(rows) < 0.1
    answer = np.where(rng.random(rows) < 0.955, truth, ~truth)
    gain = found(er.evaluate(truth.astype(int), answer.astype(int)))["imbalance"]
    assert "hardly" not in gain.claim
    if gain.evidence["least"] > 0 and gain.severity == "caution":
        assert re.search(r"is [\d.]+ points better \([\d.]+ to [\d.]+\)\.$", gain.claim), gain.claim
    by_rows = (answer == truth).astype(float) - ~truth
    half = 1.96 * by_rows.std() / np.sqrt(rows)
    assert gain.evidence["less"] == pytest.approx(abs(by_rows.mean()))
    assert gain.evidence["most"] - gain.evidence["less"] == pytest.approx(half, rel=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_significant_is_not_useful(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.random(200_000) < 0.3
    scores = 1 / (1 + np.exp(-rng.normal(0.035 * truth)))
    rules = found(er.evaluate(truth.astype(int), scores=er.Probabilities(scores)))
    assert rules["barely_better"].claim.startswith("Barely better than chance: ROC AUC is 0.5")
    assert rules["barely_better"].evidence["high"] < 0.6
    assert not {"no_skill", "skill_not_significant", "default_threshold"} & set(rules)


def test_the_gap_of_a_group_is_in_points_where_the_metric_is_in_per_cent() -> None:
    site = np.where(np.arange(3000) % 3 == 0, "south", "north")
    answers = np.where((site == "south") & (RNG.random(3000) < 0.4), 1 - TRUTH, TRUTH)
    ev = er.evaluate(TRUTH, answers, slices={"site": site})
    gap = found(ev)["slice_gap"]
    assert re.search(r" is [\d.]+%, [\d.]+ points lower \([\d.]+ to [\d.]+\)", gap.claim), gap.claim
    own, less = (float(number) for number in re.search(r"is ([\d.]+)%, ([\d.]+) points", gap.claim).groups())  # type: ignore[union-attr]
    assert own == pytest.approx(100 * gap.evidence["own"], abs=0.06)
    assert less == pytest.approx(100 * gap.evidence["less"], abs=0.06)


@pytest.mark.parametrize("seed", range(4))
def test_agreement_without_a_mistake_is_known_about_as_well_as_accuracy(seed: int) -> None:
    """The mean of draws is noise, on either side of 0; it moved MCC off its end, and its limit to −0.84."""
    truth = np.random.default_rng(seed).choice(list("abcd"), 400)
    ev = er.evaluate(truth, truth, labels=er.Multiclass("abcdef"))
    accuracy, *agreements = (ev[name] for name in ("accuracy", "mcc", "cohen_kappa"))
    assert isinstance(accuracy, er.Estimate) and accuracy.low is not None
    for agreement in agreements:
        assert isinstance(agreement, er.Estimate) and agreement.low is not None
        assert 1 - agreement.low == pytest.approx(2 * (1 - accuracy.low), rel=0.05)


def two_sites(seed: int, shift: float, rows: int = 2000) -> Evaluation:
    """Right probabilities, their logit shifted down in the south, and up in the north, which is rarer."""
    rng = np.random.default_rng(seed)
    south = rng.random(rows) < 0.5
    logit = rng.normal(np.where(south, -0.5, -1.5), 1.5)
    truth = rng.random(rows) < 1 / (1 + np.exp(-logit))
    scores = 1 / (1 + np.exp(-logit - shift * np.where(south, -1, 1)))
    sites = np.where(south, "south", "north").tolist()
    return light(
        predictions(Binary(0, 1), truth.astype(int), scores=er.Probabilities(scores), slices={"site": sites})
    )


@pytest.mark.parametrize("seed", range(12))
def test_sites_with_right_probabilities_are_not_called_miscalibrated(seed: int) -> None:
    assert slice_calibration(two_sites(seed, 0.0, rows=600)) is None


@pytest.mark.parametrize("seed", range(6))
def test_a_model_that_is_right_on_the_whole_and_wrong_in_each_site(seed: int) -> None:
    ev = two_sites(seed, 0.8)
    claim = slice_calibration(ev)
    assert claim is not None
    part = next(one for one in ev.slices if one.value == claim.evidence["value"])
    assert claim.evidence["own"] == part.metrics[claim.evidence["judged_by"]].value
    if claim.evidence["judged_by"] == "observed_expected_ratio":
        word = "low" if claim.evidence["value"] == "south" else "high"
        assert claim.claim.startswith(f"The probabilities are too {word} for ")
        assert " than for the rest (" in claim.claim
        assert "1 more group differs from the rest" in claim.claim


def test_shares_of_weighted_rows_are_called_so() -> None:
    ev = er.evaluate(FORTY.astype(int), MISSED.astype(int), weights=np.where(FORTY, 1.0, 1.5))
    misleads = found(ev)["imbalance"].claim
    assert "of weighted cases" in misleads or "less impressive" in misleads
    none = er.evaluate(FORTY.astype(int), np.zeros(300, dtype=int), weights=np.where(FORTY, 1.0, 1.5))
    assert re.search(r"is right for [\d.]+% of weighted cases", found(none)["imbalance"].claim)


@pytest.mark.parametrize(("knows", "severity"), [(True, "caution"), (False, "error")])
@pytest.mark.parametrize("seed", range(4))
def test_too_many_predictions_of_a_class_are_an_error_where_nothing_is_known_of_it(
    knows: bool, severity: str, seed: int
) -> None:
    """Half of all answers are one class of five, with its own examples where the model knows it."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 5, 2000)
    always = rng.random(2000) < 0.5
    answer = np.where(always, 0, rng.integers(1, 5, 2000))
    if knows:
        answer = np.where(truth == 0, 0, answer)
    assert found(er.evaluate(truth, answer))["overpredicted_labels"].severity == severity


@pytest.mark.parametrize("weights", [None, np.where(np.arange(100) < 20, 0.0, 1.0)])
def test_absent_classes_are_those_without_a_true_example(weights: np.ndarray | None) -> None:
    truth = np.where(np.arange(100) < 20, "a", np.where(np.arange(100) < 60, "b", "c"))
    answer = np.where(np.arange(100) % 7 == 0, "d", truth)
    ev = er.evaluate(truth, answer, labels=er.Multiclass("abcde"), weights=weights)
    absent = [entry for entry in ev.classes if entry.state in ("absent", "spurious")]
    assert ev["n_absent"].value == len(absent) == (2 if weights is None else 3)
    assert found(ev)["absent_classes"].evidence["n_absent"] == len(absent)
