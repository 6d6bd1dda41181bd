"""Discarded annotations and drafts are no true labels; what is skipped or decided is counted and reported."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from evalreport.columns.find_columns import find_in_files
from evalreport.core.errors import DataError, GradedError
from tests.cli.running import run

Given = Sequence[tuple[str, str]]
"""Label and state of each annotation of one record: submitted, discarded or draft."""
WORDS = ("ham", "spam", "eggs")
RECORDS: list[Given] = [
    *([(WORDS[k % 3], "submitted")] for k in range(40)),
    *([("eggs", "discarded"), ("ham", "submitted")] for _ in range(3)),
    *([("eggs", "draft")] for _ in range(2)),
    [],
    [("ham", "submitted"), ("ham", "submitted"), ("spam", "submitted")],
    [("ham", "submitted"), ("spam", "submitted")],
]
TRUTH = [*(WORDS[k % 3] for k in range(40)), *["ham"] * 3, "ham"]
KEPT = [*range(43), 46]
NOTES = (
    "annotations are not used as true labels",
    "3 of 48 records have no submitted annotation and are skipped",
    "annotators disagree on 2 of 48 records: 1 decided by the majority, 1 without a majority skipped",
)


def _reported(row: int) -> str:
    return WORDS[(row * 7 + row // 5) % 3]


def argilla_2() -> list[Any]:
    return [
        {
            "id": row,
            "status": "completed",
            "fields": {},
            "responses": {"kind": [{"value": v, "user_id": "u", "status": s} for v, s in given]},
            "suggestions": {"kind": {"value": _reported(row), "score": None}},
        }
        for row, given in enumerate(RECORDS)
    ]


def argilla_1() -> list[Any]:
    return [
        {
            "id": row,
            "fields": {},
            "responses": [{"values": {"kind": {"value": v}}, "status": s} for v, s in given],
            "suggestions": [{"question_name": "kind", "value": _reported(row)}],
        }
        for row, given in enumerate(RECORDS)
    ]


def argilla_columns() -> list[Any]:
    return [
        {
            "id": row,
            "kind.responses": [v for v, _ in given] or None,
            "kind.responses.users": ["u" for _ in given] or None,
            "kind.responses.status": [s for _, s in given] or None,
            "kind.suggestion": _reported(row),
            "kind.suggestion.score": None,
        }
        for row, given in enumerate(RECORDS)
    ]


def argilla_1_columns() -> list[Any]:
    return [
        {"id": row, "kind": [{"value": v, "status": s} for v, s in given], "kind-suggestion": _reported(row)}
        for row, given in enumerate(RECORDS)
    ]


def _choices(label: str) -> list[Any]:
    return [{"type": "choices", "from_name": "kind", "value": {"choices": [label]}}]


def label_studio() -> list[Any]:
    return [
        {
            "id": row,
            "data": {},
            "annotations": [
                {"result": _choices(v), "was_cancelled": s == "discarded"} for v, s in given if s != "draft"
            ],
            "drafts": [{"result": _choices(v)} for v, s in given if s == "draft"],
            "predictions": [{"result": _choices(_reported(row))}],
        }
        for row, given in enumerate(RECORDS)
    ]


def prodigy() -> list[Any]:
    answers = {"submitted": "accept", "discarded": "ignore", "draft": "reject"}
    rows = [
        {"_task_hash": row, "id": row, "pred": _reported(row), "accept": [v], "answer": answers[s]}
        for row, given in enumerate(RECORDS)
        for v, s in given
    ]
    return [*rows, {"_task_hash": 45, "id": 45, "pred": _reported(45), "accept": [], "answer": "ignore"}]


TOOLS: Mapping[str, Callable[[], list[Any]]] = {
    "argilla 2": argilla_2,
    "argilla 1": argilla_1,
    "argilla columns": argilla_columns,
    "argilla 1 columns": argilla_1_columns,
    "label studio": label_studio,
    "prodigy": prodigy,
}


def write(folder: Path, rows: list[Any], name: str) -> Path:
    path = folder / name
    lines = "\n".join(map(json.dumps, rows)) if name.endswith("l") else json.dumps(rows)
    path.write_text(lines)
    return path


@pytest.mark.parametrize("name", ["export.json", "export.jsonl"])
@pytest.mark.parametrize("tool", TOOLS)
def test_submitted_annotations_alone_are_the_truth(tool: str, name: str, tmp_path: Path) -> None:
    found = find_in_files(write(tmp_path, TOOLS[tool](), name))
    assert found.y_true.tolist() == TRUTH
    assert found.y_pred is not None
    assert found.y_pred.tolist() == [_reported(row) for row in KEPT]
    assert found.files[0].notes[-2:] == NOTES[1:]
    assert NOTES[0] in found.files[0].notes[0]


def test_what_is_skipped_is_in_the_warnings_and_the_provenance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, argilla_2(), "export.json")
    ran = run(capsys, "report", str(path), "--json")
    assert ran.code == 0, ran.out
    said = ran.json["runs"][0]["provenance"]["notes"]
    for note in (f"5 {NOTES[0]} (3 discarded, 2 draft)", *NOTES[1:]):
        assert note in said
        assert note in str(ran.json["warnings"])


def test_a_record_that_was_discarded_as_a_whole_does_not_count(tmp_path: Path) -> None:
    rows = argilla_2()
    rows[0]["status"] = "discarded"
    found = find_in_files(write(tmp_path, rows, "export.json"))
    assert found.y_true.tolist() == TRUTH[1:]


def test_ground_truth_wins_over_other_annotations(tmp_path: Path) -> None:
    rows = label_studio()
    rows[47]["annotations"][1]["ground_truth"] = True
    found = find_in_files(write(tmp_path, rows, "export.json"))
    assert found.y_true.tolist() == [*TRUTH, "spam"]


def test_annotations_that_were_all_discarded_are_refused(tmp_path: Path) -> None:
    rows = argilla_2()
    for row in rows:
        for one in row["responses"]["kind"]:
            one["status"] = "discarded"
    with pytest.raises(DataError, match="no record has a submitted annotation") as caught:
        find_in_files(write(tmp_path, rows, "export.json"))
    assert "53 annotations are not used" in caught.value.where


def test_several_labels_agree_whatever_their_order(tmp_path: Path) -> None:
    rows = argilla_2()
    for row in rows:
        row["responses"]["kind"] = [
            {"value": order, "status": "submitted"} for order in (["ham", "eggs"], ["eggs", "ham"])
        ]
        row["suggestions"]["kind"]["value"] = ["ham"]
    found = find_in_files(write(tmp_path, rows, "export.json"))
    assert found.space.task == "multilabel"
    assert found.files[0].notes == ()


def test_accepted_and_rejected_suggestions_are_a_grade(tmp_path: Path) -> None:
    rows = [{"text": "x", "label": "ham", "_task_hash": k, "answer": "accept"} for k in range(9)]
    with pytest.raises(GradedError, match="accept or reject, column 'answer'"):
        find_in_files(write(tmp_path, rows, "export.jsonl"))


@pytest.mark.parametrize("tool", TOOLS)
def test_a_stream_names_the_engine_that_reads_the_tools_file(
    tool: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, TOOLS[tool](), "export.jsonl")
    ran = run(capsys, "report", str(path), "--json", "--set", "engine=stream")
    assert ran.code == 2, ran.out
    assert ran.json["error"]["fix"] == "pass --set engine=memory"
    done = run(capsys, "report", str(path), "--json", "--set", "engine=memory")
    assert done.code == 0, done.out
    assert done.json["runs"][0]["n"] == len(TRUTH)


def _rows(folder: Path, states: Sequence[str]) -> Path:
    lines = [f"{k},{'ab'[k % 2]},{'ab'[k // 2 % 2]},{states[k % len(states)]}" for k in range(60)]
    path = folder / "rows.csv"
    path.write_text("\n".join(["id,label,prediction,status", *lines]) + "\n")
    return path


def test_a_column_of_states_keeps_the_submitted_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _rows(tmp_path, ["submitted", "discarded", "draft"])
    found = find_in_files(path)
    assert len(found.y_true) == 20
    assert "discarded 20, draft 20, submitted 20" in found.notes[0]
    streamed = run(capsys, "report", str(path), "--json", "--set", "engine=stream")
    assert streamed.code == 2
    assert streamed.json["error"]["fix"] == "pass --set engine=memory"
    chosen = run(capsys, "report", str(path), "--json", "--where", "status=draft")
    assert chosen.json["runs"][0]["n"] == 20


def test_two_states_of_submitted_rows_are_not_chosen_among(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="none is submitted") as caught:
        find_in_files(_rows(tmp_path, ["submitted", "completed", "draft"]))
    assert caught.value.fix.endswith('--where "status=completed"')


@pytest.mark.parametrize(
    "states", [["submitted"], ["ok", "draft"], ["FINISHED", "FAILED"], ["completed", "pending"]]
)
def test_other_states_leave_out_no_row(states: list[str], tmp_path: Path) -> None:
    assert len(find_in_files(_rows(tmp_path, states)).y_true) == 60
