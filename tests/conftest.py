"""Fixtures that more than one folder of tests needs: MLflow stores, real and quick."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalreport.sources.mlflow_client import Store, connect
from tests.tracking import MlflowServer, empty_store, new_database


@pytest.fixture(scope="session")
def template_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An MLflow database without runs: migrating one takes seconds, copying it nothing."""
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


@pytest.fixture(autouse=True)
def _no_tracking_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests see no tracking server of the machine they run on."""
    for name in [name for name in os.environ if name.startswith(("MLFLOW_", "EVALREPORT_"))]:
        monkeypatch.delenv(name)
