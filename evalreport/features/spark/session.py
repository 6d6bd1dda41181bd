"""A session of Spark: the one that runs, or one that is begun and ended here, without its chatter."""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from evalreport.core.errors import DataError, EvalreportError, FileMissingError, MissingExtraError, UsageError
from evalreport.core.shared import current_stack
from evalreport.features.spark.tables import SparkSource
from evalreport.readers.data_sets import DELTA
from evalreport.readers.formats import accepted_suffixes, unpacked_name

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
                "a session of Spark runs already",
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
        raise MissingExtraError("Spark needs Java, and there is none", where="--set engine=spark", fix=JAVA)
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
                f"Spark knows no table {name}",
                where=name,
                fix="check the name: catalog.schema.table, or a path",
            ) from None
        raise DataError(f"Spark refuses it: {text}", where=name, fix="check the table") from None
    except PySparkException as error:
        raise _translate_failure(str(error), name) from None
    except Exception as error:
        if not type(error).__module__.startswith("py4j"):  # a client of Spark Connect comes without it
            raise
        raise _translate_failure(str(error), name) from None


@contextmanager
def _without_chatter() -> Iterator[None]:
    """Have PySpark's own line of JSON for each error, which is told here, go nowhere."""
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
        return UsageError("this session of Spark has no Delta", where=name, fix=DELTA_JAR)
    if "No space left on device" in text:
        return DataError("the disk of Spark is full", where=f"{name}, spark.local.dir", fix=ROOM)
    if any(words in text for words in NO_PARQUET):
        return DataError("Spark finds no Parquet there", where=name, fix="name Parquet, Delta, or a table")
    told = [line for line in text.splitlines() if line.strip() and not line.startswith("\tat ")]
    last = next((line for line in reversed(told) if "Error" in line or "Exception" in line), told[0])
    last = JAVA_CLASS.sub("", last.strip())[:200]
    return DataError(f"Spark failed: {last}", where=name, fix="see the log of Spark's executors")


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:200]
