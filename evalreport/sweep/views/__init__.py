"""What the panels of a sweep draw: small values computed from `Trials`, thinned to a page's measure."""

from evalreport.sweep.views.axes import MOST_POINTS, Axis, axis_of, thinned
from evalreport.sweep.views.course import (
    Bar,
    HistoryView,
    Intermediate,
    StepCurve,
    Timeline,
    history_view,
    intermediate_view,
    timeline_view,
)
from evalreport.sweep.views.outcome import (
    Front,
    FrontPoint,
    TableRow,
    TrialTable,
    drawn,
    front_view,
    table_view,
)
from evalreport.sweep.views.space import (
    Parallel,
    ParallelLine,
    Slice,
    SlicePoint,
    parallel_view,
    slice_views,
)

__all__ = [
    "MOST_POINTS",
    "Axis",
    "Bar",
    "Front",
    "FrontPoint",
    "HistoryView",
    "Intermediate",
    "Parallel",
    "ParallelLine",
    "Slice",
    "SlicePoint",
    "StepCurve",
    "TableRow",
    "Timeline",
    "TrialTable",
    "axis_of",
    "drawn",
    "front_view",
    "history_view",
    "intermediate_view",
    "parallel_view",
    "slice_views",
    "table_view",
    "thinned",
    "timeline_view",
]
