"""Averages over classes or labels of a function of their counts.

Records that multiclass and multilabel share: averages over classes or labels of areas under curves.

Records that multiclass and multilabel share: averages over classes or labels of precision, recall, F1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from evalreport.data.labels import Task
from evalreport.metrics import binary_decisions as count
from evalreport.metrics.binary_decisions import constant_level
from evalreport.metrics.record import CountDraws, LabelAreas, Metric, RightAnswers, divide, view
from evalreport.statistics.class_scores import LabelScores
from evalreport.statistics.confusion import Array, BinaryCounts, Marginals
from evalreport.statistics.rankings import Rankings
from evalreport.statistics.summary import RowSums, Summary

Over: TypeAlias = Literal["macro", "macro_supported", "macro_declared", "weighted"]
Fact: TypeAlias = BinaryCounts | Marginals


def labelwise(fact: Fact) -> BinaryCounts:
    """Return each class or label against all others, arrays of shape (..., K)."""
    return fact.one_vs_rest if isinstance(fact, Marginals) else fact


@dataclass(frozen=True)
class Average:
    """Average over the last axis of a function of one-vs-rest counts.

    Parameters
    ----------
    of : callable
        From `BinaryCounts` to values; NaN counts as 0, as in scikit-learn with ``zero_division=0``.
    over : {"macro", "macro_supported", "macro_declared", "weighted"}
        Multiclass: ``macro`` over classes that occur in labels or predictions (scikit-learn's default),
        ``macro_supported`` over those with true examples, ``macro_declared`` over all declared,
        ``weighted`` by true examples. Multilabel: ``macro`` is over all labels, as in scikit-learn.

    Examples
    --------
    >>> from evalreport.metrics.binary_decisions import recall
    >>> counts = BinaryCounts(np.array([1.0, 0.0]), 0, np.array([1.0, 0.0]), np.array([0.0, 2.0]))
    >>> float(Average(recall, "macro")(counts)), float(Average(recall, "macro_supported")(counts))
    (0.25, 0.5)
    """

    of: Callable[[BinaryCounts], Any]
    over: Over

    def __call__(self, fact: Fact) -> Any:
        """Return the average; NaN if there is nothing to average."""
        weight = self._weight(fact)
        return divide((weight * np.nan_to_num(self.of(labelwise(fact)))).sum(axis=-1), weight.sum(axis=-1))

    def average_observed_classes(self, fact: Fact) -> Any:
        """Return the average over only the classes that have a value; NaN if none has one."""
        values, weight = self.parts(fact)
        return divide(
            (weight * np.nan_to_num(values)).sum(axis=-1), (weight * ~np.isnan(values)).sum(axis=-1)
        )

    def parts(self, fact: Fact) -> tuple[Any, Any]:
        """Return each class's value (NaN if it has none) and weight, arrays of shape (..., K)."""
        return self.of(labelwise(fact)), self._weight(fact)

    def _weight(self, fact: Fact) -> Any:
        counts = labelwise(fact)
        match self.over:
            case "weighted":
                return counts.positives
            case "macro_supported":
                return (counts.positives > 0).astype(np.float64)
            case "macro" if isinstance(fact, Marginals):
                return (counts.positives + counts.predicted_positives > 0).astype(np.float64)
            case _:
                return np.ones_like(counts.positives)


@dataclass(frozen=True)
class Pooled:
    """A function of the summed counts of all classes or labels: the micro average.

    Examples
    --------
    >>> from evalreport.metrics.binary_decisions import precision
    >>> counts = BinaryCounts(np.array([1.0, 3.0]), np.array([4.0, 0.0]), 0, 0)
    >>> float(Pooled(precision)(counts))
    0.5
    """

    of: Callable[[BinaryCounts], Any]

    def __call__(self, fact: Fact) -> Any:
        """Return the function of the summed counts."""
        c = labelwise(fact)
        shape = np.shape(c.tp)
        parts = (np.broadcast_to(part, shape).sum(axis=-1) for part in (c.tp, c.fp, c.fn, c.tn))
        return self.of(BinaryCounts(*parts))


@dataclass(frozen=True)
class Gap:
    """The difference between a micro average and an average over classes.

    Examples
    --------
    >>> from evalreport.metrics.binary_decisions import recall
    >>> counts = BinaryCounts(np.array([8.0, 0.0]), 0, np.array([0.0, 2.0]), 0)
    >>> round(float(Gap(Pooled(recall), Average(recall, "macro"))(counts)), 3)
    0.3
    """

    whole: Pooled
    average: Average

    def __call__(self, fact: Fact) -> Any:
        """Return the difference."""
        return self.whole(fact) - self.average(fact)


@dataclass(frozen=True)
class Mean:
    """The mean of a per-row quantity, from its row sums.

    Examples
    --------
    >>> float(Mean("loss")(RowSums.from_rows({"loss": np.array([1.0, 3.0])}, np.ones(2))))
    2.0
    """

    name: str

    def __call__(self, row_sums: RowSums) -> float:
        """Return the mean; NaN if the row sums do not contain the quantity."""
        return row_sums.mean(self.name)


@dataclass(frozen=True)
class AreaAverage:
    """An average over classes or labels of the area under their one-vs-rest curve.

    Parameters
    ----------
    area : {"roc_auc", "average_precision"}
    over : {"macro", "macro_declared", "weighted", "micro", "pairs"}
        ``macro``: mean over the classes with a defined area. ``macro_declared``: mean over all classes,
        NaN if one area is undefined. ``weighted``: by true examples; a class without examples has weight 0.
        ``micro``: all (row, label) decisions pooled. ``pairs``: Hand & Till's M, the mean AUC over pairs of
        classes that have examples.

    Examples
    --------
    >>> from evalreport.statistics.class_scores import ClassScores
    >>> scores = ClassScores(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1]), None)
    >>> AreaAverage("roc_auc", "pairs")(scores), AreaAverage("average_precision", "micro")(scores)
    (1.0, 1.0)
    """

    area: Literal["roc_auc", "average_precision"]
    over: Over | Literal["micro", "pairs"]

    def __call__(self, scores: LabelScores) -> float:
        """Return the average; NaN if there is nothing to average."""
        ranked = scores.rankings
        if self.over == "micro":
            roc_auc, precision = scores.pooled_areas
            return roc_auc if self.area == "roc_auc" else precision
        if self.over == "pairs":
            present = ranked.positives > 0
            return float(ranked.pairs[present].mean()) if present.sum() > 1 else float("nan")
        weights = self.weights(ranked)
        counted = weights > 0
        return float(weights[counted] @ self.each(ranked)[counted]) if counted.any() else float("nan")

    def each(self, ranked: Rankings) -> Array:
        """Return the area of each class, NaN if undefined, shape (K,)."""
        return ranked.roc_auc if self.area == "roc_auc" else ranked.average_precision

    def weights(self, ranked: Rankings) -> Array:
        """Return the weight of each class, shape (K,); the weights sum to 1, or are all 0."""
        match self.over:
            case "weighted":
                weight = ranked.positives
            case "pairs":
                weight = (ranked.positives > 0).astype(np.float64)
            case "macro":
                weight = (~np.isnan(self.each(ranked))).astype(np.float64)
            case _:
                weight = np.ones(len(ranked.positives))
        share: Array = weight / max(weight.sum(), np.finfo(np.float64).tiny)
        return share

    def count_unmeasured(self, scores: LabelScores) -> int:
        """Return the number of classes without a defined area."""
        return int(np.isnan(self.each(scores.rankings)).sum())


@dataclass(frozen=True)
class AreaBase:
    """The averaged metric; {many} is replaced by classes or labels, {one} by class or label."""

    area: Literal["roc_auc", "average_precision"]
    name: str
    multiclass_name: str
    title: str
    word: str
    use: str
    traps: dict[str, str]


@dataclass(frozen=True)
class AreaWay:
    """The kind of average."""

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
    "rows are ranked by the score of each {one}",
    {
        "multiclass": "With many classes each class is rare, and 0.95 still allows many false positives",
        "multilabel": "With rare labels 0.95 still allows many false positives",
    },
)
AREAS_PRECISION = AreaBase(
    "average_precision",
    "average_precision",
    "average_precision",
    "average precision",
    "average precision",
    "{many} are rare and the top of each ranking matters most",
    dict.fromkeys(("multiclass", "multilabel"), "Its no-skill level is the prevalence of the {many}"),
)
AREAS_MACRO = AreaWay(
    "macro",
    "Macro {title}",
    "mean {word} over the {many} that have examples",
    "mean of {word} over the {many} with examples, and without",
    "over the {many} with a defined value; if a {one} has none, scikit-learn returns NaN for the AUC and "
    "counts its average precision as 0",
)
AREAS_DECLARED = AreaWay(
    "macro_declared",
    "Macro {title} (all declared {many})",
    "mean {word} over all declared {many}",
    "mean of {word}",
    "undefined if one {one} has no defined value, because 0 would be arbitrary",
)
AREAS_WEIGHTED = AreaWay(
    "weighted",
    "Weighted {title}",
    "mean {word} over {many}, weighted by their number of true examples",
    "sum over {many} of P {word} / sum of P",
    "a {one} without examples has weight 0 here; scikit-learn returns NaN. Depends on the "
    "proportions of the {many}",
)
AREAS_MICRO = AreaWay(
    "micro",
    "Micro {title}",
    "{word} of all (row, {one}) decisions pooled",
    "{word} of all (row, {one}) decisions",
    "scores of different {many} must be comparable; dominated by frequent {many}",
)


