"""What every sink keeps: all that a payload says or nothing, in place, and nothing of anybody else's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from evalreport.core.errors import UsageError
from evalreport.page.payload import Payload
from evalreport.tracking.client import Store
from evalreport.tracking.folder import FolderSink
from evalreport.tracking.log_results import MlflowSink
from evalreport.tracking.runs import Sink
from tests.tracking import make_run


@dataclass(frozen=True)
class Place:
    """A sink for tests, with a way round it: the folder in which its files lie."""

    sink: Callable[[bool], Sink]
    files: Path

    def log(self, what: Payload, *, force: bool = False, dry_run: bool = False) -> Any:
        return self.sink(force).log(what, dry_run=dry_run)

    def held(self) -> dict[str, bytes]:
        """Everything that lies there, manifests too."""
        found = (path for path in self.files.rglob("*") if path.is_file())
        return {path.relative_to(self.files).as_posix(): path.read_bytes() for path in found}


def folder(store: Store, tmp_path: Path) -> Place:
    out = tmp_path / "out"
    out.mkdir()
    return Place(lambda force: FolderSink(out, force), out)


def run(store: Store, tmp_path: Path) -> Place:
    made = make_run(store, folder=tmp_path)
    uri = store.client.get_run(made.run_id).info.artifact_uri
    files = Path(uri.removeprefix("file://"))
    files.mkdir(parents=True, exist_ok=True)
    return Place(lambda force: MlflowSink(store, made.run_id, force), files)


PLACES: dict[type[Sink], Callable[[Store, Path], Place]] = {FolderSink: folder, MlflowSink: run}


@pytest.fixture(params=PLACES, ids=lambda sink: sink.__name__)
def place(request: pytest.FixtureRequest, sqlite_store: Store, tmp_path: Path) -> Place:
    return PLACES[request.param](sqlite_store, tmp_path)


def payload(f1: float = 0.75, *, names: tuple[str, ...] = ("a.json", "b.csv")) -> Payload:
    files = {name: f"{name} {f1}".encode() for name in names}
    return Payload(digest=f"digest-{f1}", metrics={"eval/f1": f1}, artifacts=files, exports=files)


def test_all_that_the_payload_says_stands_there(place: Place) -> None:
    done = place.log(payload())
    assert (done.state, done.files, done.replaced, done.left) == ("written", ("a.json", "b.csv"), (), ())
    held = place.held()
    assert {path: held[path] for path in done.files} == dict(payload().exports)


def test_a_dry_run_says_the_same_and_writes_nothing(place: Place) -> None:
    before = place.held()
    done = place.log(payload(), dry_run=True)
    assert place.held() == before
    assert done.state == "dry run"
    assert done.files == place.log(payload()).files


def test_the_same_again_leaves_the_same(place: Place) -> None:
    place.log(payload())
    before = place.held()
    again = place.log(payload())
    assert again.state in ("written", "unchanged")
    assert again.replaced == ("a.json", "b.csv")
    assert place.held() == before


def test_another_replaces_it_and_tells_what_it_leaves(place: Place) -> None:
    place.log(payload())
    done = place.log(payload(0.25, names=("a.json",)))
    assert (done.replaced, "b.csv" in done.left) == (("a.json",), True)
    assert place.held()["a.json"] == b"a.json 0.25"
    assert place.held()["b.csv"] == b"b.csv 0.75"


def test_the_parts_of_a_result_stand_beside_each_other(place: Place) -> None:
    place.log(payload())
    sweep = Payload(digest="s", artifacts={"s.json": b"s"}, exports={"s.json": b"s"}, part="sweep")
    done = place.log(sweep)
    assert (done.replaced, done.left) == ((), ())
    assert place.held()["a.json"] == b"a.json 0.75"
    assert place.log(payload(0.25)).left == ()


def test_a_file_of_somebody_elses_stays(place: Place) -> None:
    (place.files / "b.csv").write_bytes(b"theirs")
    (place.files / "notes.txt").write_bytes(b"theirs, too")
    before = place.held()
    for dry_run in (True, False):
        with pytest.raises(UsageError, match=r"b\.csv") as caught:
            place.log(payload(), dry_run=dry_run)
        assert (caught.value.exit_code, "--force" in caught.value.fix) == (2, True)
        assert place.held() == before
    assert place.log(payload(), force=True).replaced == ("b.csv",)
    assert place.held()["b.csv"] == b"b.csv 0.75"
    assert place.held()["notes.txt"] == b"theirs, too"


def test_a_file_of_ours_that_somebody_changed_stays(place: Place) -> None:
    place.log(payload())
    (place.files / "b.csv").write_bytes(b"corrected by hand")
    with pytest.raises(UsageError, match=r"b\.csv"):
        place.log(payload(0.25))
    assert place.held()["a.json"] == b"a.json 0.75"


def test_nothing_is_written_through_a_link(place: Place, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret")
    (place.files / "b.csv").symlink_to(secret)
    for force in (False, True):
        with pytest.raises(UsageError, match="is a link"):
            place.log(payload(), force=force)
    assert secret.read_bytes() == b"secret"
    assert not (place.files / "a.json").exists()


@pytest.mark.parametrize("path", ["../x", "/x", "a/../../x", "", "a\0b"])
def test_no_path_of_a_payload_leads_out(path: str) -> None:
    with pytest.raises(ValueError, match="not a path"):
        Payload("d", exports={path: b""})
