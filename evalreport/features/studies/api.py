"""Studies in Python, as a notebook asks for them and shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalreport.api.evaluate import convert_to_view
from evalreport.api.validation import public_api
from evalreport.features.studies import figures, study
from evalreport.page.presentation import present
from evalreport.page.render import render_summary
from evalreport.thresholds.trials import Trials

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class PlottedStudy(study.Study):
    """How the trials of a sweep stand; made by `sweep`. `to_html`, `report` and `log` take it."""

    def __repr__(self) -> str:
        return f"Study({present(self).headline})"

    def _repr_html_(self) -> str:
        return render_summary(self)

    @property
    def plot(self) -> StudyPlots:
        """The figures of this study, each a matplotlib `Figure`."""
        return StudyPlots(self)


@dataclass(frozen=True)
class StudyPlots:
    """The figures of a study; one that does not apply says so in a `UsageError`."""

    study: study.Study

    def history(self) -> Figure:
        """Value of each trial, and the best so far."""
        return figures.history(self.study)

    def importance(self) -> Figure:
        """Share of each parameter."""
        return figures.importance(self.study)

    def slices(self) -> Figure:
        """The objective over each parameter that varies."""
        return figures.slices(self.study)

    def parallel(self) -> Figure:
        """Every trial across its parameters."""
        return figures.parallel(self.study)

    def intermediate(self) -> Figure:
        """What trials reported on their way."""
        return figures.intermediate(self.study)

    def timeline(self) -> Figure:
        """When each trial ran."""
        return figures.timeline(self.study)

    def front(self) -> Figure:
        """The first two of several objectives against each other."""
        return figures.front(self.study)


@public_api
def sweep_trials(
    what: Trials, objective: str | None = None, judging: study.Judging | None = None
) -> PlottedStudy:
    """Return how the trials of a sweep stand; see `evalreport.sweep`."""
    return convert_to_view(
        PlottedStudy, study.analyse_study(what, objective, judging=judging or study.NOT_SAID)
    )
