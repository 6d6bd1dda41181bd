"""Figures of what was drawn before: the same bytes, which tests of the figures prove; and in few dots."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, wraps
from typing import Any, TypeVar

import pytest

from evalreport.core.json_codec import dumps
from evalreport.core.result import Provenance
from evalreport.evaluation.evaluation import Evaluation, ThresholdSelection
from evalreport.features.studies.study import Study

COARSE = 60
"""Dots per inch of what a command logs in a test, not 110: a third of drawing is dots. With 30 MLflow shows
pictures narrower than the 200 pixels that `tests/browser` wants."""
Drawn = TypeVar("Drawn", Evaluation, Study, ThresholdSelection)


@contextmanager
def drawn_once() -> Iterator[None]:
    """Have what is logged again not drawn again: drawing took a fifth of the time of all tests."""
    from evalreport.features.studies.presentation import StudyPresentation
    from evalreport.page.contents import EvaluationPresentation
    from evalreport.page.selection import SelectionPresentation

    with pytest.MonkeyPatch.context() as patch:
        for kind in (EvaluationPresentation, SelectionPresentation, StudyPresentation):
            once = cached_property(_remembered(vars(kind)["figures"].func))
            once.__set_name__(kind, "figures")
            patch.setattr(kind, "figures", once)
        yield


def _remembered(draw: Callable[[Any], dict[str, bytes]]) -> Callable[[Any], dict[str, bytes]]:
    from evalreport.figures import plots

    held: dict[str, dict[str, bytes]] = {}

    @wraps(draw)
    def look_or_draw(shown: Any) -> dict[str, bytes]:
        key = dumps(_plain(shown.of))
        if key not in held:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(plots, "DPI", COARSE)
                held[key] = draw(shown)
        return dict(held[key])

    return look_or_draw


def _plain(what: Drawn) -> Drawn:
    """The same with no more of its provenance than a figure tells."""
    match what:
        case ThresholdSelection():
            return replace(what, evaluation=_plain(what.evaluation))
        case Study():
            return replace(what, provenance=Provenance())
        case _:
            reported = Provenance(run_name=what.provenance.run_name, title=what.provenance.title)
            return what.with_provenance(reported)
