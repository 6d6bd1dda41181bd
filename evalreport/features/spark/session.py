"""A session of Spark, one that runs or a new one without its messages; and what partitions return to it."""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import DataError, EvalreportError, FileMissingError, MissingExtraError, UsageError
from evalreport.core.lazy import current_stack
from evalreport.features.large.score_words import Budget
from evalreport.features.spark.tables import SparkSource
from evalreport.readers.data_sets import DELTA
from evalreport.readers.formats import accepted_suffixes, unpacked_name
from evalreport.statistics.confusion import Array, run_starts
from evalreport.statistics.score_table import (
    BinnedTable,
    Keys,
    ScoreTable,
    bins_of,
    edges_of,
    keys_of,
    scores_of,
)

JAVA = "install Java 17 (on Debian openjdk-17-jre-headless), or set JAVA_HOME"
CONNECT, GRPC = "sc://", "a client of Spark Connect needs pip install 'pyspark[connect]'"
SETTINGS = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF"}
"""Of a session that is begun here."""
DELTA_JAR = "begin it with delta-spark, whose configure_spark_with_delta_pip says with which settings"
ROOM = "let spark.local.dir name a folder with more room"
UNKNOWN = ("NOT_FOUND", "NOT_EXIST", "REQUIRES_SINGLE_PART_NAMESPACE", "PARSE_SYNTAX_ERROR", "PARSE_EMPTY")
"""Parts of what Spark says of a table, a path, a schema or a catalog that it does not know."""
NO_PARQUET = ("UNABLE_TO_INFER_SCHEMA", "is not a Parquet file")
"""What it says of a folder without Parquet, and of a file that is something else."""
JAVA_CLASS = re.compile(r"^(?:Caused by)?[: ]*(?:[a-z]\w*\.)+\w+: ")


_SHARED: list[Any] = []
"""The session that was started for one of several tables, and serves the next."""


@contextmanager
def spark_session(master: str | None = None) -> Iterator[Any]:
    """Give the active session of Spark; else one of a master, ended after use, or with `sharing`.

    Raises
    ------
    MissingExtraError
        There is no PySpark, or no Java.
    UsageError
        The master cannot be reached; or another session runs.

    Examples
    --------
    >>> with spark_session("local[1]") as spark:  # doctest: +SKIP
    ...     spark.range(3).count()
    3
    """
    spark, stack = active_session(), current_stack()
    if spark is not None:
        if master is not None and spark not in _SHARED:
            raise UsageError(
                "a Spark session is already running",
                where="--set spark_master",
                fix="leave --set spark_master out",
            )
        yield spark
        return
    with ExitStack() as own:
        spark = _start_session(master)
        (stack or own).callback(_end, spark)
        if stack is not None:
            _SHARED.append(spark)
            stack.callback(_SHARED.remove, spark)
        yield spark


