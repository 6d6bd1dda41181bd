"""Requests: the settings of an evaluation, and the destination of its result."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from evalreport import __version__
from evalreport.columns.request import Columns
from evalreport.core.errors import UsageError
from evalreport.core.text import slug
from evalreport.intervals.settings import Sampling
from evalreport.page.payload import PREFIX
from evalreport.tracking.folder import free_page, run_folder

STDOUT = "-"
Engine: TypeAlias = Literal["auto", "memory", "stream", "spark"]


@dataclass(frozen=True, kw_only=True)
class PageRequest:
    """The settings of any page.

    Parameters
    ----------
    title, notes : str
        Title, and a section in Markdown.
    command, made : str
        For provenance: the command line, and the time in UTC.
    """

    title: str = ""
    notes: str = ""
    command: str = ""
    made: str = ""

    def origin(self) -> dict[str, Any]:
        """Return what the request itself says of where numbers come from, as fields of `Provenance`."""
        return {
            "made": self.made,
            "command": self.command,
            "title": self.title,
            "software": (("evalreport", __version__), ("Python", platform.python_version())),
        }


@dataclass(frozen=True)
class Request(PageRequest):
    """The settings of one evaluation and its page.

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
        Only these; all when empty. A ``module:function`` is the user's own and is added to the others.
    extra_metrics : mapping from name to function
        Metrics of the user's own, beside those.
    find_slices : bool
        Whether columns that are used for nothing else are searched for weak slices.
    prevalence : float or None
        Prevalence in deployment, for PPV, NPV, net benefit and alerts per 1,000.
    points : tuple of str
        Operating points that are evaluated beside: those that rules name.
    label_names : tuple of (label, name)
        What people call a label, wherever a person reads it.
    unit, no_examples
        How the page looks.
    engine : {"auto", "memory", "stream", "spark"}
        What counts the rows: all of them in memory, batch by batch, or where a Spark table is.
    memory : int
        Bytes that the scores of a stream may take; beyond them they go to temporary files.
    approximate : bool
        Whether a stream counts scores of two labels in bins.
    spark_master : str or None
        Of a session of Spark that is begun; the active one, or Spark's own settings, without it.
    for_facts : bool
        Whether the sufficient statistics are saved.
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
    extra_metrics: Mapping[str, Any] = field(default_factory=dict)
    find_slices: bool = True
    prevalence: float | None = None
    points: tuple[str, ...] = ()
    unit: tuple[str, str] = ("case", "cases")
    no_examples: bool = False
    label_names: tuple[tuple[str, str], ...] = ()
    engine: Engine = "memory"
    approximate: bool = False
    memory: int = 1 << 30
    spark_master: str | None = None
    for_facts: bool = False

    def __post_init__(self) -> None:
        """Names of labels are also read in the data."""
        object.__setattr__(self, "columns", replace(self.columns, label_names=self.label_names))

    def origin(self) -> dict[str, Any]:
        """Return what the request itself says of where numbers come from, as fields of `Provenance`."""
        return {**super().origin(), "unit": self.unit, "label_names": self.label_names}


@dataclass(frozen=True)
class Destination:
    """Where a result goes beside the terminal.

    Parameters
    ----------
    output : str or None
        HTML file, or ``-`` for standard output, which is the command's to print.
    out : str or None
        Folder for everything.
    page : bool
        Whether a page is written without `output`, named after its input.
    log : bool
        Whether it is logged into a run.
    prefix : str
        Of every metric that is logged.
    log_all : bool
        Whether all metrics, intervals, classes and curves are logged, not only the headline metrics.
    force : bool
        Whether to write over files of others.
    allow_running : bool
        Whether to log into a run that has not ended.
    dry_run : bool
        Whether to check everything and write nothing, anywhere.
    several : bool
        Whether there are several results, each with its own folder or page.

    Raises
    ------
    UsageError
        A dry run of nothing, or one file for several results.
    """

    output: str | None = None
    out: str | None = None
    page: bool = False
    log: bool = False
    prefix: str = PREFIX
    log_all: bool = False
    force: bool = False
    allow_running: bool = False
    dry_run: bool = False
    several: bool = False

    def __post_init__(self) -> None:
        written = self.log or self.page or self.out or self.output not in (None, STDOUT)
        if self.dry_run and not written:
            raise UsageError(
                "--dry-run is given, and nothing would be written",
                fix="add --log or -o PATH, or remove --dry-run",
            )
        if self.output is not None and self.several:
            raise UsageError(
                "-o names one file for several results",
                fix="name one run or file, or a folder: -o DIR",
            )

    def page_of(self, name: str, origin: str) -> Path | None:
        """Return the file of the page of a result; None where no file is wanted.

        Without `output` the page is named after its input. A page of another input stays, and this one gets
        the next number.

        Parameters
        ----------
        name : str
            Of the input.
        origin : str
            Digest of what the input is, by which a page of the same input is known and replaced.

        Examples
        --------
        >>> Destination(page=True).page_of("calm heron", "3f9c").as_posix()
        'calm-heron.html'
        """
        if self.output is not None:
            return None if self.output == STDOUT else Path(self.output)
        return free_page(slug(name), origin) if self.page else None

    def folder_of(self, name: str, key: str) -> Path | None:
        """Return the folder of a result: one of several has its own folder, by its name and a key."""
        if self.out is None:
            return None
        return run_folder(Path(self.out), name, key) if self.several else Path(self.out)
