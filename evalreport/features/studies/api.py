"""Studies in Python, as a notebook asks for them and shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalreport.api.evaluate import convert_to_view
from evalreport.api.results import Result, draw
from evalreport.api.validation import public_api
from evalreport.features.studies import figures, study
from evalreport.page.presentation import present
from evalreport.page.render import render_summary
from evalreport.thresholds.trials import Trials

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class PlottedStudy(Result, study.Study):
    """How the trials of a sweep stand; made by `sweep`. `to_html`, `report` and `log` take it."""

    def __repr__(self) -> str:
        return f"Study({present(self).headline})"

    def _repr_html_(self) -> str:
        return render_summary(self)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per trial: number, state, objectives, ``params.*``, times and run."""
        return self.trials.to_frame()

    @property
    def plot(self) -> StudyPlots:
        """The figures of this study, each a matplotlib `Figure`."""
        return StudyPlots(self)


@dataclass(frozen=True)
class StudyPlots:
    """The figures of a study; one that does not apply raises a `UsageError`; with `ax` on these axes."""

    study: study.Study

    def history(self, ax: Axes | None = None) -> Figure:
        """Value of each trial, and the best so far."""
        return draw(figures.history, self.study, ax)

    def importance(self, ax: Axes | None = None) -> Figure:
        """Share of each parameter."""
        return draw(figures.importance, self.study, ax)

    def slices(self, ax: Axes | None = None) -> Figure:
        """The objective over each parameter that varies."""
        return draw(figures.slices, self.study, ax)

    def parallel(self, ax: Axes | None = None) -> Figure:
        """Every trial across its parameters."""
        return draw(figures.parallel, self.study, ax)

    def intermediate(self, ax: Axes | None = None) -> Figure:
        """What trials reported on their way."""
        return draw(figures.intermediate, self.study, ax)

    def timeline(self, ax: Axes | None = None) -> Figure:
        """When each trial ran."""
        return draw(figures.timeline, self.study, ax)

    def front(self, ax: Axes | None = None) -> Figure:
        """The first two of several objectives against each other."""
        return draw(figures.front, self.study, ax)


@public_api
def sweep_trials(
    what: Trials, objective: str | None = None, judging: study.Judging | None = None
) -> PlottedStudy:
    """Return how the trials of a sweep stand; see `evalreport.sweep`."""
    return convert_to_view(
        PlottedStudy, study.analyse_study(what, objective, judging=judging or study.NOT_SAID)
    )
