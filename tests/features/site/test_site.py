"""A site of an experiment: what it says, that its links hold, that only what changed is made again."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evalreport as er
from evalreport.comparison.all_pairs import ContributionsOfRun, run_field
from evalreport.comparison.comparison import Agreement
from evalreport.core.result import Estimate
from evalreport.features.site.build import MadeSite, _stem, champion_since, log_site, paths_of
from evalreport.features.site.leaderboard import Board, BoardRun, MissingRun, RunFacts
from evalreport.features.site.page import board_headline, render_board, site_files
from evalreport.metrics.catalogue import find
from evalreport.page.comparison.comparison_choices import agreement_bars
from evalreport.page.render import digest
from evalreport.tracking.client import Store
from evalreport.tracking.runs import RunInfo
from evalreport.workflow.deliver import code_digest
from evalreport.workflow.request import Destination
from tests.cli.running import run
from tests.tracking import make_run

Capture = pytest.CaptureFixture[str]
ROWS = 120


def table(right: float, rows: int = ROWS) -> str:
    truth = np.array(["a", "b", "c"] * (rows // 3))
    hit = np.arange(rows) % 100 < 100 * right
    wrong = np.where(truth == "a", "b", "a")
    return pd.DataFrame(
        {"id": np.arange(rows), "y_true": truth, "y_pred": np.where(hit, truth, wrong)}
    ).to_csv(index=False)


def put(store: Store, folder: Path, name: str, content: str | None, **more: Any) -> str:
    files = {} if content is None else {"predictions.csv": content}
    return make_run(store, files, folder=folder, experiment="letters", name=name, **more).run_id


@pytest.fixture
def letters(sqlite_store: Store, tmp_path: Path) -> Store:
    """Five runs, one of them the champion, one on other rows, one without predictions, one that failed."""
    for name, right, tags in [
        ("poor", 0.4, {"champion": "2026-01-05"}),
        ("good", 0.9, {"candidate": "true"}),
        ("fair", 0.85, {}),
    ]:
        put(sqlite_store, tmp_path, name, table(right), tags=tags)
    put(sqlite_store, tmp_path, "other", table(0.9, 60))
    put(sqlite_store, tmp_path, "bare", None)
    put(sqlite_store, tmp_path, "broke", None, status="FAILED")
    return sqlite_store


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def champion_of(store: Store) -> str:
    key = store.client.get_experiment_by_name("letters").experiment_id
    (found,) = store.client.search_runs([key], "tags.champion LIKE '2026%'")
    return str(found.info.run_id)


def call(store: Store, out: Path, *more: str) -> list[str]:
    return ["site", "--experiment", "letters", "--tracking-uri", store.uri, "-o", str(out), *more]


def test_a_site_says_who_leads_and_what_is_missing_and_its_links_hold(
    letters: Store, tmp_path: Path, capsys: Capture
) -> None:
    out = tmp_path / "site"
    done = run(capsys, *call(letters, out, "--set", "columns=candidate"), "--json")
    assert done.code == 0, done.err
    page = (out / "index.html").read_text(encoding="utf-8")
    title = re.sub(r"<[^>]+>", "", page.partition("<h1")[2].partition(">")[2].partition("</h1>")[0])
    assert " ".join(title.split()) == (
        "good and fair are tied for best; the current model, poor, is significantly worse."
    )
    order = [entry["run"] for entry in done.json["site"]["ranking"]]
    assert order == ["good", "fair", "poor"]
    reasons = {entry["name"]: entry["reason"] for entry in done.json["site"]["missing"]}
    assert reasons["broke"].startswith("The run failed")
    assert "no predictions" in reasons["bare"]
    assert reasons["other"].startswith("Other rows: 60 cases")
    links = set(re.findall(r'href="([^"#]+)"', page.partition("<script")[0]))
    assert len(links) == 3 + 2, links  # each report, and each comparison with the champion
    assert all((out / link).is_file() for link in links)
    assert not re.search(r"(src|action)=|https?://", page)
    style, script = (page.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0] for tag in ("style", "script"))
    assert digest(style) in page and digest(script) in page
    csv = pd.read_csv(out / "runs.csv")
    assert csv["run"].tolist() == order
    assert csv.loc[0, "value"] == pytest.approx(0.9, abs=0.02)


def test_only_what_changed_is_made_again_and_only_ours_is_removed(
    letters: Store, tmp_path: Path, capsys: Capture
) -> None:
    out, twin = tmp_path / "site", tmp_path / "twin"
    assert run(capsys, *call(letters, out)).code == 0
    before = files_of(out)
    (out / "notes.txt").write_text("mine")
    again = run(capsys, *call(letters, out, "--log"), "--json").json["site"]
    held = {entry.path for entry in letters.client.list_artifacts(champion_of(letters), "evalreport_site")}
    assert held >= {"evalreport_site/index.html", "evalreport_site/runs", "evalreport_site/runs.csv"}
    assert again["logged"]["state"] == "written"
    assert (again["made"], again["written"], again["removed"]) == (0, 0, 0)
    assert run(capsys, *call(letters, twin)).code == 0
    assert files_of(twin) == before
    new = put(letters, tmp_path, "new", table(0.95))
    more = run(capsys, *call(letters, out), "--json").json["site"]
    assert more["made"] == 1
    changed = {path for path, data in files_of(out).items() if before.get(path) != data} - {"notes.txt"}
    assert {path for path in changed if new[:8] not in path} == {
        "index.html", "runs.csv", "runs.json", "pairs.csv", ".evalreport/site.json",
    }  # fmt: skip
    letters.client.delete_run(new)
    gone = run(capsys, *call(letters, out), "--json").json["site"]
    assert gone["removed"] == 2 + len(paths_of("new"))
    assert files_of(out) == {**before, "notes.txt": b"mine"}


def test_other_code_of_the_same_version_is_other_code(tmp_path: Path) -> None:
    def code(folder: str, text: str) -> str:
        package = tmp_path / folder / "evalreport"
        (package / "templates").mkdir(parents=True)
        (package / "__init__.py").write_text('__version__ = "1"')
        (package / "templates" / "page.html").write_text(text)
        (package / "__pycache__").mkdir()
        (package / "__pycache__" / f"{folder}.cpython-311.pyc.2718").write_text(folder)
        return code_digest(package)

    assert code("a", "<p>") == code("b", "<p>") != code("c", "<b>")


def plant(out: Path, files: dict[str, bytes]) -> None:
    """Write the manifest of a site that claims to have written files."""
    (out / ".evalreport").mkdir(parents=True, exist_ok=True)
    known = {path: [sha256(data).hexdigest()] for path, data in files.items()}
    manifest = {"schema": 2, "files": known, "metrics": [], "heads": {}, "sent": None}
    (out / ".evalreport" / "site.json").write_text(json.dumps(manifest))


def test_a_planted_manifest_removes_nothing(letters: Store, tmp_path: Path, capsys: Capture) -> None:
    """Absolute names, names that climb out, names behind a link, and names that a site never writes."""
    out, victims = tmp_path / "clone" / "public", tmp_path / "victims"
    (out / "real").mkdir(parents=True)
    victims.mkdir()
    places = [victims / "a.html", tmp_path / "clone" / "b.html", out / "notes.txt", out / "real" / "c.html"]
    for place in places:
        place.write_text("precious")
    (out / "compare").symlink_to(victims)
    names = [str(victims / "a.html"), "../b.html", "runs/../../b.html", "compare/a.html", "notes.txt"]
    plant(out, dict.fromkeys([*names, "real/c.html", ".evalreport/../notes.txt"], b"precious"))
    assert run(capsys, *call(letters, out)).code == 2  # `compare` is a link
    (out / "compare").unlink()
    assert run(capsys, *call(letters, out), "--json").json["site"]["removed"] == 0
    assert [place.read_text() for place in places] == ["precious"] * 4
    listed = json.loads((out / ".evalreport" / "site.json").read_text())["files"]
    assert not listed.keys() & {*names, "real/c.html"}


@pytest.mark.parametrize("folder", ["runs", "compare", ".evalreport/site"])
def test_nothing_is_read_written_or_removed_behind_a_link(
    letters: Store, tmp_path: Path, capsys: Capture, folder: str
) -> None:
    out, outside = tmp_path / "site", tmp_path / "outside"
    assert run(capsys, *call(letters, out)).code == 0
    (out / folder).rename(outside)
    (out / folder).symlink_to(outside)
    before = files_of(outside)
    put(letters, tmp_path, "new", table(0.95))
    done = run(capsys, *call(letters, out))
    assert done.code == 2
    assert "is a link; evalreport does not write through links" in done.err
    assert files_of(outside) == before


def test_an_id_of_a_run_is_no_path() -> None:
    found = RunInfo("../../../etc", "calm heron", "1", "1", "FINISHED")
    assert _stem(found) == "calm-heron-etc"


def test_files_of_others_are_not_replaced(letters: Store, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "site"
    out.mkdir()
    (out / "index.html").write_text("<p>theirs")
    refused = run(capsys, *call(letters, out))
    assert refused.code == 5
    assert "did not write index.html" in refused.err
    assert list(files_of(out)) == ["index.html"]
    assert run(capsys, *call(letters, out, "--force")).code == 0
    assert b"theirs" not in (out / "index.html").read_bytes()


@pytest.mark.parametrize(
    ("value", "when"), [(None, None), ("false", None), ("true", 7), ("", 7), ("1970-01-02", 86_400_000)]
)
def test_a_champion_is_one_since_its_start_or_the_day_that_its_tag_names(
    value: str | None, when: int | None
) -> None:
    tags = {} if value is None else {"champion": value}
    assert champion_since(RunInfo("ab", "a", "0", "e", "FINISHED", started=7, tags=tags), "champion") == when


def made_up(runs: int) -> Board:
    """A board of runs that are mixtures of right and wrong rows."""
    rng = np.random.default_rng(4)
    metric, n = find("accuracy", "multiclass"), 2000
    given, rows = [], []
    hard = rng.random(n)
    for k in range(runs):
        right = (rng.random(n) < 0.5 + 0.4 * k / runs * hard).astype(float)
        value = float(right.mean())
        parts = ((right - value) / n).astype(np.float32)
        name = f"word-features-{k:03d}"
        given.append((name, ContributionsOfRun(value, parts, np.zeros(n, np.int32), "effective")))
        facts = RunFacts("multiclass", n, "k", "0123", "", {
            "accuracy": Estimate(value, n, value - 0.02, value + 0.02), "f1_macro": Estimate(value, n)
        }, (), ("case", "cases"), {"accuracy": (value, "effective")})  # fmt: skip
        shown = {"model": "logistic", "strength": f"{k / 10:g}", "candidate": "true"}
        stem = f"{name}-{k:08x}"
        rows.append(
            BoardRun(name, f"{k:032x}", stem, k * 86_400_000, shown, k if k % 40 == 0 else None, facts)
        )
    columns = ("model", "strength", "candidate", "f1_macro")
    gone = (MissingRun("gone", 0, "Still running.", "Wait."),)
    field, made = run_field(metric, given), frozenset(run.stem for run in rows)
    return Board("words", metric, 0.95, tuple(rows), field, gone, columns, rows[-1].name, made)


def few(current: str, **right: float) -> Board:
    """Runs that are right on a proportion of 2,000 rows, the better one also where a worse one is."""
    metric, n, given, rows = find("accuracy", "multiclass"), 2000, [], []
    for k, (name, proportion) in enumerate(right.items()):
        hits = np.arange(n) < proportion * n
        value = Estimate(float(hits.mean()), n, proportion - 0.02, proportion + 0.02)
        parts = ((hits - value.value) / n).astype(np.float32)
        given.append((name, ContributionsOfRun(value.value, parts, np.zeros(n, np.int32), "effective")))
        facts = RunFacts("multiclass", n, "k", "0123", "", {"accuracy": value}, (), ("case", "cases"), {})
        rows.append(BoardRun(name, str(k), name, k * 86_400_000, {}, 0 if name == current else None, facts))
    return Board("few", metric, 0.95, tuple(rows), run_field(metric, given), (), (), "a", champion_tag="live")


def text_of(board: Board) -> str:
    """The words of the front page."""
    page = re.sub(r"<(style|script).*?</\1>", "", render_board(board), flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", "", re.sub(r"</?t[dhr]\b[^>]*>", " ", page)).split())


@pytest.mark.parametrize(
    ("board", "said"),
    [
        (few("", a=0.8), "a is the only run."),
        (few("a", a=0.8, b=0.7), "a is significantly better than b."),
        (few("b", a=0.8, b=0.7), "a is significantly better than b, the current model."),
        (few("b", a=0.8, b=0.8), "No significant difference between a and b."),
        (few("a", a=0.8, b=0.7, c=0.6), "a is significantly better than all 2 others."),
        (
            few("c", a=0.8, b=0.7, c=0.6),
            "a is significantly better than all 2 others, including the current model, c.",
        ),
        (
            few("c", a=0.8, b=0.8, c=0.6),
            "a and b are tied for best; the current model, c, is significantly worse.",
        ),
        (few("b", a=0.8, b=0.8, c=0.6), "a and b are tied for best."),
        (
            few("c", a=0.8, b=0.8, c=0.8),
            "No run is significantly best: a ranks first, and none is significantly worse.",
        ),
    ],
)
def test_the_headline_says_what_is_significant_and_never_calls_a_worse_run_champion(
    board: Board, said: str
) -> None:
    assert board_headline(board).text == said
    text = text_of(board)
    assert "hampion" not in text
    assert ("tag live" in text) == (board.champion is not None)


def test_it_is_said_where_a_run_is_significantly_worse_although_its_interval_overlaps() -> None:
    words = "is significantly worse although the intervals overlap"
    assert f"b {words}" in text_of(few("", a=0.8, b=0.78, c=0.6))
    assert words not in text_of(few("", a=0.8, b=0.7, c=0.6))
    assert words not in text_of(few("", a=0.8, b=0.8, c=0.6))


def test_the_year_of_a_run_is_on_the_page() -> None:
    board = few("", a=0.8, b=0.7)
    assert "Date, 1970" in text_of(board)
    later = replace(board.runs[1], started=366 * 86_400_000)
    said = text_of(replace(board, runs=(board.runs[0], later)))
    assert "1 Jan 1970" in said and "2 Jan 1971" in said and "Date, " not in said


def test_the_only_other_run_of_a_purpose_is_named() -> None:
    said = text_of(few("", a=0.8, b=0.8, c=0.8, d=0.6))
    assert "the best accuracy any except d 80%, d 60%" in said
    assert "the best accuracy a 80%, the next 70%" in text_of(few("", a=0.8, b=0.7, c=0.6))
    assert "the best accuracy a 80%, the other 70%" in text_of(few("", a=0.8, b=0.7))


def test_a_site_is_logged_into_a_named_run_once(sqlite_store: Store, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<p>front")
    home = make_run(sqlite_store, folder=tmp_path).run_id
    done = MadeSite(made_up(3), 0, 0, 0, ("index.html",), tmp_path)
    where = Destination(log=True)
    logged = [log_site(done, sqlite_store, home, where) for _ in range(2)]
    assert [entry.state for entry in logged] == ["written", "unchanged"]
    assert logged[0].files == ("evalreport_site/index.html",)


def test_ranks_words_and_differences_agree_and_200_runs_are_250_kb() -> None:
    board = made_up(200)
    assert len(render_board(board).encode()) < 256_000
    apart = {(d.run, d.baseline): d.verdict for d in board.field.pairs}
    for place, entry in enumerate(board.ranking):
        assert entry.ranks is not None and entry.ranks[0] <= place + 1 <= entry.ranks[1]
        d = board.difference_to_best(entry.run)
        assert (d is None) == (entry.run == board.best.name)
        if d is not None and d.adjusted is not None:
            assert entry.best_group == (d.adjusted.low <= 0 <= d.adjusted.high)
            pair = apart.get((entry.run, board.best.name)) or apart[board.best.name, entry.run]
            assert (pair == "not_significant") == entry.best_group
    tied = sum(entry.best_group for entry in board.ranking)
    assert board_headline(board).text.startswith(
        f"{tied} of 200 runs are tied for best, {board.best.name} first"
    )
    assert site_files(board)["pairs.csv"].count(b"\n") == 1 + 199 * 100


DEEP = "[" * 5000
ODD: dict[str, dict[str, Any]] = {
    "years ahead": {"started": 9 * 10**17},
    "before all years": {"started": -(10**15)},
    "early champion": {"tags": {"champion": "0001-01-01T00:00:00+23:59"}},
    "late champion": {"tags": {"champion": "9999-12-31T23:59:59-23:59"}},
    "deep": {
        "tags": {
            "mlflow.loggedArtifacts": DEEP,
            "evalreport.state": f"0 {DEEP}",
            "evalreport.unit": "a{b}|:,%s",
        }
    },
    "no list": {"tags": {"mlflow.loggedArtifacts": "{}", "evalreport.state": "unfinished " + "9" * 99}},
}
"""Runs with times and tags that no program should have written."""


def test_what_is_absurd_in_one_run_concerns_that_run_alone(
    sqlite_store: Store, tmp_path: Path, capsys: Capture
) -> None:
    for name in ("good", "fair", *ODD):
        put(sqlite_store, tmp_path, name, table(0.85), **ODD.get(name, {}))
    call = ["--experiment", "letters", "--tracking-uri", sqlite_store.uri]
    site = run(capsys, "site", *call, "-o", str(tmp_path / "public"), "--json")
    assert site.code == 0, site.err
    assert len(site.json["site"]["ranking"]) == 2 + len(ODD)
    for named in ("(years ahead): its start time 9", "(before all years): its start time -1"):
        assert named in site.err
    for named in ("early champion", "late champion"):
        assert f"({named}): the day in its tag champion is not from 1970 to 9999" in site.err
    assert site.err.count("is ignored") == 4
    assert run(capsys, "site", *call, "-o", str(tmp_path / "public"), "--json").json["site"]["made"] == 0

    logged = run(capsys, "log", *call, "--set", "confidence=none", "--metrics", "accuracy", "--json")
    assert logged.code == 0, logged.err
    assert [one["logged"]["state"] for one in logged.json["runs"]] == ["written"] * (2 + len(ODD))


@pytest.mark.parametrize(
    ("kind", "shape", "made", "missing"),
    [
        ("[!s]", "no array", 1, []),
        ("[!s]", "other rows", 0, ["fair"]),
        (".rows", "no array", 1, []),
        (".rows", "other rows", 1, []),
        (".rows", "other labels", 1, []),
    ],
)
def test_a_kept_file_that_is_damaged_concerns_its_run_alone(
    sqlite_store: Store, tmp_path: Path, capsys: Capture, kind: str, shape: str, made: int, missing: list[str]
) -> None:
    for name, right in (("good", 0.9), ("fair", 0.85), ("poor", 0.4)):
        put(sqlite_store, tmp_path, name, table(right))
    call = ["site", "--experiment", "letters", "--tracking-uri", sqlite_store.uri, "-o", str(tmp_path / "o")]
    assert run(capsys, *call).code == 0
    (kept,) = (tmp_path / "o").rglob(f"fair*{kind}.npy")
    before, data = sha256(kept.read_bytes()).hexdigest(), b"nothing"
    if shape != "no array":
        stream, rows = io.BytesIO(), np.load(kept)
        np.save(stream, rows[..., :50] if shape == "other rows" else np.full_like(rows, 9))
        data = stream.getvalue()
    kept.write_bytes(data)
    record = tmp_path / "o" / ".evalreport" / "site.json"  # as if it had been written so
    record.write_text(record.read_text().replace(before, sha256(data).hexdigest()))
    done = run(capsys, *call, "--json")
    assert done.code == 0, done.err
    assert done.json["site"]["made"] == made
    assert [one["name"] for one in done.json["site"]["missing"]] == missing


def voters(n: int, runs: int, seed: int = 3) -> tuple[list[str], list[list[str]]]:
    """Labels, and the predictions of runs that are wrong for different rows."""
    rng = np.random.default_rng(seed)
    truth = rng.choice([*"abc"], n)
    made = [np.where(rng.random(n) < 0.8, truth, rng.choice([*"abc"], n)) for _ in range(runs)]
    return truth.tolist(), [run.tolist() for run in made]


@pytest.mark.parametrize(("runs", "ids"), [(2, True), (3, True), (3, False)])
def test_common_mistakes_are_those_of_the_comparison_of_the_same_runs(
    sqlite_store: Store, tmp_path: Path, capsys: Capture, runs: int, ids: bool
) -> None:
    truth, given = voters(150, runs)
    evaluations = []
    for place, answers in enumerate(given):
        frame = pd.DataFrame({"y_true": truth, "y_pred": answers})
        if ids:
            frame = frame.assign(id=range(150)).sample(frac=1, random_state=place)
        put(sqlite_store, tmp_path, f"run{place}", frame.to_csv(index=False))
        more: dict[str, Any] = {"ids": frame["id"].tolist()} if ids else {}
        evaluations.append(er.evaluate(frame["y_true"], frame["y_pred"], resamples=20, **more))
    call = ["site", "--experiment", "letters", "--tracking-uri", sqlite_store.uri, "-o", str(tmp_path / "o")]
    assert run(capsys, *call).code == 0
    page = (tmp_path / "o" / "index.html").read_text(encoding="utf-8")
    bars = agreement_bars(er.compare(evaluations, names=[f"run{place}" for place in range(runs)]))
    assert bars is not None
    said = page.partition('class="venn"')[2].partition("</section>")[0]
    cells = re.findall(r'<th scope="row">(.*?)</th>.*?<b>(.*?)</b>', said)
    shown = sorted((re.sub(r"<[^>]+>", "", words), number) for words, number in cells)
    assert shown == sorted((row.words.text, row.text) for row in bars.rows)
    text = " ".join(re.sub(r"<[^>]+>", "", said).split())
    assert bars.vote.text in text and ("majority" in text) == (runs > 2)


def test_predictions_are_kept_in_one_byte_per_row(letters: Store, tmp_path: Path, capsys: Capture) -> None:
    assert run(capsys, *call(letters, tmp_path / "o")).code == 0
    (kept,) = (tmp_path / "o").rglob("good*.rows.npy")
    codes = np.load(kept)
    assert codes.dtype == np.int8 and len(codes) == ROWS
    assert (codes > 0).sum() == 110 and kept.stat().st_size == 128 + ROWS


def test_common_mistakes_are_those_of_the_20_best_runs() -> None:
    board = made_up(30)
    counts = tuple(range(1900, 1880, -1))
    found = Agreement(board.agreeing, 2000, counts, 500, 1200, 300, 1850)
    assert len(board.agreeing) == 20 and board.agreeing[0] == board.best.name
    said = text_of(replace(board, agreement=found))
    assert "Of 2,000 cases, the 20 best runs." in said and "all 20 right" in said
    assert "A majority vote does not help: it is right for 1,850" in said
    assert "same mistakes" not in text_of(board)
