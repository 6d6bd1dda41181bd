"""Files in a folder: whole, never through a link, never elsewhere."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from evalreport.errors import UsageError
from evalreport.sinks.folder import run_folder, write_file, write_folder


def test_files_are_written_and_replaced(tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"
    first = write_folder({"evalreport.html": b"1", "tables/classes.csv": b"2"}, out)
    assert first == (out / "evalreport.html", out / "tables" / "classes.csv")
    write_folder({"evalreport.html": b"3"}, out)
    assert {
        path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()
    } == {
        "evalreport.html": b"3",
        "tables/classes.csv": b"2",
    }


def test_others_may_read_what_was_written(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    ours = write_file(tmp_path / "ours", b"")
    assert stat.S_IMODE(ours.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


@pytest.mark.parametrize("path", ["../x", "/x", "a/../../x", "", "a\0b"])
def test_no_path_leads_out_of_the_folder(tmp_path: Path, path: str) -> None:
    out = tmp_path / "out"
    with pytest.raises(UsageError):
        write_folder({"good": b"1", path: b"2"}, out)
    assert not out.exists()


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
            write_folder({"good": b"1", path: b"2"}, out)
        assert caught.value.exit_code == 2
    with pytest.raises(UsageError, match="is a link"):
        write_file(out / "file", b"2")
    assert (secret / "s").read_bytes() == b"secret"
    assert not (out / "good").exists()
    assert not (tmp_path / "nowhere").exists()


def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "real")
    write_folder({"a": b"1"}, tmp_path / "out")
    assert (tmp_path / "real" / "a").read_bytes() == b"1"


def test_what_cannot_be_written_is_exit_2_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"1")
    (tmp_path / "folder").mkdir()
    for place in (tmp_path / "file" / "x", tmp_path / "folder"):
        with pytest.raises(UsageError, match="cannot be written") as caught:
            write_file(place, b"2")
        assert caught.value.fix
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


@pytest.mark.parametrize("name", ["../../x", "CON", "x" * 300, "", "\x1b]8;;", "模型"])
def test_a_run_has_a_folder_of_its_own_inside(tmp_path: Path, name: str) -> None:
    place = run_folder(tmp_path, name, "3f9c1e0a7b2d")
    assert place.parent == tmp_path
    assert place.name.endswith("-3f9c1e0a")
    assert write_folder({"a": b"1"}, place)[0].is_file()
