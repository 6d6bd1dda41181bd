"""An option that would have no effect on the data at hand is refused in three lines, never ignored."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import run

Capture = pytest.CaptureFixture[str]
SEVERAL = ("several.csv", "--truth", "true_*", "--pred", "pred_*")
CLASSES, ANSWERS, SCORES = ("classes.csv",), ("answers.csv",), ("scores.csv",)
FACTS = ("counted.facts",)


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    """A table of each task, and facts of one."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (40, 4))
    rows = "\n".join(",".join(map(str, row)) for row in bits.tolist())
    Path("several.csv").write_text(f"true_a,true_b,pred_a,pred_b\n{rows}\n")
    pairs = "\n".join(
        "abc"[a % 3] + "," + "abc"[(a + b) % 3] for a, b in zip(range(40), bits[:, 0], strict=True)
    )
    Path("classes.csv").write_text(f"y_true,y_pred\n{pairs}\n")
    Path("answers.csv").write_text("y_true,y_pred\n" + "\n".join(f"{a},{b}" for a, b in bits[:, :2]) + "\n")
    scored = "\n".join(f"{a},{0.01 * n}" for n, a in enumerate(bits[:, 0]))
    Path("scores.csv").write_text(f"y_true,score\n{scored}\n")
    assert run(capsys, "report", "scores.csv", "--facts", "counted.facts").code == 0


UNUSED: list[tuple[tuple[str, ...], tuple[str, ...], str]] = [
    (SEVERAL, ("--positive", "a"), "multilabel with 2 labels"),
    (SEVERAL, ("--text", "answer"), "multilabel with 2 labels"),
    (CLASSES, ("--positive", "a"), "multiclass with 3 labels"),
    (ANSWERS, ("--score-kind", "decision"), "there are none"),
    (ANSWERS, ("--weight-kind", "count"), "there are none"),
    (ANSWERS, ("--parse", "exact"), "no column is read as text"),
    (ANSWERS, ("--fuzzy",), "no column is read as text"),
    (ANSWERS, ("--artifact", "x*"), "this is no run"),
    (ANSWERS, ("--threshold", "0.3"), "scores"),
    (ANSWERS, ("--label-names", "7=x"), "7"),
    *(
        (FACTS, option, "facts hold no rows")
        for option in (
            ("--truth", "y"),
            ("--pred", "p"),
            ("--score", "s"),
            ("--scores", "p_*"),
            ("--text", "t"),
            ("--id", "i"),
            ("--weight", "w"),
            ("--slice", "s"),
            ("--example-text", "t"),
            ("--score-kind", "decision"),
            ("--task", "multilabel"),
            ("--truth-file", "scores.csv"),
            ("--tune-on", "scores.csv", "--threshold", "max-f1"),
            ("--no-scores",),
            ("--answers",),
            ("--ordered",),
            ("--parse", "exact"),
            ("--fuzzy",),
            ("--missing", "wrong"),
            ("--weight-kind", "count"),
            ("--approximate",),
            ("--engine", "stream"),
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
    assert said in done.err and option[0] in done.err
    assert not Path("page.html").exists()
    assert run(capsys, "report", *source, "-o", "page.html", "-q", "--confidence", "none").code == 0


@pytest.mark.parametrize("engine", ["memory", "stream"])
@pytest.mark.parametrize("command", ["report", "check", "sweep thresholds"])
def test_every_command_and_engine_refuses_it(command: str, engine: str, capsys: Capture) -> None:
    more = ("--require", "f1_macro >= 0.1") if command == "check" else ()
    done = run(capsys, *command.split(), *SEVERAL, "--positive", "a", "--engine", engine, *more, "-q")
    assert done.code == 2 and "--positive names one of two classes" in done.err, done.err


def test_compare_refuses_it(capsys: Capture) -> None:
    Path("again.csv").write_bytes(Path("classes.csv").read_bytes() + b"a,a\n")
    done = run(capsys, "compare", "classes.csv", "again.csv", "--positive", "a", "-q")
    assert done.code == 2 and "--positive names one of two classes" in done.err, done.err