def _end(spark: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spark.stop()


def active_session() -> Any:
    """Return the session that runs in this process; None where there is none.

    Raises
    ------
    MissingExtraError
        There is no PySpark.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise MissingExtraError(
            "Spark needs PySpark", where="--set engine=spark", fix="pip install 'evalreport[spark]'"
        ) from error
    return SparkSession.getActiveSession()


def _start_session(master: str | None) -> Any:
    from pyspark.sql import SparkSession

    local, remote = master is None or master.startswith("local"), str(master).startswith(CONNECT)
    if local and shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        raise MissingExtraError(
            "Spark needs Java, which is not installed", where="--set engine=spark", fix=JAVA
        )
    if local:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("evalreport")
    for name, value in () if remote else SETTINGS.items():
        builder = builder.config(name, value)
    if master is not None:
        builder = builder.remote(master) if remote else builder.master(master)
    try:
        with warnings.catch_warnings(), _without_stderr(), defer_interrupts():
            warnings.simplefilter("ignore")
            return builder.getOrCreate()
    except Exception as error:  # py4j and Java say so in many classes
        raise UsageError(
            f"Spark does not start: {_first_line(error)}",
            where=f"--set spark_master={master}" if master else "Spark's own settings",
            fix=f"check the address; {GRPC}" if remote else f"check the master, as in local[2]; {JAVA}",
        ) from error


@contextmanager
def defer_interrupts() -> Iterator[None]:
    """Hold Ctrl-C and SIGTERM back until the block ends: Java that is left while it starts never ends.

    Examples
    --------
    >>> with defer_interrupts():
    ...     print("Java starts")
    Java starts
    """
    ours = threading.current_thread() is threading.main_thread()
    held: list[int] = []
    before = {
        which: signal.signal(which, lambda number, _: held.append(number))
        for which in ((signal.SIGINT, signal.SIGTERM) if ours else ())
    }
    try:
        yield
    finally:
        for which, handler in before.items():
            signal.signal(which, handler or signal.SIG_DFL)
        for number in held[:1]:
            signal.raise_signal(number)


@contextmanager
def _without_stderr() -> Iterator[None]:
    """Have what Java writes while it starts, and later on, go nowhere: what fails comes back as an error."""
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def read_table(spark: Any, source: SparkSource) -> Any:
    """Return the frame of a table, or of a Parquet or Delta path.

    Raises
    ------
    UsageError
        A file of another format.
    FileMissingError
        There is none of the name.

    Examples
    --------
    >>> read_table(None, SparkSource("scores.csv"))
    Traceback (most recent call last):
    evalreport.core.errors.UsageError: Spark reads tables, Parquet and Delta here
    """
    if Path(unpacked_name(source.path)).suffix.lower() in {*accepted_suffixes()} - {".parquet", ".pq"}:
        raise UsageError(
            "Spark reads tables, Parquet and Delta here",
            where=source.name,
            fix="write it as Parquet, or leave --set engine=spark out",
        )
    with spark_errors(source.display_name):
        reader = spark.read if source.version is None else spark.read.option("versionAsOf", source.version)
        if not source.is_path:
            return reader.table(source.name)
        here = Path(source.path)
        place = (
            os.path.realpath(here) if os.path.exists(here) else source.path
        )  # Java may have begun in another folder
        delta = source.version is not None or _is_delta(spark, place)
        return reader.format("delta" if delta else "parquet").load(place)


def _is_delta(spark: Any, place: str) -> bool:
    """Whether Spark sees a log of Delta there: as Parquet, rows that were removed would count."""
    from pyspark.errors import AnalysisException

    try:
        return bool(spark.read.text(f"{place}/{DELTA}").schema)
    except AnalysisException:
        return False


@contextmanager
def spark_errors(name: str) -> Iterator[None]:
    """Turn what Spark raises into errors of three lines; warnings about its dependencies are not shown."""
    from pyspark.errors import AnalysisException, PySparkException

    try:
        with warnings.catch_warnings(), _without_chatter():
            warnings.simplefilter("ignore")
            yield
    except AnalysisException as error:
        text = _first_line(error)
        if NO_PARQUET[0] in text:
            raise _translate_failure(text, name) from None
        if any(word in text for word in UNKNOWN):
            raise FileMissingError(
                f"Spark does not find the table {name}",
                where=name,
                fix="check the name: catalog.schema.table, or a path",
            ) from None
        raise DataError(f"Spark reports an error: {text}", where=name, fix="check the table") from None
    except PySparkException as error:
        raise _translate_failure(str(error), name) from None
    except Exception as error:
        if not type(error).__module__.startswith("py4j"):  # a client of Spark Connect comes without it
            raise
        raise _translate_failure(str(error), name) from None


@contextmanager
def _without_chatter() -> Iterator[None]:
    """Drop PySpark's JSON line for each error, which is reported here."""
    loggers = [logging.getLogger(f"{kind}QueryContextLogger") for kind in ("DataFrame", "SQL")]
    before = [logger.disabled for logger in loggers]
    try:
        for logger in loggers:
            logger.disabled = True
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


def _translate_failure(text: str, name: str) -> EvalreportError:
    for module in ("evalreport", "pyarrow", "numpy"):
        if f"No module named '{module}" in text:
            return UsageError(
                f"the workers of Spark have no {module}",
                where=name,
                fix="install evalreport[spark] on them, or set PYSPARK_PYTHON to the Python that has it",
            )
    if "data source: delta" in text:
        return UsageError("this Spark session does not support Delta", where=name, fix=DELTA_JAR)
    if "No space left on device" in text:
        return DataError("the disk of Spark is full", where=f"{name}, spark.local.dir", fix=ROOM)
    if any(words in text for words in NO_PARQUET):
        return DataError("there are no Parquet files", where=name, fix="name Parquet, Delta, or a table")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("\tat ")]
    last = next((line for line in reversed(lines) if "Error" in line or "Exception" in line), lines[0])
    last = JAVA_CLASS.sub("", last.strip())[:200]
    return DataError(f"Spark failed: {last}", where=name, fix="see the log of Spark's executors")


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:200]


