"""Files of a folder: whole or not at all, never through a link, never elsewhere."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from evalreport.core.errors import UsageError
from evalreport.page.payload import Payload
from evalreport.tracking.folder import MARK, FolderSink, run_folder, write_file, write_page
from evalreport.tracking.runs import Logged

PAGE = b"<!doctype html>" + MARK + b'0.1.0">'


def into(folder: Path, files: dict[str, bytes], *, force: bool = False) -> Logged:
    return FolderSink(folder, force).log(Payload("digest", exports=files))


def listing(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_files_are_written_and_replaced(tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"
    into(out, {"evalreport.html": PAGE, "tables/classes.csv": b"2"})
    into(out, {"evalreport.html": PAGE + b"3", "tables/classes.csv": b"2"})
    assert (out / "evalreport.html").read_bytes() == PAGE + b"3"
    assert listing(out) == [
        ".evalreport",
        ".evalreport/evaluation.json",
        "evalreport.html",
        "tables",
        "tables/classes.csv",
    ]


def test_others_may_read_what_was_written(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    ours = write_file(tmp_path / "ours", b"")
    assert stat.S_IMODE(ours.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_links_are_not_written_through(tmp_path: Path) -> None:
    out, secret = tmp_path / "out", tmp_path / "secret"
    out.mkdir()
    secret.mkdir()
    (secret / "s").write_bytes(b"secret")
    (out / "file").symlink_to(secret / "s")
    (out / "folder").symlink_to(secret)
    (out / "dangling").symlink_to(tmp_path / "nowhere")
    for path in ("file", "folder/s", "dangling"):
        with pytest.raises(UsageError, match="is a link") as caught:
            into(out, {"good": b"1", path: b"2"}, force=True)
        assert caught.value.exit_code == 2
    with pytest.raises(UsageError, match="is a link"):
        write_page(out / "file", PAGE, force=True)
    assert (secret / "s").read_bytes() == b"secret"
    assert not (out / "good").exists()
    assert not (tmp_path / "nowhere").exists()


def test_the_manifest_is_not_written_through_a_link(tmp_path: Path) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    out.mkdir()
    elsewhere.mkdir()
    (out / ".evalreport").symlink_to(elsewhere)
    with pytest.raises(UsageError, match="is a link"):
        into(out, {"a": b"1"})
    assert listing(elsewhere) == []


def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "real")
    into(tmp_path / "out", {"a": b"1"})
    assert (tmp_path / "real" / "a").read_bytes() == b"1"


def test_what_cannot_be_written_is_exit_2_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"1")
    (tmp_path / "folder").mkdir()
    for place in (tmp_path / "file" / "x", tmp_path / "folder"):
        with pytest.raises(UsageError, match="cannot be written") as caught:
            write_file(place, b"2")
        assert caught.value.fix
    assert listing(tmp_path) == ["file", "folder"]


def test_a_folder_in_the_place_of_a_file_keeps_all_others_as_they_were(tmp_path: Path) -> None:
    out = tmp_path / "out"
    into(out, {"a.json": b"1"})
    (out / "b.csv").mkdir()
    before = listing(out)
    with pytest.raises(UsageError, match=r"b\.csv cannot be written: is a directory"):
        into(out, {"a.json": b"2", "b.csv": b"2"}, force=True)
    assert (out / "a.json").read_bytes() == b"1"
    assert listing(out) == before


def test_a_page_replaces_pages_and_nothing_else(tmp_path: Path) -> None:
    place = tmp_path / "index.html"
    place.write_bytes(b"")
    write_page(place, PAGE)  # an empty file, as mktemp makes it, is nobody's
    write_page(place, PAGE + b"2")
    assert place.read_bytes() == PAGE + b"2"
    place.write_bytes(b"<!doctype html><title>my site</title>")
    with pytest.raises(UsageError, match=r"did not write index\.html") as caught:
        write_page(place, PAGE)
    assert "--force" in caught.value.fix
    assert place.read_bytes() == b"<!doctype html><title>my site</title>"
    write_page(place, PAGE, force=True)
    assert place.read_bytes() == PAGE


def test_a_page_of_ours_that_stands_in_the_folder_is_ours(tmp_path: Path) -> None:
    write_page(tmp_path / "evalreport.html", PAGE)
    assert into(tmp_path, {"evalreport.html": PAGE + b"2"}).replaced == ("evalreport.html",)


def test_a_name_that_two_parts_share_is_replaced_by_either(tmp_path: Path) -> None:
    into(tmp_path, {"thresholds.parquet": b"of the report"})
    sweep = Payload("d", exports={"thresholds.parquet": b"of the sweep"}, part="sweep")
    assert FolderSink(tmp_path).log(sweep).replaced == ("thresholds.parquet",)
    into(tmp_path, {"thresholds.parquet": b"of the report"})


@pytest.mark.parametrize(
    "manifest", [b"", b"[]", b'{"files": 3}', b"\xff\xfe", b'{"schema": 1, "files": {}}']
)
def test_a_manifest_that_cannot_be_read_makes_nothing_ours(tmp_path: Path, manifest: bytes) -> None:
    into(tmp_path, {"a.json": b"1"})
    (tmp_path / ".evalreport" / "evaluation.json").write_bytes(manifest)
    with pytest.raises(UsageError, match=r"did not write a\.json"):
        into(tmp_path, {"a.json": b"2"})


WRITE = """
import json, os, resource, sys, tempfile
from pathlib import Path
from evalreport.core.errors import EvalreportError
from evalreport.page.payload import Payload
from evalreport.tracking.folder import FolderSink
folder, limit, user, size = Path(sys.argv[1]), *map(int, sys.argv[2:])
with tempfile.TemporaryDirectory() as place:  # all is imported while this user may read the package
    FolderSink(Path(place)).log(Payload("d", exports={"a.json": b"new"}))
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
if user and os.geteuid() == 0:
    os.setuid(user)
