"""What the panels of a sweep draw: small values computed from `Trials`, thinned to a page's measure."""

from evalreport.study.views.axes import MOST_POINTS, ParameterAxis, axis_of, thinned, ticks_of
from evalreport.study.views.course import (
    Bar,
    HistoryView,
    Intermediate,
    StepCurve,
    Timeline,
    history_view,
    intermediate_view,
    timeline_view,
)
from evalreport.study.views.outcome import (
    Front,
    FrontPoint,
    TableRow,
    TrialTable,
    drawn,
    front_view,
    table_view,
)
from evalreport.study.views.space import (
    ParallelLine,
    ParallelView,
    ParameterSlice,
    SlicePoint,
    parallel_view,
    slice_views,
)

__all__ = [
    "MOST_POINTS",
    "Bar",
    "Front",
    "FrontPoint",
    "HistoryView",
    "Intermediate",
    "ParallelLine",
    "ParallelView",
    "ParameterAxis",
    "ParameterSlice",
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
    "ticks_of",
    "timeline_view",
]