OFTEN = 4
"""Rows of one score in one place from which their number is sent: fewer words of four bytes take less."""


class PackedWords(NamedTuple):
    """What one place sends of one range."""

    bucket: int
    positive: bool
    wide: int
    """Bytes of a word: 4 of single precision, 8 of double."""
    words: bytes
    """The few of each, as often as they occur, and then those of `times`, once."""
    times: bytes
    """How often the last words occur, as int64."""


class MergedWords(NamedTuple):
    """The distinct words of one range, ascending, with their counts as unsigned integers of any width."""

    wide: int
    words: bytes
    positives: bytes
    negatives: bytes

    def runs(self) -> tuple[Array, Array, Array]:
        """Return the scores with their positives and negatives."""
        words = np.frombuffer(self.words, dtype=f"i{self.wide}")
        positives, negatives = (_counts(data, len(words)) for data in (self.positives, self.negatives))
        return scores_of(words).astype(np.float64), positives, negatives


@dataclass(frozen=True)
class Buckets:
    """What makes holders of packed words: of scores, or of the least scores of their bins.

    Parameters
    ----------
    edges : tuple of float
        Scores between ranges, ascending.
    binned : bool
    budget : Budget
    """

    edges: tuple[float, ...] = ()
    binned: bool = False
    budget: Budget = field(default_factory=Budget)

    def __len__(self) -> int:
        return len(self.edges) + 1

    def __reduce__(self) -> tuple[type[Buckets], tuple[Any, ...]]:
        """What travels: the budget is of the place where all come together."""
        return Buckets, (self.edges, self.binned)

    def keys(self) -> KeysAway:
        """Return what holds the keys of rows."""
        return KeysAway()

    def holder(self) -> BucketWords:
        """Return a new holder."""
        return BucketWords(self.edges, binned=self.binned)


class BucketWords:
    """Scores of one place on their way out; where all places come together, what became of them.

    Examples
    --------
    >>> held = Buckets((0.5,)).holder()
    >>> held.add(np.array([0.75, 0.25, 0.75]), np.array([True, False, True]))
    >>> [(part.bucket, part.positive, len(part.words), len(part.times)) for part in held.pop_packed()]
    [(0, False, 8, 0), (1, True, 16, 0)]
    """

    def __init__(self, edges: tuple[float, ...], *, binned: bool) -> None:
        self._edges, self._binned = np.array(edges), binned
        self.whole: ScoreTable | None = None
        self._parts: list[tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]] = []

    def __len__(self) -> int:
        return sum(len(scores) for scores, _ in self._parts)

    def add(self, scores: npt.NDArray[Any], positive: npt.NDArray[np.bool_]) -> None:
        """Take some rows: finite scores of shape (n,), float32 or float64, and their truth."""
        self._parts.append((edges_of(bins_of(scores)) if self._binned else scores, positive))

    def pop_packed(self) -> Iterator[PackedWords]:
        """Give away what is held."""
        parts, self._parts = self._parts, []
        if not parts:
            return
        scores, positive = (np.concatenate(part) for part in zip(*parts, strict=True))
        wide = scores.dtype.itemsize
        edges = keys_of(self._edges.astype(scores.dtype))
        for truth in (False, True):
            words = np.sort(keys_of(scores[positive == truth]))
            for bucket, part in enumerate(np.split(words, np.searchsorted(words, edges))):
                if len(part):
                    yield PackedWords(bucket, truth, wide, *_run_lengths(part))

    def table(self) -> ScoreTable:
        """Return the table of the scores of all places, once it is there."""
        whole = (
            ScoreTable.from_scores(np.empty(0), np.empty(0, dtype=bool)) if self.whole is None else self.whole
        )
        if not self._binned:
            return whole
        return BinnedTable(np.asarray(whole.scores), np.asarray(whole.pos), np.asarray(whole.neg))

    def close(self) -> None:
        """Give back memory."""
        self._parts.clear()


