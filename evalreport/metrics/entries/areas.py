"""Records that multiclass and multilabel share: averages over classes or labels of areas under curves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from evalreport.facts import LabelScores, Summary
from evalreport.labels import Task
from evalreport.metrics.averages import AreaAverage, Over
from evalreport.metrics.entries.binary_counts import always
from evalreport.metrics.record import Metric, view
from evalreport.metrics.strategies import LabelAreas


@dataclass(frozen=True)
class AreaBase:
    """What is averaged; {many} stands for classes or labels, {one} for one of them."""

    area: Literal["roc_auc", "average_precision"]
    name: str
    multiclass_name: str
    title: str
    word: str
    use: str
    traps: dict[str, str]


@dataclass(frozen=True)
class AreaWay:
    """How it is averaged."""

    over: Over | Literal["micro"]
    title: str
    meaning: str
    formula: str
    trap: str


ROC_AUC = AreaBase(
    "roc_auc",
    "roc_auc",
    "roc_auc_ovr",
    "ROC AUC",
    "ROC AUC",
    "the ranking of rows by each {one}'s score is used",
    {
        "multiclass": "With many classes each is rare, and 0.95 still means many false alarms",
        "multilabel": "With rare labels 0.95 still means many false alarms",
    },
)
PRECISION = AreaBase(
    "average_precision",
    "average_precision",
    "average_precision",
    "average precision",
    "average precision",
    "{many} are rare and the top of each ranking counts",
    dict.fromkeys(("multiclass", "multilabel"), "Its no-skill level is how frequent the {many} are"),
)
MACRO = AreaWay(
    "macro",
    "Macro {title}",
    "mean {word} over the {many} that have examples",
    "mean of {word} over the {many} with examples, and without",
    "over the {many} that can be measured; where one cannot, scikit-learn returns NaN for the AUC and counts "
    "its average precision as 0",
)
DECLARED = AreaWay(
    "macro_declared",
    "Macro {title} (all declared {many})",
    "mean {word} over all declared {many}",
    "mean of {word}",
    "undefined as soon as one {one} cannot be measured: nothing is known of it, and 0 would be a guess",
)
WEIGHTED = AreaWay(
    "weighted",
    "Weighted {title}",
    "mean {word} over {many}, by their number of true examples",
    "sum over {many} of P {word} / sum of P",
    "a {one} without examples weighs nothing here, while scikit-learn returns NaN. It moves with the "
    "mix of {many}",
)
MICRO = AreaWay(
    "micro",
    "Micro {title}",
    "{word} of all (row, {one}) decisions pooled",
    "{word} of all (row, {one}) decisions",
    "scores of different {many} have to be comparable; frequent {many} rule it",
)


def area(task: Task, base: AreaBase, way: AreaWay) -> Metric:
    """Return the record of one average of areas."""
    one, many = ("label", "labels") if task == "multilabel" else ("class", "classes")
    average = AreaAverage(base.area, way.over)
    name = base.multiclass_name if task == "multiclass" else base.name

    def said(text: str) -> str:
        return text.format(title=base.title, word=base.word, one=one, many=many)

    return Metric(
        name=f"{name}_{way.over}",
        title=said(way.title),
        meaning=said(way.meaning),
        formula=said(way.formula),
        task=task,
        needs="scores",
        reads="scores",
        low=0.0,
        high=1.0,
        better="higher",
        strategy=LabelAreas(),
        function=average,
        undefined=_unmeasured(average, many),
        no_skill=always(0.5) if base.area == "roc_auc" else chance_precision,
        source=f"scikit-learn {base.area}_score(average={_named(way)})",
        use=said(base.use),
        trap=f"{said(way.trap)}. {said(base.traps[task])}",
    )


def _named(way: AreaWay) -> str:
    """The scikit-learn argument that gives the same where every class has examples."""
    return repr("macro" if way is DECLARED else way.over)


def _unmeasured(average: AreaAverage, many: str) -> Callable[[LabelScores], str]:
    def reason(scores: LabelScores) -> str:
        without = average.unmeasured(scores)
        if without == scores.size:
            return f"none of the {many} has rows of either kind"
        return f"{without} of {scores.size} {many} cannot be measured: no row carries them, or every row"

    return reason


def chance_precision(summary: Summary) -> float:
    """Return the mean prevalence of the labels that occur: average precision of a random ranking."""
    positives = view(summary, "scores").rankings.positives
    return float(positives[positives > 0].mean() / summary.weight) if positives.any() else float("nan")