def area(task: Task, base: AreaBase, way: AreaWay) -> Metric:
    """Return the record of one average of areas."""
    one, many = ("label", "labels") if task == "multilabel" else ("class", "classes")
    average = AreaAverage(base.area, way.over)
    name = base.multiclass_name if task == "multiclass" else base.name

    def fill_template(text: str) -> str:
        return text.format(title=base.title, word=base.word, one=one, many=many)

    return Metric(
        name=f"{name}_{way.over}",
        title=fill_template(way.title),
        meaning=fill_template(way.meaning),
        formula=fill_template(way.formula),
        task=task,
        needs="scores",
        reads="scores",
        low=0.0,
        high=1.0,
        better="higher",
        strategy=LabelAreas(),
        function=average,
        undefined=_explain_unmeasured(average, many),
        no_skill=constant_level(0.5) if base.area == "roc_auc" else chance_precision,
        source=f"scikit-learn {base.area}_score(average={_areas_named(way)})",
        use=fill_template(base.use),
        trap=f"{fill_template(way.trap)}. {fill_template(base.traps[task])}",
    )


def _areas_named(way: AreaWay) -> str:
    """Return the scikit-learn argument that gives the same value if every class has examples."""
    return repr("macro" if way is AREAS_DECLARED else way.over)


def _explain_unmeasured(average: AreaAverage, many: str) -> Callable[[LabelScores], str]:
    def reason(scores: LabelScores) -> str:
        without = average.count_unmeasured(scores)
        if without == scores.size:
            return f"none of the {many} has both positive and negative rows"
        return (
            f"{without} of {scores.size} {many} cannot be measured: they have no positive or no negative rows"
        )

    return reason


