"""For each rule an evaluation with its fault planted, and the same without the fault."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.data.predictions import Predictions, Threshold, predictions
from evalreport.data.scores import Decisions, Probabilities
from evalreport.evaluation.evaluation import Evaluation
from evalreport.features.text_labels.parser import make_parser, parse_all
from evalreport.features.weak_slices.find import weak_slices
from evalreport.intervals.interval_settings import Sampling
from tests import factories
from tests.findings.light import light

MAIL = Binary("ham", "spam")
INTENTS = tuple(f"intent_{code:02d}" for code in range(20))
UNIT = ("message", "messages")
Make: TypeAlias = Callable[[], Evaluation]
Array: TypeAlias = npt.NDArray[Any]
Bend: TypeAlias = Callable[[Array], Array]
Change: TypeAlias = Callable[[Array, Array], None]
"""Changes truth and answers in place."""


class Planted(NamedTuple):
    """A fault, and the same evaluation without it."""

    fault: Make
    sound: Make


def evaluated(p: Predictions) -> Evaluation:
    """Everything that findings read, of messages."""
    ev = light(p)
    return ev.with_provenance(replace(ev.provenance, unit=UNIT))


def random(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def mail(
    n: int = 1000,
    share: float = 0.5,
    bend: Bend = lambda logit: logit,
    **options: Any,
) -> Predictions:
    """Messages with P(spam), right unless it is bent (on the scale of the logit)."""
    rng = random()
    logit = 2.5 * rng.standard_normal(n) + np.log(share / (1 - share))
    truth = rng.random(n) < 1 / (1 + np.exp(-logit))
    score = 1 / (1 + np.exp(-bend(logit)))
    return predictions(MAIL, names(MAIL, truth), scores=Probabilities(score), **options)


def rare_mail(n: int = 5000, typical: float = -4.2, seed: int = 0) -> Predictions:
    """Right probabilities of rare spam, of which hardly any reaches one half."""
    rng = random(seed)
    score = 1 / (1 + np.exp(-rng.normal(typical, 1.0, n)))
    truth = rng.random(n) < score
    return predictions(MAIL, names(MAIL, truth), scores=Probabilities(score))


def names(space: Binary, truth: Array) -> list[str]:
    return [space.names[int(value)] for value in truth]


def pasted(times: int) -> Evaluation:
    """Sixty messages, each as often as said."""
    once = mail(60)
    assert isinstance(once.scores, Probabilities)
    truth = names(MAIL, np.tile(once.y_true, times))
    return evaluated(predictions(MAIL, truth, scores=Probabilities(np.tile(once.scores.values, times))))


def decided(truth: Sequence[int] | Array, answer: Sequence[int] | Array) -> Evaluation:
    """Spam and ham by label alone."""
    return evaluated(predictions(MAIL, names(MAIL, np.asarray(truth)), names(MAIL, np.asarray(answer))))


def decided_well(n: int = 1000, positives: int = 300) -> tuple[Array, Array]:
    """Truth with so many positives, and answers of which one in ten is wrong, alike in both directions."""
    truth = np.arange(n) < positives
    answer = truth.copy()
    answer[: positives // 10] = False
    answer[positives : positives + positives // 10] = True
    return truth, answer


def intents(
    change: Change = lambda *_: None,
    n: int = 2000,
    labels: Sequence[str] = INTENTS,
    declared: Sequence[str] | None = None,
) -> Evaluation:
    """Balanced intents of which a tenth is mistaken for any other, then changed in place."""
    return evaluated(intent_rows(change, n, labels, declared))


def intent_rows(
    change: Change = lambda *_: None,
    n: int = 2000,
    labels: Sequence[str] = INTENTS,
    declared: Sequence[str] | None = None,
) -> Predictions:
    rng = random(1)
    truth = np.arange(n) % len(labels)
    answer = np.where(rng.random(n) < 0.9, truth, rng.integers(0, len(labels), n))
    change(truth, answer)
    known = np.asarray(labels)
    return predictions(Multiclass(declared or labels), known[truth], known[answer])


def silence(truth: Array, answer: Array) -> None:
    answer[answer == 3] = 4


def abandon(truth: Array, answer: Array) -> None:
    """Half of the rows are two intents and right; of the other eighteen nothing is left."""
    half = np.arange(len(truth)) % 2 == 0
    truth[half] = random(2).integers(0, 2, half.sum())
    truth[~half] = random(2).integers(2, 20, (~half).sum())
    answer[:] = np.where(truth < 2, truth, random(3).integers(0, 2, len(truth)))


def attract(truth: Array, answer: Array) -> None:
    answer[random(2).random(len(answer)) < 0.3] = 7


def one_way(truth: Array, answer: Array) -> None:
    answer[np.flatnonzero(truth == 5)[:60]] = 6


def relate(truth: Array, answer: Array) -> None:
    """Intents 0 to 3, and 4 and 5, are mistaken for one another."""
    rng = random(3)
    for family in (range(4), range(4, 6)):
        rows = np.flatnonzero(np.isin(truth, family) & (rng.random(len(truth)) < 0.4))
        answer[rows] = rng.choice(list(family), len(rows))


def no_examples(truth: Array, answer: Array) -> None:
    for codes in (truth, answer):
        codes[codes == 3] = 4


def only_answers(truth: Array, answer: Array) -> None:
    truth[truth == 3] = 4


SPELT = (*INTENTS[:5], " intent_03", *INTENTS[6:])


def respelt(truth: Array, answer: Array) -> None:
    """Intent 3 stands in the truth alone, and its answers have a space before it."""
    truth[truth == 5] = 3
    answer[np.isin(answer, (3, 5))] = 5


def drift(truth: Array, answer: Array) -> None:
    """One of three classes is answered a quarter too often."""
    answer[np.flatnonzero(answer == 0)[:180]] = 1


def few_of_one(truth: Array, answer: Array) -> None:
    truth[np.flatnonzero(truth == 3)[12:]] = 4
    answer[answer == 3] = 4
    answer[truth == 3] = 3


def answers(read: Callable[[str, int], str], n: int = 400, fuzzy: bool = False) -> Evaluation:
    """Intents named in text, one in ten wrong."""
    labels = INTENTS[:4]
    rng = random(4)
    truth = np.arange(n) % 4
    code = np.where(rng.random(n) < 0.9, truth, rng.integers(0, 4, n))
    texts = [read(labels[answer], row) for row, answer in enumerate(code)]
    parsed = parse_all(texts, make_parser("auto", labels, fuzzy=fuzzy))
    return evaluated(predictions(Multiclass(labels), np.asarray(labels)[truth], parsed))


def tags(
    bend: Bend = lambda logit: logit,
    decide: Callable[[Array], Array] | None = None,
    middle: float = -1.0,
) -> Evaluation:
    """Rows with several tags and right probabilities, unless they are bent."""
    return evaluated(tag_rows(bend, decide, middle))


def tag_rows(
    bend: Bend = lambda logit: logit,
    decide: Callable[[Array], Array] | None = None,
    middle: float = -1.0,
) -> Predictions:
    rng = random(5)
    logit = 2 * rng.standard_normal((1000, 10)) + middle
    truth = rng.random(logit.shape) < 1 / (1 + np.exp(-logit))
    score = 1 / (1 + np.exp(-bend(logit)))
    space = Multilabel([f"tag{code}" for code in range(10)])
    if decide is not None:
        return predictions(space, truth, decide(score))
    return predictions(space, truth, scores=Probabilities(score))


def sparse(right: float) -> Evaluation:
    """Forty labels of which a row carries about one; a share of them is found."""
    rng = random(6)
    truth = rng.random((600, 40)) < 1 / 40
    found = truth & (rng.random(truth.shape) < right)
    added = ~truth & (rng.random(truth.shape) < 0.0002)
    return evaluated(predictions(Multilabel([f"tag{code}" for code in range(40)]), truth, found | added))


def moved(rows: int) -> Evaluation:
    """Decisions at a threshold of 0.3, but for a few rows."""
    whole = mail()
    assert isinstance(whole.scores, Probabilities)
    answer = whole.scores.values >= 0.3
    answer[:rows] = ~answer[:rows]
    truth = names(MAIL, whole.y_true)
    return evaluated(predictions(MAIL, truth, names(MAIL, answer), whole.scores))


def confident(own: bool) -> Evaluation:
    """Scores of the answer that was given, or of spam."""
    whole = mail()
    assert isinstance(whole.scores, Probabilities)
    score = whole.scores.values
    answer = score >= 0.5
    shown = np.where(answer, score, 1 - score) if own else score
    return evaluated(predictions(MAIL, names(MAIL, whole.y_true), names(MAIL, answer), Probabilities(shown)))


def searched(share: float) -> Evaluation:
    """Messages of which a tenth is wrong, and so many of one site, with the search of weak slices."""
    rng = random()
    sites = rng.choice(["berlin", "tokyo", "lima", "oslo"], 2000)
    truth = rng.random(2000) < 0.4
    answer = truth ^ (rng.random(2000) < np.where(sites == "lima", share, 0.1))
    p = predictions(MAIL, names(MAIL, truth), names(MAIL, answer), columns={"site": sites.astype(object)})
    return replace(evaluated(p), weak_slices=weak_slices(p, Sampling()))


def grouped(missed: float) -> Evaluation:
    """Two sites, one of which misses a share more of its spam."""
    whole, rng = mail(1200), random(7)
    site = np.where(rng.random(1200) < 0.3, "south", "north")
    answer = np.array(whole.y_pred)
    answer[(site == "south") & (rng.random(1200) < missed)] = 0
    return evaluated(predictions(MAIL, names(MAIL, whole.y_true), names(MAIL, answer), slices={"site": site}))


def repeated(times: int, clash: bool = False) -> Evaluation:
    """Texts of which the first stands there so often."""
    texts = [f"text {max(row, times - 1)}" for row in range(1000)]
    if clash:
        texts[-1] = texts[-2] = texts[np.flatnonzero(mail().y_true != mail().y_true[-1])[-1]]
    return evaluated(mail(texts=texts))


def ninety_nine(finds: int) -> Evaluation:
    """Ten of a thousand are spam, of which so many are found."""
    return decided(np.arange(1000) < 10, np.arange(1000) < finds)


def constant(value: float | None) -> Evaluation:
    score = random().random(300) if value is None else np.full(300, value)
    return evaluated(
        predictions(MAIL, names(MAIL, random(1).random(300) < score), scores=Probabilities(score))
    )


def rounded(hard: bool) -> Evaluation:
    whole = mail()
    assert isinstance(whole.scores, Probabilities)
    score = np.round(whole.scores.values) if hard else whole.scores.values
    return evaluated(predictions(MAIL, names(MAIL, whole.y_true), scores=Probabilities(score)))


def two_models(shift: float) -> Evaluation:
    """Messages whose probabilities are too low in the south and too high in the north: right on the whole."""
    south = np.arange(4000) % 2 == 0
    bend: Bend = lambda logit: logit + shift * np.where(south, -1, 1)  # noqa: E731
    sites = np.where(south, "south", "north").tolist()
    return evaluated(mail(4000, bend=bend, slices={"site": sites}))


def nearly_random(n: int) -> Evaluation:
    """Scores that rank a positive above a negative 53 times of 100."""
    truth = random().random(n) < 0.5
    score = 1 / (1 + np.exp(-random(1).standard_normal(n) * 0.1 - 0.01 * truth))
    return evaluated(predictions(MAIL, names(MAIL, truth), scores=Probabilities(score)))


def saturated(share: float) -> Evaluation:
    """Probabilities of which so many are exactly 0 or 1, as those of a forest are."""
    whole = mail()
    assert isinstance(whole.scores, Probabilities)
    score = whole.scores.values.copy()
    sure = np.argsort(-np.abs(score - 0.5))[: int(share * len(score))]
    score[sure] = score[sure].round()
    return evaluated(predictions(MAIL, names(MAIL, whole.y_true), scores=Probabilities(score)))


def chosen(origin: Any) -> Evaluation:
    return evaluated(mail().with_threshold(Threshold(0.42, origin)))


def margins_alone(threshold: float | None) -> Evaluation:
    whole = factories.margins()
    assert isinstance(whole.scores, Decisions)
    truth = np.asarray(whole.space.names)[whole.y_true]
    return evaluated(predictions(whole.space, truth, scores=whole.scores, threshold=threshold))


PLANTED: Mapping[str, Planted] = {
    "one_class": Planted(
        lambda: decided(np.zeros(300), np.arange(300) < 9),
        lambda: decided(np.arange(300) < 5, np.arange(300) < 9),
    ),
    "lookalikes": Planted(lambda: intents(respelt, labels=SPELT), intents),
    "own_scores": Planted(lambda: confident(True), lambda: confident(False)),
    "no_skill": Planted(
        lambda: decided(random(1).random(500) < 0.5, random(2).random(500) < 0.5),
        lambda: decided(*decided_well()),
    ),
    "repeated_rows": Planted(lambda: pasted(10), lambda: pasted(1)),
    "effective_rows": Planted(
        lambda: evaluated(mail(weights=random(1).lognormal(0, 1.5, 1000))),
        lambda: evaluated(mail(weights=random(1).lognormal(0, 0.2, 1000))),
    ),
    "barely_better": Planted(lambda: nearly_random(20_000), lambda: nearly_random(200)),
    "certain_scores": Planted(lambda: saturated(0.3), lambda: saturated(0.0)),
    "skill_not_significant": Planted(lambda: evaluated(mail(12)), lambda: evaluated(mail())),
    "inverted": Planted(lambda: evaluated(mail(bend=np.negative)), lambda: evaluated(mail())),
    "constant_scores": Planted(lambda: constant(0.3), lambda: constant(None)),
    "never_predicted": Planted(lambda: intents(silence), intents),
    "micro_macro_gap": Planted(lambda: intents(abandon), intents),
    "overpredicted_labels": Planted(lambda: intents(attract), intents),
    "parse_failures": Planted(
        lambda: answers(lambda label, row: label if row % 8 else "I cannot help with that."),
        lambda: answers(lambda label, _: label),
    ),
    "too_perfect": Planted(
        lambda: decided(np.arange(200) < 80, np.arange(200) < 80), lambda: decided(*decided_well(200, 80))
    ),
    "imbalance": Planted(lambda: ninety_nine(0), lambda: decided(*decided_well())),
    "off_scores": Planted(lambda: moved(40), lambda: moved(0)),
    "hard_scores": Planted(lambda: rounded(True), lambda: rounded(False)),
    "unknown_threshold": Planted(lambda: margins_alone(None), lambda: margins_alone(0.0)),
    "two_accuracies": Planted(lambda: sparse(0.3), lambda: tags(middle=0.0)),
    "empty_predictions": Planted(lambda: sparse(0.3), lambda: sparse(0.98)),
    "label_load": Planted(
        lambda: tags(decide=lambda score: score > 0.1), lambda: tags(decide=lambda score: score > 0.4)
    ),
    "default_threshold": Planted(
        lambda: evaluated(mail(4000, bend=lambda logit: logit - 3)), lambda: evaluated(mail(4000))
    ),
    "threshold_not_chosen": Planted(lambda: evaluated(rare_mail()), lambda: evaluated(mail(4000))),
    "one_threshold": Planted(lambda: tags(bend=lambda logit: logit - 2), tags),
    "weak_slice": Planted(lambda: searched(0.5), lambda: searched(0.1)),
    "slice_gap": Planted(lambda: grouped(0.3), lambda: grouped(0.0)),
    "slice_calibration": Planted(lambda: two_models(0.8), lambda: two_models(0.0)),
    "families": Planted(lambda: intents(relate), intents),
    "top_confusions": Planted(lambda: intents(one_way), intents),
    "miscalibrated": Planted(
        lambda: evaluated(mail(bend=lambda logit: 3 * logit)), lambda: evaluated(mail())
    ),
    "refusals": Planted(
        lambda: answers(lambda label, row: label if row % 8 else "I'm sorry, but I can't assist with that."),
        lambda: answers(lambda label, row: label if row % 8 else ""),
    ),
    "unparsed_labels": Planted(
        lambda: answers(lambda label, row: "" if row % 4 == 2 else label),
        lambda: answers(lambda label, row: "" if row % 8 == 2 else label),
    ),
    "few_events": Planted(lambda: decided(*decided_well(300, 40)), lambda: decided(*decided_well(300, 120))),
    "small_classes": Planted(lambda: intents(few_of_one), intents),
    "duplicates": Planted(lambda: repeated(40), lambda: repeated(1)),
    "fuzzy_labels": Planted(
        lambda: answers(lambda label, row: label if row % 8 else label.replace("int", "imt"), fuzzy=True),
        lambda: answers(lambda label, _: label, fuzzy=True),
    ),
    "class_shares": Planted(lambda: intents(drift, labels=INTENTS[:3]), lambda: intents(labels=INTENTS[:3])),
    "spurious_classes": Planted(lambda: intents(only_answers), intents),
    "absent_classes": Planted(lambda: intents(no_examples), intents),
    "macro_definitions": Planted(lambda: intents(declared=(*INTENTS, "never seen")), intents),
    "other_threshold": Planted(lambda: moved(0), lambda: evaluated(mail())),
    "same_rows": Planted(lambda: chosen("cross-fitted"), lambda: chosen("tuned")),
    "format_drift": Planted(
        lambda: answers(
            lambda label, row: (
                label,
                f"Intent: {label}",
                f'{{"intent": "{label}"}}',
                f"<intent>{label}</intent>",
            )[row % 4]
        ),
        lambda: answers(lambda label, row: label if row % 50 else f"Intent: {label}"),
    ),
    "data_notes": Planted(lambda: evaluated(mail(notes=("a column was empty",))), lambda: evaluated(mail())),
}
"""By name of the rule."""
