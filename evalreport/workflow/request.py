"""Requests: the settings of an evaluation, the destination of its result, the engine that counts rows."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, Protocol, TypeAlias, TypeVar

from evalreport import __version__
from evalreport.columns.column_request import Columns
from evalreport.columns.names import column_selector
from evalreport.core.errors import EvalreportError, UsageError
from evalreport.core.extensions import extension, extensions
from evalreport.core.result import Provenance
from evalreport.core.text import slug
from evalreport.evaluation.evaluate import Observed
from evalreport.intervals.interval_settings import Sampling
from evalreport.page.payload import PREFIX
from evalreport.readers.data_sets import STREAMED, data_set, is_several
from evalreport.thresholds.best_threshold import Tuned
from evalreport.thresholds.sweep import Sweep
from evalreport.tracking.folder import free_page, run_folder

if TYPE_CHECKING:
    from evalreport.workflow.items import Item


STDOUT = "-"
EngineName: TypeAlias = Literal["auto", "memory", "stream", "spark"]


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
    engine: EngineName = "memory"
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


T = TypeVar("T")
MEMORY: Final = "--set engine=memory"
ENDING: Final = ".stats"
"""Of files that hold what was counted, and the name of the engine that reads them."""


@dataclass(frozen=True, eq=False)
class CollectedFacts:
    """What an engine counted, and its origin."""

    seen: Observed
    taken: tuple[tuple[str, str], ...]
    provenance: Provenance
    sweep: Sweep | None = None
    tuned: Mapping[str, Tuned] = field(default_factory=dict)
    """Thresholds of several labels, by the objective that they were chosen for."""
    sensitive: bool = False


@dataclass(frozen=True, eq=False)
class MadeOfFacts(Generic[T]):
    """The result of counting, the column mapping, and the file of the run."""

    made: T
    taken: tuple[tuple[str, str], ...]
    artifact: str = ""

    @classmethod
    def from_collected(cls, counted: CollectedFacts, work: Callable[[CollectedFacts], T]) -> MadeOfFacts[T]:
        """Do the work."""
        return cls(work(counted), counted.taken)


class Counting(Protocol):
    """Predictions that an engine has opened: their columns are known, their rows are not counted yet."""

    def run_on_counts(
        self,
        work: Callable[[CollectedFacts], T],
        origin: Provenance | None = None,
        *,
        sought: Sequence[str] | None = None,
        sensitive: bool = False,
    ) -> MadeOfFacts[T]:
        """Count the rows, and do work on the counts where they are.

        Parameters
        ----------
        work : callable
            It and its result can be pickled.
        origin : Provenance, optional
            What the run says that they are of.
        sought : sequence of str, optional
            Objectives for which thresholds are sought, empty for those of the task.
        sensitive : bool
            Whether the run shows no examples.
        """


class Engine(Protocol):
    """What opens an item; added under its name in `--set engine`, or under the ending of its files."""

    def __call__(self, item: Item, request: Request) -> Counting | None:
        """Open the predictions of an item; None where it has none for this engine."""


def open_with(name: str, item: Item, request: Request) -> Counting | None:
    """Open an item with an engine.

    Raises
    ------
    UsageError
        The engine belongs to a feature that is not installed.
    """
    engine: Engine = extension("engines", name)
    return engine(item, request)


ROW = 105
"""Bytes of memory that the engine in memory takes for a row (measured: 1e7 rows of truth and score)."""
CELL = 24
"""Bytes that it takes for a row and column, where the columns are many (measured: 1e6 rows of 20 classes)."""
PACKED = 4
"""Times that a text or a file without a count of rows grows in memory (chosen by hand)."""
SMALL = 256 << 20
"""Bytes in memory up to which free memory is not checked."""
SHARE = 4
"""`auto` streams what would take over one part in so many of the memory that is free."""


def is_streamed(paths: Sequence[str], request: Request) -> bool:
    """Return whether files are read batch by batch, not into memory.

    Raises
    ------
    UsageError
        Several files for the engine in memory.
    """
    if request.engine == "memory" and len(paths) > 1:
        raise UsageError(
            "the engine in memory reads one file, folder or pattern",
            where=f"{paths[0]} and {len(paths) - 1} more",
            fix="put them into one folder, or remove the engine: several files are streamed",
        )
    if request.engine != "auto":
        return request.engine == "stream"
    several = len(paths) > 1 or is_several(paths[0])
    return several or request.approximate or _is_large(paths[0], request)


def _is_large(path: str, request: Request) -> bool:
    """Whether a file would take too much of the memory that is free, and could be a stream."""
    try:
        if Path(path).stat().st_size * PACKED < SMALL:
            return False
        data = data_set([path], request.format)
    except (EvalreportError, OSError):
        return False  # the reader of whole files says what is wrong
    if not any(one.name == "stream" and one.is_installed for one in extensions("engines")):
        return False
    columns = len(column_selector(request.columns)(data.names))
    need = data.size * PACKED if data.rows is None else data.rows * max(ROW, CELL * columns)
    return data.format in STREAMED and need > _free() // SHARE


def _free() -> int:
    """Bytes of memory that are free, as the system says it; without its word, four gigabytes."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        return 4 << 30