def chance_precision(summary: Summary) -> float:
    """Return the mean prevalence of the labels that occur: the average precision of a random ranking."""
    positives = view(summary, "scores").rankings.positives
    return float(positives[positives > 0].mean() / summary.weight) if positives.any() else float("nan")


NoSkill: TypeAlias = Callable[[Summary], float] | None


@dataclass(frozen=True)
class Base:
    """The averaged metric."""

    name: str
    word: str
    of: Callable[[BinaryCounts], Any]
    formula: str
    trap: str
    rate: bool = True


@dataclass(frozen=True)
class Way:
    """The kind of average; {many} is replaced by classes or labels, {one} by class or label."""

    over: Over | Literal["micro"]
    title: str
    meaning: str
    use: str
    multiclass_trap: str
    multilabel_trap: str = ""


FORMULAS = {"micro": "{} of summed counts", "weighted": "mean of {}, weighted by P"}
"""Formulas of the averages that do not give every label the same weight."""

PRECISION = Base(
    "precision",
    "precision",
    count.precision,
    "TP / (TP + FP)",
    "a {one} that is never predicted has no precision and counts as 0; the interval also includes the "
    "average without it, because the {one} may be unpredicted only by chance",
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
    "the mean F1 of the {many}, not the F1 of mean precision and mean recall, which some papers report",
    rate=False,
)
MICRO = Way(
    "micro",
    "Micro {word}",
    "{word} of all {one} decisions pooled",
    "every decision counts the same",
    "equals accuracy with one label per row. With unparsed predictions, recall equals accuracy and "
    "precision is the accuracy of the parsed predictions",
    "dominated by frequent labels",
)
MACRO = Way(
    "macro",
    "Macro {word}",
    "unweighted mean {word} over {many}",
    "rare {many} matter as much as frequent ones",
    "over the classes that occur in true labels or predictions, the default in scikit-learn: an absent "
    "class that is predicted once lowers it; an absent class that is never predicted does not",
    "over all labels; a label that neither occurs nor is predicted counts as 0",
)
SUPPORTED = Way(
    "macro_supported",
    "Macro {word} ({many} with examples)",
    "mean {word} over the {many} that have true examples",
    "the sample does not contain some {many}",
    "a prediction of an absent class lowers it only as an error on another class",
    "false positives of labels without examples do not affect it",
)
DECLARED = Way(
    "macro_declared",
    "Macro {word} (all declared {many})",
    "mean {word} over all declared {many}, with 0 for {many} without true examples",
    "to compare samples with the same label set over all of its {many}",
    "absent classes lower it, which is not an error of the model",
)
WEIGHTED = Way(
    "weighted",
    "Weighted {word}",
    "mean {word} over {many}, weighted by their number of true examples",
    "one number in which each of the {many} counts by its frequency",
    "dominated by frequent classes; weighted recall equals accuracy",
    "dominated by frequent labels",
)


