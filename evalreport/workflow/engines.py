"""Engines: they count predictions without holding them all; features add them at the point "engines"."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

from evalreport.columns.names import column_selector
from evalreport.core.errors import EvalreportError, UsageError
from evalreport.core.extensions import extension, extensions
from evalreport.core.result import Provenance
from evalreport.evaluation.evaluate import Observed
from evalreport.readers.data_sets import STREAMED, data_set, is_several
from evalreport.thresholds.best_threshold import Tuned
from evalreport.thresholds.sweep import Sweep
from evalreport.workflow.request import Request

if TYPE_CHECKING:
    from evalreport.workflow.items import Item

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
    """What was made of what was counted, what was taken for what, and the file of the run that held it."""

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
"""Bytes in memory up to which nobody asks how much is free."""
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
            fix="put them into one folder, or leave the engine out: several are a stream",
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
