"""Artifacts of strangers: listed to the bottom, never followed out of the run."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from evalreport.core.errors import ArtifactNotFoundError, DataError, EvalreportError, UnsafeFileError
from evalreport.tracking import artifacts
from evalreport.tracking.artifact_locations import artifact_root
from evalreport.tracking.artifacts import Artifact, download_artifact, is_safe, list_artifacts
from evalreport.tracking.client import Store
from evalreport.tracking.find_predictions import RunRequest, read_run
from evalreport.tracking.runs import RunInfo, find_run
from tests.tracking import make_run

HOSTILE = (
    "/etc/passwd",
    "../x",
    "a/../../x",
    "a/./b",
    "a//b",
    "..",
    "",
    "a\\..\\x",
    "C:/x",
    "c:x",
    "a\x00b",
    "a\nb",
    "%2e%2e/x",
    "a/%2E%2e/x",
    "a%2fb",
    "a%00b",
    "a%25b",
    "a#b",
    "a?b",
    "x" * 256,
)


def run_with(store: Store, files: dict[str, str], folder: Path) -> RunInfo:
    made = make_run(store, files, folder=folder if not store.uri.startswith("http") else None)
    return find_run(store, made.run_id)


def test_files_are_listed_to_the_bottom_with_their_sizes(store: Store, tmp_path: Path) -> None:
    run = run_with(store, {"a.csv": "1", "d/e/f.csv": "22", "images/x.png": "3"}, tmp_path)
    assert list_artifacts(store, run, skip=("images",)) == [Artifact("a.csv", 1), Artifact("d/e/f.csv", 2)]
    assert list_artifacts(store, run, "d") == [Artifact("d/e/f.csv", 2)]
    assert list_artifacts(store, run, "none") == []


def test_a_download_lies_in_a_private_folder_that_goes_away(store: Store, tmp_path: Path) -> None:
    run = run_with(store, {"d/a.csv": "content"}, tmp_path)
    with download_artifact(store, run, Artifact("d/a.csv")) as local:
        assert local.read_text() == "content"
        folder = next(parent for parent in local.parents if parent.name.startswith("evalreport-"))
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not folder.exists()


def test_a_missing_artifact_is_exit_3(store: Store, tmp_path: Path) -> None:
    run = run_with(store, {"a.csv": "1"}, tmp_path)
    with (
        pytest.raises(ArtifactNotFoundError, match=r"no artifact b\.csv") as caught,
        download_artifact(store, run, Artifact("b.csv")),
    ):
        pass
    assert caught.value.exit_code == 3


@pytest.mark.parametrize("path", HOSTILE, ids=repr)
def test_a_hostile_path_is_neither_listed_nor_downloaded(path: str) -> None:
    assert not is_safe(path)
    store = Store(Listing([path, "good.csv"]), "http://host")
    run = RunInfo("f" * 32, "r", "1", "e", "FINISHED", artifact_uri="mlflow-artifacts:/1/f/artifacts")
    assert [file.path for file in list_artifacts(store, run)] == ["good.csv"]
    with pytest.raises(UnsafeFileError), download_artifact(store, run, Artifact(path)):
        pass


@pytest.mark.parametrize("path", ["a.csv", "a b/c-d_e.csv", "größe.csv", "x" * 255, "50%.csv", "..a/b..csv"])
def test_an_ordinary_path_is_taken(path: str) -> None:
    assert is_safe(path)


class Entry:
    """What a listing holds."""

    def __init__(self, path: str, size: int | None = 1, *, is_dir: bool = False) -> None:
        self.path, self.file_size, self.is_dir = path, size, is_dir


class Listing:
    """A server that lists what it likes, and serves what it likes."""

    def __init__(self, paths: list[str], place: str = "") -> None:
        self.entries = [Entry(path) for path in paths]
        self.place = place

    def list_artifacts(self, _run_id: str, folder: str | None) -> list[Entry]:
        return self.entries if folder is None else []

    def download_artifacts(self, _run_id: str, _path: str, _folder: str) -> str:
        return self.place


def served(place: str) -> tuple[Store, RunInfo]:
    run = RunInfo("f" * 32, "r", "1", "e", "FINISHED", artifact_uri="mlflow-artifacts:/1/f/artifacts")
    return Store(Listing(["a.csv"], place), "http://host"), run


def test_a_download_that_lands_elsewhere_is_refused(tmp_path: Path) -> None:
    elsewhere = tmp_path / "secret"
    elsewhere.write_text("secret")
    store, run = served(str(elsewhere))
    with (
        pytest.raises(UnsafeFileError, match="not a plain file of the run"),
        download_artifact(store, run, Artifact("a.csv")),
    ):
        pass


def test_too_large_is_refused_before_it_is_downloaded() -> None:
    store, run = served("/nowhere")
    with (
        pytest.raises(DataError, match="larger than 2 GB"),
        download_artifact(store, run, Artifact("a.csv", 3 * 1024**3)),
    ):
        pass


def test_a_size_that_the_server_hid_is_seen_after_the_download(
    sqlite_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_with(sqlite_store, {"a.csv": "12345"}, tmp_path)
    monkeypatch.setattr(artifacts, "MAX_FILE", 4)
    with (
        pytest.raises(DataError, match="larger than 2 GB"),
        download_artifact(sqlite_store, run, Artifact("a.csv")),
    ):
        pass


def test_a_listing_without_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Endless(Listing):
        def list_artifacts(self, _run_id: str, folder: str | None) -> list[Entry]:
            return [Entry(f"{folder}/d" if folder else "d", is_dir=True), *self.entries]

    monkeypatch.setattr(artifacts, "MAX_ARTIFACTS", 3)
    _, run = served("")
    assert list_artifacts(Store(Endless(["a"]), "http://host"), run)
    with pytest.raises(DataError, match="over 3 artifacts"):
        list_artifacts(Store(Endless(["a", "b", "c", "d"]), "http://host"), run)


def test_of_a_run_with_too_many_files_one_that_is_named_is_read(
    sqlite_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(artifacts, "MAX_ARTIFACTS", 3)
    run = run_with(sqlite_store, {f"d/{i}.csv": "y_true,y_pred\n0,0\n1,1\n" for i in range(5)}, tmp_path)
    with pytest.raises(DataError) as caught:
        read_run(sqlite_store, run)
    assert caught.value.fix == "name one with --artifact"
    assert read_run(sqlite_store, run, RunRequest(artifact="d/3.csv")).table.n == 2


@pytest.mark.parametrize("kind", ["symbolic", "hard", "folder"])
def test_links_in_a_local_store_are_not_followed(sqlite_store: Store, tmp_path: Path, kind: str) -> None:
    run = run_with(sqlite_store, {"d/a.csv": "1"}, tmp_path)
    root = sqlite_store.artifact_root(run.artifact_uri, run.display_name)
    assert root is not None
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "s.csv").write_text("secret")
    match kind:
        case "symbolic":
            (root / "s.csv").symlink_to(secret / "s.csv")
        case "hard":
            os.link(secret / "s.csv", root / "s.csv")
        case _:
            (root / "link").symlink_to(secret)
    path = "link/s.csv" if kind == "folder" else "s.csv"
    with (
        pytest.raises(UnsafeFileError, match="is a link"),
        download_artifact(sqlite_store, run, Artifact(path)),
    ):
        pass


@pytest.mark.parametrize(
    "uri",
    [
        "file:///etc",
        "/etc",
        "C:/Users",
        "http://169.254.169.254/latest",
        "http://metadata.google.internal/x",
        "http:///#/../x",
        "http://host/#/../../x",
        "mlflow-artifacts://169.254.169.254/x",
        "ftp://elsewhere/x",
        "gopher://host/x",
        "s3://bucket/../x",
        "javascript:alert(1)",
    ],
)
def test_a_server_cannot_send_us_elsewhere(uri: str) -> None:
    _, run = served("")
    store = Store(Listing(["a.csv"]), "https://host:5000")
    with pytest.raises(EvalreportError) as caught:
        list_artifacts(store, replace(run, artifact_uri=uri))
    assert caught.value.code == "UNSAFE_FILE"
    assert caught.value.exit_code == 5


@pytest.mark.parametrize(
    ("uri", "tracking"),
    [
        ("mlflow-artifacts:/1/f", "https://host"),
        ("mlflow-artifacts://host:5000/1/f", "https://host:5000"),
        ("https://host/artifacts", "https://host"),
        ("s3://bucket/path", "https://host"),
        ("gs://bucket/path", "sqlite:///x.db"),
    ],
)
def test_servers_and_clouds_are_gone_to(uri: str, tracking: str) -> None:
    assert artifact_root(uri, tracking, "") is None


def test_local_folders_belong_to_stores_that_are_files() -> None:
    tracking = "sqlite:///x.db"
    assert artifact_root("file:///runs/a%20b", tracking, "") == Path("/runs/a b")
    assert artifact_root("/runs/a", tracking, "") == Path("/runs/a")
    with pytest.raises(UnsafeFileError):
        artifact_root("file://elsewhere/runs", tracking, "")


@pytest.mark.parametrize("tracking", ["http://127.0.0.1:5000", "https://host"])
def test_a_folder_that_a_server_names_counts_where_the_user_has_configured_it(
    tracking: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = (tmp_path / "runs" / "a").as_uri()
    with pytest.raises(UnsafeFileError, match="names a folder of this machine"):
        artifact_root(inside, tracking, "")
    monkeypatch.setenv("MLFLOW_DEFAULT_ARTIFACT_ROOT", str(tmp_path / "runs"))
    assert artifact_root(inside, tracking, "") == tmp_path / "runs" / "a"
    for outside in ((tmp_path / "other").as_uri(), "/etc", f"{inside}/../../other"):
        with pytest.raises(UnsafeFileError):
            artifact_root(outside, tracking, "")


@pytest.mark.parametrize(
    "uri",
    [
        "http://host:5000/artifacts",
        "https://host/artifacts",
        "https://host:5001/artifacts",
        "mlflow-artifacts://host/1",
        "mlflow-artifacts://host:99999/1",
        "https://host.example:5000/1",
    ],
)
def test_a_token_goes_to_no_other_scheme_host_or_port(uri: str) -> None:
    with pytest.raises(UnsafeFileError, match="which evalreport does not access"):
        artifact_root(uri, "https://host:5000", "")
