"""The composite action: its script is run as GitHub runs it, with its inputs as data."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qs, urlparse

import pytest
import yaml

ROOT = Path(__file__).parents[1]
ACTION_FOLDER = ROOT / ".github" / "actions" / "check"
NOTHING: Mapping[str, str] = MappingProxyType({})
ACTION = yaml.safe_load((ROOT / ".github" / "actions" / "check" / "action.yml").read_text(encoding="utf-8"))


def checked(folder: Path, more: Mapping[str, str] = NOTHING, **inputs: str) -> tuple[int, str, str]:
    """Run the last step; return its exit code, the job's summary and its outputs."""
    known = {name: str(about.get("default", "")) for name, about in ACTION["inputs"].items()} | inputs
    step = ACTION["runs"]["steps"][-1]
    given = {name: known.get(text.split(".")[1].split()[0], "") for name, text in step["env"].items()}
    given |= {"ACTION": str(ACTION_FOLDER), "GITHUB_TOKEN": "a-token", **more}
    files = {"GITHUB_OUTPUT": folder / "output", "GITHUB_STEP_SUMMARY": folder / "summary.md"}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "RUNNER_TEMP": str(folder)}
    environment |= {name: str(place) for name, place in files.items()} | given
    for place in files.values():
        place.touch()
    command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
    code = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False).returncode
    summary, output = (place.read_text(encoding="utf-8") for place in reversed(files.values()))
    return code, summary, output


@pytest.mark.parametrize(
    ("rule", "code"), [("accuracy >= 0.5", 0), ("accuracy >= 0.95", 1), ("no_such >= 1", 2)]
)
def test_the_step_ends_as_the_rule_does(rule: str, code: int, tmp_path: Path) -> None:
    rows = ["y_true,y_pred", *["a,a", "b,b"] * 40, *["a,b"] * 20]
    (tmp_path / "predictions.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    found, summary, output = checked(tmp_path, predictions="predictions.csv", require=f"{rule}\n\n")
    assert found == code
    assert summary.startswith("### evalreport check:")
    assert Path(output.strip().removeprefix("junit=")).is_file()


def test_an_input_is_never_run(tmp_path: Path) -> None:
    code, _, _ = checked(tmp_path, predictions="$(touch run).csv", options="--junit=`touch run`\n; touch run")
    assert code in (2, 3)
    assert not (tmp_path / "run").exists()
    scripts = [step["run"] for step in ACTION["runs"]["steps"]]
    assert not any("${{" in script for script in scripts)


@dataclass
class Hub:
    """A stand-in for the REST interface of GitHub: comments of one pull request."""

    address: str = ""
    comments: list[dict[str, Any]] = field(default_factory=list)
    calls: list[tuple[str, str]] = field(default_factory=list)
    refuses: int = 0


@contextmanager
def hub(**state: Any) -> Iterator[Hub]:
    """Serve the stand-in on the loopback address."""
    known = Hub(**state)

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            known.calls.append((self.command, self.path))
            assert self.headers["Authorization"] == "Bearer a-token"
            if known.refuses:
                self.send_response(known.refuses)
                self.end_headers()
                return
            place = urlparse(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length) or b"null")
            result: Any = None
            if self.command == "GET" and place.path == "/repos/me/mine/issues/7/comments":
                asked = parse_qs(place.query)
                size, page = int(asked["per_page"][0]), int(asked["page"][0])
                result = known.comments[(page - 1) * size : page * size]
            elif self.command == "POST" and place.path == "/repos/me/mine/issues/7/comments":
                result = {"id": 1000 + len(known.comments), **body}
                known.comments.append(result)
            elif self.command == "PATCH" and place.path.startswith("/repos/me/mine/issues/comments/"):
                (result,) = [one for one in known.comments if str(one["id"]) == place.path.rpartition("/")[2]]
                result |= body
            self.send_response(404 if result is None else 200)
            self.end_headers()
            self.wfile.write(json.dumps(result).encode())

        do_GET = do_POST = do_PATCH = answer  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    known.address = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield known
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def pull(folder: Path, known: Hub, event: str = '{"pull_request": {"number": 7}}') -> dict[str, str]:
    """What a workflow of a pull request sets."""
    (folder / "event.json").write_text(event)
    return {
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_API_URL": known.address,
        "GITHUB_REPOSITORY": "me/mine",
    }


def two_models(folder: Path) -> None:
    head = "id,y_true,y_pred"
    old = [f"{k},{'ab'[k % 2]},{'ab'[k % 2] if k % 5 else 'ab'[1 - k % 2]}" for k in range(120)]
    new = [f"{k},{'ab'[k % 2]},{'ab'[k % 2] if k % 9 else 'ab'[1 - k % 2]}" for k in range(120)]
    for name, rows in (("old", old), ("new", new)):
        (folder / f"{name}.csv").write_text("\n".join([head, *rows]) + "\n")


OPTIONS = "--baseline=old.csv\n--id=id"


def test_one_comment_is_written_and_then_updated(tmp_path: Path) -> None:
    two_models(tmp_path)
    others = [{"id": n, "body": "thank you"} for n in range(130)]  # on two pages
    with hub(comments=others) as known:
        more = pull(tmp_path, known) | {"ARTIFACT_URL": "https://example.org/page"}
        asked = {"predictions": "new.csv", "require": "accuracy drops <= 0.05", "options": OPTIONS}
        code, summary, _ = checked(tmp_path, more, **asked)
        assert code in (0, 1)
        (mine,) = [one for one in known.comments if "evalreport" in one["body"]]
        first = mine["body"]
        assert first.startswith("<!-- evalreport check: new.csv -->\n### evalreport check: ")
        assert first.splitlines()[1] == summary.splitlines()[0]
        assert "| | check | found |" in first and "Baseline: old" in first
        assert first.count("| fixed |") == 5 and first.count("| broken |") == 5
        assert "[Page of the evaluation](https://example.org/page)" in first
        two = checked(tmp_path, more, **asked | {"require": "accuracy >= 0.5"})
        assert two[0] == 0
        assert len([one for one in known.comments if "evalreport" in one["body"]]) == 1
        assert "accuracy >= 0.5" in mine["body"] and mine["body"] != first
        assert [method for method, _ in known.calls] == ["GET", "GET", "POST", "GET", "GET", "PATCH"]


@pytest.mark.parametrize("status", [401, 403, 404, 500])
def test_without_permission_the_summary_has_everything(tmp_path: Path, status: int) -> None:
    two_models(tmp_path)
    with hub(refuses=status) as known:
        asked = {"predictions": "new.csv", "require": "accuracy >= 0.5"}
        code, summary, _ = checked(tmp_path, pull(tmp_path, known), **asked)
        assert code == 0
        assert summary.startswith("### evalreport check:")
        assert known.comments == [] and len(known.calls) == 1


@pytest.mark.parametrize("event", ["{}", '{"pull_request": null}', '{"pull_request": {"number": "7"}}'])
def test_another_event_gets_no_comment(tmp_path: Path, event: str) -> None:
    two_models(tmp_path)
    with hub() as known:
        asked = {"predictions": "new.csv", "require": "accuracy >= 0.5"}
        assert checked(tmp_path, pull(tmp_path, known, event), **asked)[0] == 0
        assert known.calls == []


def test_the_workflow_commands_of_github_name_what_fails(tmp_path: Path) -> None:
    two_models(tmp_path)
    command = [sys.executable, "-m", "evalreport", "check", "new.csv", "--require", "accuracy >= 0.99"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "GITHUB_ACTIONS": "true"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "::error title=evalreport check::new: accuracy >= 0.99: " in done.stderr
