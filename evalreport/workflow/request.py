"""What a person says about an evaluation, as one value."""

from __future__ import annotations

from dataclasses import dataclass, field

from evalreport.intervals import Sampling
from evalreport.sources.request import Columns


@dataclass(frozen=True)
class Request:
    """Everything that is said about one evaluation.

    Parameters
    ----------
    columns : Columns
        Which column is what.
    artifact : str or None
        Predictions inside a run, as a path or glob.
    format, truth_file : str or None
    parse, fuzzy
        How labels are read from generated text.
    ordered : bool
        Whether the order of the declared labels means something.
    threshold : str or None
        A number, or an objective such as ``max-f1`` or ``recall>=0.95``.
    tune_on : str or None
        File or run whose rows choose the threshold.
    sampling : Sampling
    metrics : tuple of str
        Only these; all when empty.
    title, unit, no_examples, checklist
        How the page looks.
    command, made : str
        For provenance: the command line, and the time in UTC.
    """

    columns: Columns = field(default_factory=Columns)
    artifact: str | None = None
    format: str | None = None
    truth_file: str | None = None
    parse: str = "auto"
    fuzzy: bool = False
    ordered: bool = False
    threshold: str | None = None
    tune_on: str | None = None
    sampling: Sampling = field(default_factory=Sampling)
    metrics: tuple[str, ...] = ()
    title: str = ""
    unit: tuple[str, str] = ("case", "cases")
    no_examples: bool = False
    checklist: str | None = None
    command: str = ""
    made: str = ""
