"""A cluster of Spark whose executors are killed in the middle: `python -m tests.faults.cluster`."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyspark

import evalreport as er
from evalreport.features.spark.session import spark_session
from tests.features.large.test_stream_classes import scored
from tests.features.spark.test_spark import assert_close, ties

CLUSTER = "local-cluster[2,1,1024]"
"""A master and two workers of Spark, each with an executor of one core in a process of its own."""

READINGS = (2, 9)
"""Readings of a partition, of eight and more, at whose end an executor is killed."""


def cases() -> dict[str, tuple[pa.Table, dict[str, Any]]]:
    """Rows with what is asked of them, by a name."""
    classes = {"scores": "proba_*", "truth": "y_true", "resamples": 100}
    return {
        "two labels": (ties(), {"positive": "ill", "labels": ("well", "ill"), "confidence": None}),
        "classes, of which a second reading keeps some rows": (scored(), classes),
    }


def numbers(ev: er.Evaluation) -> list[Any]:
    """The values of an evaluation: intervals are drawn by the order of rows, which no shuffle keeps."""
    found = json.loads(ev.to_json())
    return [{name: one.get("value") for name, one in found["metrics"].items()}]


def killing(frame: Any, mark: Path, reading: int) -> Any:
    """The same rows; whoever reads them for the so manieth time kills its executor once its rows are read."""
    folder, nth = str(mark), reading

    def read(batches: Iterator[Any]) -> Iterator[Any]:
        yield from batches
        place = Path(folder)
        number = sum(1 for _ in place.iterdir())
        (place / f"{number}-{os.getpid()}").touch()
        if number >= nth and _first(place / "killed"):
            reported = Path(
                f"/proc/{os.getppid()}/stat"
            ).read_text()  # of Python's daemon, whose parent it is
            executor = int(reported.rpartition(")")[2].split()[1])
            (place / "killed").write_text(Path(f"/proc/{executor}/cmdline").read_text())
            os.kill(executor, signal.SIGKILL)
            signal.pause()

    return frame.mapInArrow(read, frame.schema)


def _first(mark: Path) -> bool:
    """Whether nobody has made a mark before."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def attempt(spark: Any, rows: pa.Table, asked: dict[str, Any], reading: int) -> None:
    """Check that an evaluation whose executor is killed gives what an undisturbed one does."""
    frame = spark.createDataFrame(rows).repartition(4)
    expected = numbers(er.evaluate_spark(frame, **asked))
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore"):
        found = numbers(er.evaluate_spark(killing(frame, Path(folder), reading), **asked))
        killed = Path(folder, "killed")
        assert "ExecutorBackend" in killed.read_text()
    assert_close(found, expected)


def main() -> int:
    """Try all, and say what holds."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    broken = 0
    with spark_session(CLUSTER) as spark:
        work = Path(pyspark.__file__).parent / "work" / spark.sparkContext.applicationId
        for name, (rows, asked) in cases().items():
            for reading in READINGS:
                try:
                    attempt(spark, rows, asked, reading)
                except Exception as error:
                    broken += 1
                    print(f"  does not hold: {name}, reading {reading}: {error}")
    shutil.rmtree(work, ignore_errors=True)  # the logs of executors, which Spark leaves beside itself
    print(f"Executors of Spark killed: {len(cases()) * len(READINGS)} tried, {broken} do not hold.")
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
