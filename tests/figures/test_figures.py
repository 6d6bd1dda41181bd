"""Figures: `Figure` objects of any size, nobody's settings touched, no label read as mathematics."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from io import BytesIO

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from evalreport import figures
from evalreport.core.errors import UsageError
from evalreport.core.result import Estimate
from evalreport.data.labels import Multiclass
from evalreport.data.predictions import predictions
from evalreport.data.scores import Probabilities
from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.evaluation.evaluation import Evaluation
from tests import factories

HOSTILE = [r"$\frac{1}$", "$$", "cost $5 to $10", "<script>", "\x00ü\n!", "%s {0}"]


def many(size: int) -> Evaluation:
    rng = np.random.default_rng(0)
    names = np.array([f"class {k}" for k in range(size)])
    truth = rng.integers(size, size=max(4 * size, 40))
    answer = np.where(rng.random(len(truth)) < 0.7, truth, rng.integers(size, size=len(truth)))
    return evaluate_predictions(predictions(Multiclass(names.tolist()), names[truth], names[answer]))


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 12, 77, 1000])
def test_small_matrices_are_annotated_and_large_ones_thinned(size: int) -> None:
    figure = figures.confusion_matrix(many(size))
    (axes,) = figure.axes
    assert len(axes.texts) == (size * size if size <= 20 else 0)
    assert len(axes.get_yticks()) <= 80
    assert figures.png(figure).startswith(b"\x89PNG")


def test_no_label_is_read_as_mathematics() -> None:
    truth = np.array(HOSTILE * 5)
    figure = figures.confusion_matrix(evaluate_predictions(predictions(Multiclass(HOSTILE), truth, truth)))
    assert not any(text.get_parse_math() for text in figure.findobj(Text))
    assert figures.png(figure)
    figure.savefig(BytesIO())  # as a notebook does, outside our own settings


def test_the_settings_of_the_user_stay() -> None:
    with mpl.rc_context({"font.size": 17, "axes.grid": True}):
        before = dict(mpl.rcParams)
        figures.png(figures.roc_curve(evaluate_predictions(factories.binary())))
        assert dict(mpl.rcParams) == before


def test_threads_draw_one_at_a_time() -> None:
    """rcParams belong to the process: threads that take turns in them would leave our settings behind."""
    ev = evaluate_predictions(factories.binary())
    alone = figures.png(figures.confusion_matrix(ev))
    with mpl.rc_context({"font.size": 17}), ThreadPoolExecutor(4) as pool:
        before = dict(mpl.rcParams)
        drawn = list(pool.map(lambda _: figures.png(figures.confusion_matrix(ev)), range(4)))
        assert dict(mpl.rcParams) == before
    assert set(drawn) == {alone}


@pytest.mark.parametrize(
    "draw", [figures.roc_curve, figures.pr_curve, figures.reliability, figures.thresholds]
)
def test_binary_figures(draw: object) -> None:
    assert callable(draw)
    ev = evaluate_predictions(factories.binary())
    figure = draw(ev)
    assert isinstance(figure, Figure)
    assert figures.png(figure) == figures.png(draw(ev))


def test_scores_are_drawn_by_class_with_an_area_of_one_each() -> None:
    """Heights are those of NumPy's histogram of the scores, a rare class as high as a frequent one."""
    p = factories.binary(400, prevalence=0.1)
    assert isinstance(p.scores, Probabilities)
    (axes,) = figures.score_distributions(evaluate_predictions(p)).axes
    legend = axes.get_legend()
    assert legend is not None and [text.get_text() for text in legend.get_texts()] == ["well", "ill"]
    drawn = [np.asarray(patch.get_paths()[0].vertices)[:, 1].max() for patch in axes.collections]
    sides = [p.scores.values[p.y_true == code] for code in (1, 0)]  # the last is drawn first
    bins = len(evaluate_predictions(p).curves.histogram.positive)  # type: ignore[union-attr]
    heights = [np.histogram(side, bins, (0, 1), density=True)[0].max() for side in sides]
    assert drawn == pytest.approx(heights, rel=0.05)  # ours are closed on the right


def test_classes_stand_in_the_order_of_their_f1_with_their_intervals() -> None:
    """Two names that are cut to the same one are two classes."""
    names = ["x" * 40 + end for end in "abc"]
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 300)
    answer = np.where(rng.random(300) < np.array([0.9, 0.5, 0.7])[truth], truth, (truth + 1) % 3)
    ev = evaluate_predictions(predictions(Multiclass(names), np.array(names)[truth], np.array(names)[answer]))
    (axes,) = figures.class_forest(ev).axes
    found = [f1 for entry in ev.classes if isinstance(f1 := entry.metrics["f1"], Estimate)]
    found.sort(key=lambda f1: f1.value)
    assert axes.lines[0].get_xdata() == pytest.approx([f1.value for f1 in found])
    assert [label.get_text() for label in axes.get_yticklabels()] == ["x" * 27 + "…"] * 3
    assert axes.lines[1].get_xdata() == pytest.approx([found[0].low, found[0].high])


def test_what_cannot_be_drawn_says_why() -> None:
    with pytest.raises(UsageError, match="confusion matrix"):
        figures.confusion_matrix(evaluate_predictions(factories.multilabel()))
    with pytest.raises(UsageError, match="no class has an F1"):
        figures.class_forest(evaluate_predictions(factories.binary()))
    with pytest.raises(UsageError, match="roc"):
        figures.roc_curve(evaluate_predictions(factories.labels_alone()))
