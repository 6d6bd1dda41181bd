"""One session of Spark for all tests, in which a task that fails is tried again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    if find_spec("pyspark") is None or shutil.which("java") is None:
        pytest.skip("needs PySpark and Java 17")
    from evalreport.sources.spark_session import spark_session

    with spark_session("local[2,3]") as session:
        session.conf.set("spark.sql.shuffle.partitions", "2")
        yield session
