"""Records that multiclass and multilabel share: averages over classes or labels of precision, recall, F1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from evalreport.facts import BinaryCounts, Summary
from evalreport.labels import Task
from evalreport.metrics import binary_counts as count
from evalreport.metrics.averages import Average, Over, Pooled
from evalreport.metrics.record import Metric
from evalreport.metrics.strategies import CountDraws, RightAnswers

NoSkill: TypeAlias = Callable[[Summary], float] | None


@dataclass(frozen=True)
class Base:
    """What is averaged."""

    name: str
    word: str
    of: Callable[[BinaryCounts], Any]
    formula: str
    trap: str
    rate: bool = True


@dataclass(frozen=True)
class Way:
    """How it is averaged; {many} stands for classes or labels, {one} for one of them."""

    over: Over | Literal["micro"]
    title: str
    meaning: str
    use: str
    multiclass_trap: str
    multilabel_trap: str = ""


FORMULAS = {"micro": "{} of summed counts", "weighted": "mean of {}, weighted by P"}
"""How an average is written, where every label does not count the same."""

PRECISION = Base(
    "precision",
    "precision",
    count.precision,
    "TP / (TP + FP)",
    "a {one} that is never predicted has no precision and counts as 0; the interval also holds the value "
    "that the average has if it was only missed in this sample",
)
RECALL = Base(
    "recall",
    "recall",
    count.recall,
    "TP / P",
    "a {one} without true examples has no recall and counts as 0",
)
F1 = Base(
    "f1",
    "F1",
    count.f1,
    "2 TP / (2 TP + FP + FN)",
    "the mean of the {many}' F1, not the F1 of mean precision and mean recall, which some papers report",
    rate=False,
)
MICRO = Way(
    "micro",
    "Micro {word}",
    "{word} of all {one} decisions pooled",
    "every decision counts the same",
    "with one label per row it equals accuracy, unless answers could not be parsed: then precision is "
    "that of the parsed and recall is accuracy",
    "frequent labels rule it",
)
MACRO = Way(
    "macro",
    "Macro {word}",
    "mean {word} over {many}, each counting the same",
    "rare {many} matter as much as frequent ones",
    "over the classes that occur in truth or predictions, as scikit-learn does by default: an absent class "
    "that is predicted once pulls it down, one that is never predicted does not",
    "over all labels; one that neither occurs nor is predicted counts as 0",
)
SUPPORTED = Way(
    "macro_supported",
    "Macro {word} ({many} with examples)",
    "mean {word} over the {many} that have true examples",
    "the sample lacks some {many}, about which it can say nothing",
    "a prediction of an absent class lowers it only as an error on another class",
    "false alarms of labels without examples do not show in it",
)
DECLARED = Way(
    "macro_declared",
    "Macro {word} (all declared {many})",
    "mean {word} over all declared {many}, those without true examples counting 0",
    "samples of one label set are compared, and each has to answer for all of it",
    "absent classes drag it down, which is no failure of the model",
)
WEIGHTED = Way(
    "weighted",
    "Weighted {word}",
    "mean {word} over {many}, by their number of true examples",
    "one number that follows the mix of {many}",
    "frequent classes rule it; weighted recall is accuracy again",
    "frequent labels rule it",
)


def averaged(task: Task, base: Base, way: Way, no_skill: Callable[[Callable[[Any], Any]], NoSkill]) -> Metric:
    """Return the record of one average; `no_skill` makes its level from its function."""
    one, many = ("label", "labels") if task == "multilabel" else ("class", "classes")
    function = Pooled(base.of) if way.over == "micro" else Average(base.of, way.over)
    trap = way.multilabel_trap if task == "multilabel" else way.multiclass_trap
    if isinstance(function, Average):
        trap = f"{trap}; {base.trap}"

    def said(text: str) -> str:
        return text.format(word=base.word, one=one, many=many)

    return Metric(
        name=f"{base.name}_{way.over}",
        rate=base.rate,
        title=said(way.title),
        meaning=said(way.meaning),
        formula=FORMULAS.get(way.over, "mean of {}").format(base.formula),
        task=task,
        needs="counts",
        reads="counts",
        low=0.0,
        high=1.0,
        better="higher",
        strategy=RightAnswers() if _of_right(task, base, way) else CountDraws(),
        function=function,
        undefined="nothing to average: no positive, or nothing predicted",
        no_skill=no_skill(function),
        source=f"scikit-learn {base.name}_score(average={_named(way)}, zero_division=0)",
        use=said(way.use),
        trap=said(trap),
    )


def _of_right(task: Task, base: Base, way: Way) -> bool:
    """Whether it is a share of right answers: with one answer per row, false ones are missed ones too."""
    return task == "multiclass" and (way is MICRO or (base is RECALL and way is WEIGHTED))


def _named(way: Way) -> str:
    """The scikit-learn argument that gives the same."""
    match way.over:
        case "macro_supported":
            return "'macro', labels=those in the truth"
        case "macro_declared":
            return "'macro', labels=all declared"
        case over:
            return repr(over)