try:
    FolderSink(folder).log(Payload("d", exports={"a.json": b"new", "b.csv": b"2" * size}))
except EvalreportError as error:
    print(json.dumps([error.exit_code, str(error), error.fix]))
"""
NOBODY = 65534


def write_elsewhere(folder: Path, *, limit: int = 0, user: int = 0, size: int = 10) -> list[Any]:
    """Write in a process of its own; return exit code, what was wrong and how to mend it."""
    words = [sys.executable, "-c", WRITE, str(folder), str(limit), str(user), str(size)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    found: list[Any] = json.loads(done.stdout)
    return found


def test_a_disk_that_is_full_changes_nothing(tmp_path: Path) -> None:
    into(tmp_path, {"a.json": b"old"})
    before = listing(tmp_path)
    found = write_elsewhere(tmp_path, limit=4096, size=10_000)
    assert found == [
        2,
        "b.csv cannot be written: file too large",
        "make room, or name another place with -o",
    ]
    assert (tmp_path / "a.json").read_bytes() == b"old"
    assert listing(tmp_path) == before
    write_elsewhere(tmp_path / "new" / "out", limit=4096, size=10_000)
    assert listing(tmp_path) == before, "no empty folder is left"


def test_a_folder_that_is_read_only_is_left_alone() -> None:
    with tempfile.TemporaryDirectory() as place:  # those of pytest keep other users out
        out = Path(place)
        out.chmod(0o555)
        found = write_elsewhere(out, user=NOBODY)
        assert listing(out) == []
    assert found[0] == 2
    assert found[1].endswith("cannot be written: permission denied")
    assert found[2] == "check the folder's permissions, or name another place with -o"


@pytest.mark.parametrize("name", ["../../x", "CON", "x" * 300, "", "\x1b]8;;", "模型"])
def test_a_run_has_a_folder_of_its_own_inside(tmp_path: Path, name: str) -> None:
    place = run_folder(tmp_path, name, "3f9c1e0a7b2d")
    assert place.parent == tmp_path
    assert place.name.endswith("-3f9c1e0a")
    into(place, {"a": b"1"})
    assert (place / "a").is_file()