def make_average_metric(
    task: Task, base: Base, way: Way, no_skill: Callable[[Callable[[Any], Any]], NoSkill]
) -> Metric:
    """Return the record of one average; `no_skill` returns its no-skill level, given its function."""
    one, many = ("label", "labels") if task == "multilabel" else ("class", "classes")
    function = Pooled(base.of) if way.over == "micro" else Average(base.of, way.over)
    trap = way.multilabel_trap if task == "multilabel" else way.multiclass_trap
    if isinstance(function, Average):
        trap = f"{trap}; {base.trap}"

    def fill_template(text: str) -> str:
        return text.format(word=base.word, one=one, many=many)

    return Metric(
        name=f"{base.name}_{way.over}",
        rate=base.rate,
        title=fill_template(way.title),
        meaning=fill_template(way.meaning),
        formula=FORMULAS.get(way.over, "mean of {}").format(base.formula),
        task=task,
        needs="counts",
        reads="counts",
        low=0.0,
        high=1.0,
        better="higher",
        strategy=RightAnswers() if _of_right(task, base, way) else CountDraws(),
        function=function,
        undefined="nothing to average: no positives or no predicted positives",
        no_skill=no_skill(function),
        source=f"scikit-learn {base.name}_score(average={_sklearn_average_argument(way)}, zero_division=0)",
        use=fill_template(way.use),
        trap=fill_template(trap),
    )


def _of_right(task: Task, base: Base, way: Way) -> bool:
    """Return whether it is a fraction of correct predictions, as micro averages of one label per row are."""
    return task == "multiclass" and (way is MICRO or (base is RECALL and way is WEIGHTED))


def _sklearn_average_argument(way: Way) -> str:
    """Return the scikit-learn argument that gives the same value."""
    match way.over:
        case "macro_supported":
            return "'macro', labels=those in y_true"
        case "macro_declared":
            return "'macro', labels=all declared"
        case over:
            return repr(over)
