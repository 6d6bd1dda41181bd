"""MLflow stores, real and quick, for more than one folder; the same draws of Hypothesis everywhere."""

from __future__ import annotations

import gc
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from evalreport.features.spark.session import SETTINGS, spark_session
from evalreport.tracking.client import Store, connect, quiet
from tests.drawing import drawn_once
from tests.tracking import MlflowServer, compiled_once, empty_store, new_database


def roomy(folder: Path, least: int = 2 << 30) -> bool:
    """Whether files can be made in a folder and run there, and whether it has room."""
    if not os.access(folder, os.W_OK):
        return False
    room = os.statvfs(folder)
    return room.f_bavail * room.f_frsize > least and not room.f_flag & os.ST_NOEXEC


settings.register_profile(
    "evalreport",
    deadline=None,
    derandomize="FUZZ_EXAMPLES" not in os.environ,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("evalreport")
if "FUZZ_EXAMPLES" not in os.environ:
    vars(providers)["_get_local_constants"] = vars(providers)["Constants"]
"""Draws do not follow the numbers and words in our modules: what passes alone would fail beside others, or
after an edit elsewhere."""
os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
"""Each worker has a core, and so has what it starts: threads that share one wait for each other in busy loops
(a test of a booster took 17 s of CPU in place of 1)."""
os.environ["SPARK_SUBMIT_OPTS"] = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
"""Java compiles for seconds of work, not for days, and takes Spark's own classes unproven: a dozen
queries take 10 s of CPU, not 25."""
QUICK_SPARK = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
}
"""Tables of a thousand rows do not pay for Java that is written and compiled for each of their queries."""
gc.disable()
"""While tests are collected: what is imported and collected lives to the end."""
if "TMPDIR" not in os.environ and roomy(MEMORY := Path("/dev/shm")):  # noqa: S108
    os.environ["TMPDIR"] = str(MEMORY)
    tempfile.tempdir = None
"""Files of tests live for seconds: made and deleted in memory they take a tenth of the time."""
for absent in ("dbruntime", "IPython"):
    if find_spec(absent) is None:
        vars(sys)["modules"][absent] = None
"""MLflow looks for them a dozen times in each request to a server, on the whole path: 10 ms of CPU."""
TERMINAL = ("COLUMNS", "FORCE_COLOR", "LINES", "NO_COLOR", "SOURCE_DATE_EPOCH")


collect_ignore = ["faults/preload.py"]
"""Imports MLflow for the processes that try faults, where no warning is an error."""


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path,
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for examples in the helpers of tests alone: tests are no documentation."""
    found = yield
    if not file_path.name.startswith("test_"):
        return found
    return [one for one in found if not isinstance(one, DoctestModule)]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put tests that share what takes long to start first, so that one worker has them all.

    Workers begin with a part of the list each, and who is done takes from the end of another's part.
    """
    items.sort(key=shared)


def shared(item: pytest.Item) -> int:
    """Which of three costly things a test asks for: a server, a browser, a session of Spark, or none."""
    asked = {*getattr(item, "fixturenames", ()), *(mark.name for mark in item.iter_markers())}
    if "spark" in asked or item.name.endswith(("[recipes/spark.md]", "-spark]")):
        return 1
    if "browser" in asked or "tests/browser/" in item.nodeid:
        return 2
    return 0 if asked & {"server", "mlflow_server"} else 3


def pytest_collection_finish() -> None:
    """From here on there is garbage, in what tests make: less than a tenth of the objects that there are."""
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)
    gc.enable()


SERIAL = count()
"""Of the folders of a process."""


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder whose path no other test has: pytest's own are given again once their test has passed.

    MLflow keeps a connection for each address of a store, and SQLite takes a file that was deleted under one
    for a database that it must not write.
    """
    name = re.sub(r"\W", "_", request.node.name)[:30]
    path = tmp_path_factory.mktemp(f"{name}{next(SERIAL)}", numbered=False)
    failed = request.session.testsfailed
    yield path
    if request.session.testsfailed == failed:
        shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="session")
def template_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An MLflow database without runs: migrating one takes seconds, copying it nothing.

    From here on SQLite does not wait for the disk at each commit: that guards against a loss of power alone.
    And neither are the scripts of migrations, seventy modules of MLflow and a dozen of Optuna, read again for
    each store that is opened (but for `env.py`, which migrates), nor are its statements compiled again.
    """
    from alembic.util import pyfiles
    from sqlalchemy import Engine, event

    with quiet():
        from mlflow.store.db import utils
    utils._get_latest_schema_revision = cache(utils._get_latest_schema_revision)
    utils.create_sqlalchemy_engine = compiled_once(utils.create_sqlalchemy_engine)
    load, again = pyfiles.load_module_py, cache(pyfiles.load_module_py)
    vars(pyfiles)["load_module_py"] = lambda name, path: (load if name == "env_py" else again)(name, path)

    event.listen(Engine, "connect", lambda connection, _: connection.execute("PRAGMA synchronous = OFF"))
    return new_database(tmp_path_factory.mktemp("template") / "mlflow.db")


@pytest.fixture
def sqlite_store(template_database: Path, tmp_path: Path) -> Store:
    """A SQLite store of this test's own."""
    return empty_store(template_database, tmp_path)


@pytest.fixture(scope="session")
def mlflow_server(
    template_database: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MlflowServer]:
    """One real `mlflow server` for the whole session; tests keep apart by the names of experiments."""
    with MlflowServer.started(template_database, tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.fixture(params=["sqlite", pytest.param("http", marks=pytest.mark.server)])
def store(request: pytest.FixtureRequest) -> Store:
    """Both kinds of store: whatever holds of one holds of the other."""
    if request.param == "sqlite":
        return request.getfixturevalue("sqlite_store")  # type: ignore[no-any-return]
    server: MlflowServer = request.getfixturevalue("mlflow_server")
    return connect(server.uri)


@pytest.fixture(scope="session", autouse=True)
def _drawn_once() -> Iterator[None]:
    with drawn_once():
        yield


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests see no tracking server and no terminal of the machine they run on."""
    ours = (name for name in os.environ if name.startswith(("MLFLOW_", "EVALREPORT_")))
    for name in [*ours, *(name for name in TERMINAL if name in os.environ)]:
        monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """One session of Spark, in which a task that fails is tried again."""
    if find_spec("pyspark") is None or shutil.which("java") is None:
        pytest.skip("needs PySpark and Java 17")
    SETTINGS["spark.python.daemon.module"] = "tests.features.spark.daemon"
    with spark_session("local[1,3]") as session:
        for name, value in QUICK_SPARK.items():
            session.conf.set(name, value)
        yield session


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 kB in memory, where this machine lets us mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0:
        pytest.skip("only root mounts a disk")
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("no disk can be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)
