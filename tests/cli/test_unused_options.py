"""An option that would have no effect on the data at hand is refused in three lines, never ignored."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import run

Capture = pytest.CaptureFixture[str]
SEVERAL = ("several.csv", "--truth", "true_*", "--pred", "pred_*")
CLASSES, ANSWERS, SCORES = ("classes.csv",), ("answers.csv",), ("scores.csv",)
FACTS = ("counted.stats",)


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """A table of each task, and facts of one."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (40, 4))
    rows = "\n".join(",".join(map(str, row)) for row in bits.tolist())
    named = "\n".join(f"{row},{'ab'[k % 2]}" for k, row in enumerate(rows.split()))
    Path("several.csv").write_text(f"true_a,true_b,pred_a,pred_b,answer\n{named}\n")
    pairs = "\n".join(
        "abc"[a % 3] + "," + "abc"[(a + b) % 3] for a, b in zip(range(40), bits[:, 0], strict=True)
    )
    Path("classes.csv").write_text(f"y_true,y_pred\n{pairs}\n")
    Path("answers.csv").write_text("y_true,y_pred\n" + "\n".join(f"{a},{b}" for a, b in bits[:, :2]) + "\n")
    scored = "\n".join(f"{a},{0.01 * n}" for n, a in enumerate(bits[:, 0]))
    Path("scores.csv").write_text(f"y_true,score\n{scored}\n")
    assert run(capsys, "report", "scores.csv", "--save-statistics", "counted.stats").code == 0


UNUSED: list[tuple[tuple[str, ...], tuple[str, ...], str]] = [
    (SEVERAL, ("--positive", "a"), "multilabel with 2 labels"),
    (SEVERAL, ("--response", "answer"), "multilabel with 2 labels"),
    (CLASSES, ("--positive", "a"), "multiclass with 3 labels"),
    (ANSWERS, ("--score-kind", "decision"), "there are none"),
    (ANSWERS, ("--set", "weight_kind=count"), "there are none"),
    (ANSWERS, ("--set", "slice_bins=4"), "there is none"),
    (ANSWERS, ("--set", "parse=exact"), "no column is read as text"),
    (
        ANSWERS,
        ("--set", "fuzzy"),
        "no column is read as text",
    ),
    (ANSWERS, ("--artifact", "x*"), "this is not a run"),
    (ANSWERS, ("--threshold", "0.3"), "scores"),
    (ANSWERS, ("--set", "label_names=7=x"), "7"),
    *(
        (FACTS, option, "a statistics file has no rows")
        for option in (
            ("--truth", "y"),
            ("--pred", "p"),
            ("--score", "s"),
            ("--scores", "p_*"),
            ("--response", "t"),
            ("--id", "i"),
            ("--set", "weight=w"),
            ("--slice", "s"),
            ("--set", "show_text=t"),
            ("--score-kind", "decision"),
            ("--set", "task=multilabel"),
            ("--set", "truth_file=scores.csv"),
            ("--tune-on", "scores.csv", "--threshold", "max-f1"),
            ("--set", "no_scores"),
            ("--repeats",),
            ("--set", "ordered"),
            ("--set", "parse=exact"),
            ("--set", "fuzzy"),
            ("--set", "missing=wrong"),
            ("--set", "weight_kind=count"),
            ("--set", "slice_bins=4"),
            ("--set", "approximate"),
            ("--set", "engine=stream"),
        )
    ),
]


@pytest.mark.parametrize(
    ("source", "option", "said"), UNUSED, ids=[" ".join([s[0], *o]) for s, o, _ in UNUSED]
)
def test_an_option_without_effect_is_refused(
    source: tuple[str, ...], option: tuple[str, ...], said: str, capsys: Capture
) -> None:
    done = run(capsys, "report", *source, *option, "-o", "page.html", "-q")
    assert done.code in (2, 5), done.err
    assert [line[:6] for line in done.err.splitlines()] == ["error:", "  at  ", "  fix "]
    assert (
        said in done.err
        and (option[0] if option[0] != "--set" else f"--set {option[1].partition('=')[0]}") in done.err
    )
    assert not Path("page.html").exists()
    assert run(capsys, "report", *source, "-o", "page.html", "-q", "--set", "confidence=none").code == 0


@pytest.mark.parametrize("engine", ["memory", "stream"])
@pytest.mark.parametrize("command", ["report", "check", "sweep thresholds"])
def test_every_command_and_engine_refuses_it(command: str, engine: str, capsys: Capture) -> None:
    more = ("--require", "f1_macro >= 0.1") if command == "check" else ()
    done = run(
        capsys, *command.split(), *SEVERAL, "--positive", "a", "--set", f"engine={engine}", *more, "-q"
    )
    assert done.code == 2 and "--positive names one of two classes" in done.err, done.err


def test_compare_refuses_it(capsys: Capture) -> None:
    Path("again.csv").write_bytes(Path("classes.csv").read_bytes() + b"a,a\n")
    done = run(capsys, "compare", "classes.csv", "again.csv", "--positive", "a", "-q")
    assert done.code == 2 and "--positive names one of two classes" in done.err, done.err


@pytest.mark.parametrize("option", [("--test-on", "estimate"), ("--inconclusive", "pass")])
@pytest.mark.parametrize("words", [("check", "classes.csv"), ("compare", "classes.csv", "again.csv")])
def test_options_of_rules_need_a_rule(
    words: tuple[str, ...], option: tuple[str, str], capsys: Capture
) -> None:
    Path("again.csv").write_bytes(Path("classes.csv").read_bytes() + b"a,a\n")
    done = run(capsys, *words, *option, "-q")
    assert done.code == 2
    assert done.err.splitlines() == [
        f"error: {option[0]} has no effect without --require",
        f"  at   {option[0]}",
        f"  fix  add --require RULE, or remove {option[0]}",
    ]


@pytest.mark.parametrize("more", [("--json",), ("-o", "-"), ("--markdown", "-"), ("classes.csv",)])
def test_a_page_that_is_not_there_is_not_opened(more: tuple[str, ...], capsys: Capture) -> None:
    done = run(capsys, "report", "scores.csv", "--open", *more)
    assert done.code == 2
    assert "--open needs one page in a file" in done.err + done.out


def test_the_page_is_opened(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert run(capsys, "report", "scores.csv", "--open", "-q").code == 0
    assert opened == [Path("scores.html").resolve().as_uri()]
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    done = run(capsys, "report", "scores.csv", "--open", "-o", "folder")
    assert "no browser was found; open " in done.err and done.code == 0


def test_a_positive_label_that_does_not_occur_lists_the_labels(capsys: Capture) -> None:
    for label, file in (("yes", "scores.csv"), ("7", "scores.csv")):
        done = run(capsys, "report", file, "--positive", label)
        assert done.code in (2, 5)
        assert "0, 1" in done.err, done.err


def test_log_takes_no_files_and_says_what_does(capsys: Capture) -> None:
    done = run(capsys, "log", "scores.csv")
    assert done.code == 2
    assert "`evalreport report scores.csv` reads a file" in done.err
