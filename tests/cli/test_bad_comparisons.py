"""What cannot be compared or checked: three lines, an exit code, or a comparison that says what it is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.cli.running import Ran, run

Capture = pytest.CaptureFixture[str]
ROWS = 20


def write(name: str, columns: Mapping[str, Sequence[object]]) -> None:
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ids: list[object] = [f"e{row}" for row in range(ROWS)]
    truth: list[object] = [row % 2 for row in range(ROWS)]
    score: list[object] = [0.2 + 0.6 * (row % 2) - 0.01 * row for row in range(ROWS)]
    write("one.csv", {"example_id": ids, "y_true": truth, "score": score})
    write("two.csv", {"example_id": ids, "y_true": truth, "score": score[::-1]})
    write("words.csv", {"example_id": ids, "y_true": list("ab") * 10, "y_pred": list("ab") * 10})
    write("three.csv", {"example_id": ids, "y_true": list("abca") * 5, "y_pred": list("abcc") * 5})
    write("wider.csv", {"example_id": ids, "y_true": list("abca") * 5, "y_pred": list("abda") * 5})
    write("changed.csv", {"example_id": ids, "y_true": [1 - int(str(truth[0])), *truth[1:]], "score": score})
    write("spam.csv", {"y_true": [0] * ROWS, "score": score})


def three_lines(done: Ran, code: int, said: str, fix: str) -> None:
    reported = [line for line in done.err.splitlines() if not line.startswith(("Using", "warning"))]
    assert (done.code, done.out) == (code, "")
    assert [line[:7] for line in reported] == ["error: ", "  at   ", "  fix  "]
    assert said in reported[0]
    assert fix in reported[2]


@pytest.mark.parametrize(
    ("arguments", "code", "said", "fix"),
    [
        ("compare one.csv", 2, "a comparison needs at least two", "name 2 to 20"),
        ("compare one.csv one.csv", 2, "a comparison needs at least two", "name 2 to 20 different"),
        (
            "compare one.csv three.csv",
            2,
            "a multiclass run cannot be compared with a binary run",
            "--set task",
        ),
        ("compare one.csv words.csv", 2, "differ in their labels: a / b and 0 / 1", "--positive"),
        ("compare one.csv changed.csv", 5, "the true labels of 1 of 20 shared examples differ", "test"),
        ("compare one.csv two.csv --baseline thre", 3, "baseline thre is not among", "one, two"),
        ("compare one.csv two.csv --baseline 3", 3, "baseline 3 is not among", "one, two"),
        ("compare one.csv two.csv --require=recal>much", 2, "is not a bound", "drops"),
        ("compare one.csv two.csv --metrics recal", 2, "recal", "Did you mean recall?"),
        ("check one.csv --baseline none.csv --require=recall:0.1", 2, "is not a bound", "0.9"),
        ("check one.csv --require recal>=0.1", 2, "no binary metric 'recal'", "Did you mean recall?"),
        ("check three.csv --require f1[d]>=0.1", 2, "there is no class 'd'", "a, b, c"),
        ("check one.csv --require recall[site=x]>=0.1", 2, "is not a slice column", "--slice site"),
    ],
)
def test_three_lines(arguments: str, code: int, said: str, fix: str, capsys: Capture) -> None:
    three_lines(run(capsys, *arguments.split()), code, said, fix)


def test_a_drop_of_an_unknown_metric_names_the_nearest(capsys: Capture) -> None:
    rule = ("--baseline", "two.csv", "--require", "recal drops <= 0.1")
    three_lines(run(capsys, "check", "one.csv", *rule), 2, "recal", "Did you mean recall?")
    gone = ("--baseline", "none.csv", "--require", "recall drops <= 0.1")
    three_lines(run(capsys, "check", "one.csv", *gone), 3, "no baseline none.csv", "a file that exists")


def test_a_copy_is_compared_and_called_one(capsys: Capture) -> None:
    Path("copy.csv").write_bytes(Path("one.csv").read_bytes())
    done = run(capsys, "compare", "one.csv", "copy.csv")
    assert done.code == 0
    assert "“one” and “copy” have the same predictions, so they do not differ" in done.err
    assert "No significant difference" in done.out
    assert "better" not in done.out


def test_other_label_sets_are_joined_and_shown(capsys: Capture) -> None:
    done = run(capsys, "compare", "three.csv", "wider.csv", "--json")
    assert done.code == 0, done.err
    reported = done.json["comparison"]
    assert reported["pairing"]["kind"] == "paired"
    (note,) = (note for note in reported["notes"] if "label" in note)
    assert "d" in note
    assert "c" in note
    assert {d["verdict"] for d in reported["differences"]} & {"better", "worse"}


def test_without_predictions_it_is_unpaired_and_says_so(capsys: Capture) -> None:
    run(capsys, "report", "one.csv", "--output", "one", "-q")
    done = run(capsys, "compare", "one/evaluation.json", "two.csv", "--json")
    reported = done.json["comparison"]
    assert (reported["pairing"]["kind"], reported["mcnemar"], reported["movement"]) == ("unpaired", [], None)
    assert "predictions" in reported["pairing"]["reason"]
    assert {d["method"] for d in reported["differences"] if d["low"] is not None} == {"MOVER, unpaired"}


def test_an_undefined_value_fails_with_its_reason(capsys: Capture) -> None:
    asked = ("check", "spam.csv", "--labels", "0,1", "--require", "recall >= 0.5")
    done = run(capsys, *asked, "--json")
    assert done.code == 1
    rule = done.json["checks"][0]
    assert (rule["outcome"], rule["value"]) == ("failed", None)
    assert rule["shown"].startswith("undefined: ")
    assert "positive" in rule["shown"]
    assert json.loads(done.out)["ok"] is False


def test_answers_none_of_which_can_be_read_are_wrong_ones(capsys: Capture) -> None:
    """The lower limit of the share of their most frequent class was a division by zero."""
    ids, truth = range(30), ["pos", "neg", "neu"] * 10
    write("read.csv", {"example_id": ids, "y_true": truth, "said": truth[:27] + truth[1:4]})
    write("none.csv", {"example_id": ids, "y_true": truth, "said": ["I cannot tell"] * 30})
    done = run(capsys, "compare", "none.csv", "read.csv", "--response", "said", "--json")
    assert done.code == 0, done.err
    reported = {d["metric"]: d for d in done.json["comparison"]["differences"]}
    assert (reported["accuracy"]["values"], reported["accuracy"]["verdict"]) == ([0.9, 0.0], "better")
    assert reported["accuracy_parsed"]["reason"] == "none: no response could be parsed"
    assert run(capsys, "report", "none.csv", "--response", "said", "--labels", "neg,neu,pos").code == 0
