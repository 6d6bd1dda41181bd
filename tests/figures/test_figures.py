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
from evalreport.errors import UsageError
from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.evaluation.model import Evaluation
from evalreport.labels import Multiclass
from evalreport.predictions import predictions
from tests import factories

HOSTILE = [r"$\frac{1}$", "$$", "cost $5 to $10", "<script>", "\x00ü\n!", "%s {0}"]


def many(size: int) -> Evaluation:
    rng = np.random.default_rng(0)
    names = np.array([f"class {k}" for k in range(size)])
    truth = rng.integers(size, size=max(4 * size, 40))
    answer = np.where(rng.random(len(truth)) < 0.7, truth, rng.integers(size, size=len(truth)))
    return evaluate_predictions(predictions(Multiclass(names.tolist()), names[truth], names[answer]))


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


def test_what_cannot_be_drawn_says_why() -> None:
    with pytest.raises(UsageError, match="confusion matrix"):
        figures.confusion_matrix(evaluate_predictions(factories.multilabel()))
    with pytest.raises(UsageError, match="roc"):
        figures.roc_curve(evaluate_predictions(factories.labels_alone()))
