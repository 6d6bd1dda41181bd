"""An evaluation as a notebook shows it: a small table, and figures."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

from evalreport import figures
from evalreport.evaluation import model
from evalreport.panels.verdict.headline import headline
from evalreport.report.render import render_brief

if TYPE_CHECKING:
    from matplotlib.figure import Figure

View = TypeVar("View")


def viewed(kind: type[View], value: Any) -> View:
    """Return a value as the class of this face that adds views, and no fields, to its own."""
    return kind(**{field.name: vars(value)[field.name] for field in fields(value)})


class Evaluation(model.Evaluation):
    """Everything known of one set of predictions; made by `evaluate`, `evaluate_file` or `evaluate_run`.

    Frozen. ``ev[name]`` is an `Estimate` or `Undefined`; equal when the JSON is.

    Parameters
    ----------
    space : Binary, Multiclass or Multilabel
    rows : int
    weight : float
        Sum of weights (the number of rows without weights).
    metrics : mapping from name to Estimate or Undefined
        The catalogue of the task, in its order.
    findings : tuple of Finding
        What is wrong, in plain English, the weightiest first.
    sweep : Sweep or None
        Every threshold of a binary problem with scores.

    Examples
    --------
    >>> import evalreport as er
    >>> ev = er.evaluate(["ham", "spam", "spam", "ham"], ["ham", "spam", "ham", "ham"])
    >>> ev
    Evaluation(binary, 4 rows: recall 50%, specificity 100%, precision 100%, … 60 metrics, 2 findings)
    >>> ev.verdict
    'Not demonstrated to beat always saying “ham”: it finds 1 of 2 spam cases and flags 0 of 2 ham cases.'
    >>> er.Evaluation.from_json(ev.to_json()) == ev
    True
    """

    @property
    def plot(self) -> Plots:
        """The figures of this evaluation, each a matplotlib `Figure`."""
        return Plots(self)

    @property
    def verdict(self) -> str:
        """What the model gets wrong, in one sentence: the headline of its page."""
        return headline(self).text

    def _repr_html_(self) -> str:
        return render_brief(self)


@dataclass(frozen=True)
class Plots:
    """The figures of an evaluation."""

    evaluation: model.Evaluation

    def confusion_matrix(self) -> Figure:
        """Truth against predictions."""
        return figures.confusion_matrix(self.evaluation)

    def roc(self) -> Figure:
        """True against false positive rates, with the band."""
        return figures.roc_curve(self.evaluation)

    def pr(self) -> Figure:
        """Precision against recall, with the band."""
        return figures.pr_curve(self.evaluation)

    def reliability(self) -> Figure:
        """Observed shares against mean scores."""
        return figures.reliability(self.evaluation)

    def coverage(self) -> Figure:
        """Accuracy against the share answered."""
        return figures.coverage(self.evaluation)

    def scores(self) -> Figure:
        """Scores by true class; of several classes or labels the confidence of right and wrong answers."""
        return figures.score_distributions(self.evaluation)

    def classes(self) -> Figure:
        """F1 of each class or label with its interval, the lowest on top."""
        return figures.class_forest(self.evaluation)

    def thresholds(self) -> Figure:
        """Precision, recall and F1 at every threshold."""
        return figures.thresholds(self.evaluation)