class KeysAway:
    """Keys of rows on their way out: equal ones of all places come together, and are counted there.

    Examples
    --------
    >>> keys = KeysAway()
    >>> keys.add(np.array([7, 4, 7], dtype=np.uint64))
    >>> [(bucket, len(data)) for bucket, data in keys.pop_packed(2)]
    [(0, 8), (1, 16)]
    """

    def __init__(self) -> None:
        self._parts: list[npt.NDArray[np.uint64]] = []

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def add(self, keys: npt.NDArray[np.uint64]) -> None:
        """Take keys of shape (n,)."""
        self._parts.append(keys)

    def pop_packed(self, buckets: int) -> Iterator[tuple[int, bytes]]:
        """Give away what is held, a part for each bucket."""
        keys = np.concatenate([np.empty(0, dtype=np.uint64), *self._parts])
        self._parts.clear()
        bucket = keys % np.uint64(buckets)
        yield from ((one, keys[bucket == one].tobytes()) for one in np.unique(bucket).tolist())

    def times(self) -> Iterator[Array]:
        """Yield nothing: they are counted in another place."""
        return iter(())

    def close(self) -> None:
        """Give back memory."""
        self._parts.clear()


def _run_lengths(words: Keys) -> tuple[bytes, bytes]:
    distinct, times = _runs(words)
    often = times >= OFTEN
    both = np.concatenate([words[np.repeat(~often, times)], distinct[often]])
    return both.tobytes(), times[often].astype(np.int64).tobytes()


def _runs(words: Keys) -> tuple[Keys, npt.NDArray[np.int64]]:
    """Distinct sorted words and their counts; `np.unique` would look whether they are sorted."""
    starts = run_starts(words)
    return words[starts], np.diff(starts, append=len(words))


def merge_words(parts: Iterable[PackedWords]) -> MergedWords:
    """Return the distinct words of one range from what all places sent of it.

    Examples
    --------
    >>> held = Buckets().holder()
    >>> held.add(np.array([0.5, 0.5, 0.75]), np.array([True, False, True]))
    >>> [column.tolist() for column in merge_words(held.pop_packed()).runs()]
    [[0.5, 0.75], [1.0, 1.0], [1.0, 0.0]]
    """
    parts = list(parts)
    wide = max(part.wide for part in parts)
    sides = [_side([part for part in parts if part.positive == truth], wide) for truth in (False, True)]
    both = np.concatenate([words for words, _ in sides])
    both.sort(kind="stable")  # two ascending runs are merged, not sorted
    distinct, _ = _runs(both)
    negatives, positives = (_spread_counts(words, times, distinct) for words, times in sides)
    return MergedWords(wide, distinct.tobytes(), positives, negatives)


def _side(parts: list[PackedWords], wide: int) -> tuple[Keys, npt.NDArray[np.int64]]:
    """The distinct words of one class with their counts."""
    none = np.empty(0, dtype=f"i{wide}")
    once, often, times = [none], [none], [np.empty(0, dtype=np.int64)]
    for part in parts:
        words = np.frombuffer(part.words, dtype=f"i{part.wide}")
        if part.wide < wide:  # single precision fits into double
            words = keys_of(scores_of(words).astype(np.float64))
        counts = np.frombuffer(part.times, dtype=np.int64)
        once.append(words[: len(words) - len(counts)])
        often.append(words[len(words) - len(counts) :])
        times.append(counts)
    single = np.concatenate(once)
    single.sort()
    words, counts = _runs(single)
    if not any(map(len, often)):
        return words, counts
    distinct, places = np.unique(np.concatenate([words, *often]), return_inverse=True)
    summed = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(summed, places, np.concatenate([counts, *times]))
    return distinct, summed


def _spread_counts(words: Keys, times: npt.NDArray[np.int64], distinct: Keys) -> bytes:
    """Counts at all distinct words, in the narrowest integer."""
    found = np.zeros(len(distinct), dtype=np.min_scalar_type(int(times.max(initial=0))))
    found[np.searchsorted(distinct, words)] = times
    return found.tobytes()


def _counts(data: bytes, size: int) -> Array:
    return np.frombuffer(data, dtype=f"u{len(data) // size if size else 1}").astype(np.float64)
