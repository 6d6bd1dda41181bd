"""Every layout is read for what it is: the same labels and scores, and what was assumed is said."""

from __future__ import annotations

import io
import re
import shlex
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import evalreport as er
from evalreport.columns.find_columns import find_in_files, to_predictions
from evalreport.core.errors import DataError
from evalreport.data.labels import Binary, Multilabel
from evalreport.data.predictions import Predictions
from evalreport.data.scores import NoScores, Probabilities
from evalreport.tracking.client import Store
from evalreport.tracking.find_predictions import RunRequest, read_run
from evalreport.tracking.runs import find_run
from evalreport.workflow.collect import collect_run
from evalreport.workflow.request import Request
from tests.cli.running import run
from tests.layouts.layouts import (
    CG,
    CITIES,
    CK,
    LAYOUTS,
    TEST,
    G,
    H,
    K,
    P,
    Q,
    Y,
    csv,
    document,
    lines,
    softmax,
)
from tests.tracking import make_run


def labels(rows: Predictions, codes: Any) -> list[str]:
    return [rows.space.names[code] for code in codes.tolist()]


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_is_read(name: str, tmp_path: Path) -> None:
    layout = LAYOUTS[name]
    found = find_in_files(layout.write(tmp_path), layout.request)
    rows = to_predictions(found)
    assert labels(rows, rows.y_true) == layout.truth.astype(str).tolist()
    if layout.answers is not None:
        assert rows.y_pred is not None
        assert labels(rows, rows.y_pred) == layout.answers.astype(str).tolist()
    if layout.scores is None:
        assert isinstance(rows.scores, NoScores)
    else:
        assert isinstance(rows.scores, Probabilities)
        expected = layout.scores
        if found.score_kind == "logit":
            expected = softmax(expected.astype(float))
        if isinstance(rows.space, Binary) and expected.ndim == 2:
            expected = expected[:, 1]
        np.testing.assert_allclose(rows.scores.values, expected, atol=1e-6)
    for words in layout.said:
        assert words in "; ".join((*found.notes, *(f"{part} {value}" for part, value in found.taken)))


def fixed(capsys: pytest.CaptureFixture[str], path: Path, code: int) -> dict[str, Any]:
    """Refused with this exit code; what the remedy proposes first is run, and works."""
    command = ["report", str(path), "--json", "--set", "resamples=100", "-o", str(path.parent / "page.html")]
    refused = run(capsys, *command)
    assert refused.code == code, refused.out
    fix = refused.json["error"]["fix"]
    proposed = re.search(r"--set no_scores|--[a-z-]+ (\"[^\"]+\"|'[^']+'|[\w\[\]=*.-]+)", fix)
    assert proposed is not None, fix
    done = run(capsys, *command, *shlex.split(proposed.group()))
    assert done.code == 0, done.out
    return dict(done.json["runs"][0])


def metric(body: dict[str, Any], name: str) -> Any:
    return body["metrics"][name]["value"]


def test_a_missing_prediction_counts_as_wrong_where_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reported = [None if row in (3, 8) else str(h) for row, h in enumerate(H)]
    body = fixed(capsys, csv(y_true=Y.astype(str), y_pred=reported)(tmp_path), 5)
    right = H == Y
    right[[3, 8]] = False
    assert metric(body, "accuracy") == pytest.approx(right.mean())
    assert body["n"] == len(Y)


def test_margins_alone_name_their_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = fixed(capsys, csv(label=Y, score=np.log(P / (1 - P)))(tmp_path), 5)
    assert metric(body, "accuracy") == pytest.approx((H == Y).mean())


def test_parts_without_a_test_part_are_never_pooled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    split = np.where(TEST, "train", "val")
    body = fixed(capsys, csv(split=split, y_true=Y, y_pred=H)(tmp_path), 5)
    assert body["n"] == (~TEST).sum()


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([[0.9, 0.1], [0.2]], "column 'probs' has a cell that is not a list of scores like the others"),
        ([[0.9, 0.1], [0.8, 0.2]], "no score column belongs to a label that occurs"),
    ],
)
def test_scores_of_no_use_do_not_block_labels_and_are_reported(
    tmp_path: Path, cells: list[list[float]], words: str
) -> None:
    rows = [{"y_true": k, "y_pred": k, "probs": cell} for k, cell in zip("ab", cells, strict=True)]
    found = find_in_files(lines(rows)(tmp_path))
    assert found.scores is None
    assert any(words in note for note in found.notes)


def test_two_sets_of_scores_are_not_chosen_among(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    columns = {f"{head}_{i}": Q[:, i] for head in ("proba", "prob") for i in range(3)}
    body = fixed(capsys, csv(label=K, **columns)(tmp_path), 2)
    assert metric(body, "accuracy") == pytest.approx((G == K).mean())


def test_two_truths_are_not_chosen_among(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = fixed(capsys, csv(gold_class=Y, actual_class=1 - Y, predicted=H)(tmp_path), 2)
    assert metric(body, "accuracy") == pytest.approx((H == Y).mean())


WORD = [str(city) for city in CITIES]
ROWS = list(enumerate(zip(K.tolist(), G.tolist(), strict=True)))


def sample(i: int, target: str, answers: list[Any]) -> dict[str, Any]:
    return {"doc_id": i, "doc": {}, "target": target, "resps": [], "filtered_resps": answers}


def asserted(i: int, k: int, g: int) -> dict[str, Any]:
    test = {"assert": [{"type": "equals", "value": WORD[k]}]}
    about = {"vars": {"mail": "x"}, "testIdx": i, "provider": {"id": "p"}}
    return {**about, "testCase": test, "response": {"output": WORD[g]}}


def logged(i: int, k: int, g: int) -> dict[str, Any]:
    reported = {"choices": [{"message": {"content": WORD[g]}}]}
    return {"id": i, "epoch": 1, "target": [WORD[k]], "output": reported}


def responded(i: int, k: int, g: int) -> dict[str, Any]:
    suggestion = {"city": {"value": WORD[g], "score": None}}
    return {"id": i, "fields": {}, "responses": {"city": [{"value": WORD[k]}]}, "suggestions": suggestion}


def chosen(label: str) -> list[dict[str, Any]]:
    return [{"result": [{"type": "choices", "from_name": "c", "value": {"choices": [label]}}]}]


def annotated(i: int, k: int, g: int) -> dict[str, Any]:
    cancelled = {"was_cancelled": True, "result": []}
    made = [cancelled, *chosen(WORD[k])]
    return {"id": i, "data": {}, "annotations": made, "predictions": chosen(WORD[g])}


CHOICES = [sample(i, str(k), [[str(x), "False"] for x in np.log(Q[i])]) for i, (k, _) in ROWS]
TEXTS = [sample(i, WORD[k], [WORD[g]]) for i, (k, g) in ROWS]
INSPECT = {"version": 2, "eval": {}, "samples": [logged(i, k, g) for i, (k, g) in ROWS]}
ASSERTED = {"results": {"results": [asserted(i, k, g) for i, (k, g) in ROWS]}}
ARGILLA = [responded(i, k, g) for i, (k, g) in ROWS]
STUDIO = [annotated(i, k, g) for i, (k, g) in ROWS]
TOOLS = {
    "lm-eval, choices": (lines(CHOICES), "lm-eval"),
    "lm-eval, texts": (lines(TEXTS), "lm-eval"),
    "inspect": (document(INSPECT), "inspect"),
    "promptfoo": (document(ASSERTED), "promptfoo"),
    "argilla": (document(ARGILLA), "argilla"),
    "label-studio": (document(STUDIO), "label-studio"),
}


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("tool", TOOLS)
def test_what_tools_write_is_found_by_its_content(tool: str, named: bool, tmp_path: Path) -> None:
    write, name = TOOLS[tool]
    found = find_in_files(write(tmp_path), format=name if named else None)
    reported = found.y_pred if found.text is None else found.text
    assert reported is not None
    names = [str(k) for k in range(3)] if tool == "lm-eval, choices" else WORD
    assert found.y_true.tolist() == [names[k] for k in K]
    assert reported.tolist() == [names[g] for g in G]


def test_a_batch_is_joined_by_its_own_id(tmp_path: Path) -> None:
    def body(g: int) -> dict[str, Any]:
        if g == 2:  # the interface of responses
            return {"output": [{"content": [{"type": "output_text", "text": WORD[g]}]}]}
        return {"choices": [{"message": {"content": WORD[g]}}]}

    batch = lines([{"custom_id": f"r{i}", "response": {"body": body(g)}} for i, g in enumerate(G)])(tmp_path)
    truth = tmp_path / "truth.csv"
    order = np.random.default_rng(0).permutation(len(K))
    pd.DataFrame({"custom_id": [f"r{i}" for i in order], "label": CITIES[K[order]]}).to_csv(
        truth, index=False
    )
    found = find_in_files(batch, truth=truth)
    assert found.y_true.tolist() == CITIES[K].tolist()
    assert found.text is not None and found.text.tolist() == CITIES[G].tolist()


def test_zstd_is_read_like_gzip(tmp_path: Path) -> None:
    text = csv(y_true=Y, y_proba=P)(tmp_path).read_bytes()
    path = tmp_path / "scores.csv.zst"
    with pa.CompressedOutputStream(str(path), "zstd") as stream:
        stream.write(text)
    assert find_in_files(path).y_true.tolist() == Y.tolist()


def npy(values: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, values)
    return stream.getvalue()


def collected(store: Store, folder: Path, files: dict[str, str | bytes]) -> Any:
    made = make_run(store, files, folder=folder)
    return collect_run(store, find_run(store, made.run_id), Request())


def test_truth_and_answers_in_arrays_of_their_own(sqlite_store: Store, tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"y_test.npy": npy(K), "y_pred.npy": npy(G), "y_proba.npy": npy(Q)}
    rows = collected(sqlite_store, tmp_path, files)
    assert rows.predictions.y_true.tolist() == K.tolist()
    assert rows.predictions.y_pred.tolist() == G.tolist()
    np.testing.assert_allclose(rows.predictions.scores.values, Q)
    assert "truth from y_test.npy" in rows.taken[0][1]


def test_the_test_file_of_several_parts(sqlite_store: Store, tmp_path: Path) -> None:
    parts = {"test": TEST, "train": ~TEST}
    files: dict[str, str | bytes] = {
        f"{part}/predictions.csv": pd.DataFrame({"y_true": Y[rows], "y_pred": H[rows]}).to_csv(index=False)
        for part, rows in parts.items()
    }
    made = make_run(sqlite_store, files, folder=tmp_path)
    found = read_run(sqlite_store, find_run(sqlite_store, made.run_id))
    assert found.table.n == TEST.sum()
    (note,) = found.notes
    option = re.search(r"--artifact (\S+)", note)
    assert option is not None
    other = read_run(sqlite_store, find_run(sqlite_store, made.run_id), RunRequest(artifact=option.group(1)))
    assert other.table.n == (~TEST).sum()


NAMES = np.array(["oslo", "paris", "rome", "bern", "lima", "riga"])


def listed(shape: str, count: int) -> tuple[list[dict[str, Any]], float]:
    """Rows with the best labels and their falling scores as tools nest them, and the accuracy of the best."""
    rng = np.random.default_rng(count)
    rows, right = [], 0
    for i in range(120):
        known = str(rng.choice(NAMES))
        first = known if rng.random() < 0.8 else str(rng.choice(NAMES))
        best = [first, *(str(name) for name in rng.permutation(NAMES) if name != first)][:count]
        scores = np.sort(rng.dirichlet(np.ones(6)))[::-1].round(6).tolist()[:count]
        right += first == known
        pairs = [{"label": name, "score": score} for name, score in zip(best, scores, strict=True)]
        ids = [str(NAMES.tolist().index(name)) for name in best]
        shapes: dict[str, dict[str, Any]] = {
            "pairs": {"prediction": pairs},
            "mapping": {"probs": dict(zip(best, scores, strict=True))},
            "two lists": {"labels": best, "scores": scores},
            "two lists as text": {"labels": str(best), "scores": str(scores)},
            "a cloud": {"prediction": {"ids": ids, "displayNames": best, "confidences": scores}},
        }
        rows.append({"text": f"t{i}", "label": known} | shapes[shape])
    return rows, right / 120


@pytest.mark.parametrize(
    ("shape", "count"),
    [("pairs", 1), *product(["pairs", "mapping", "two lists", "two lists as text", "a cloud"], [3, 6])],
)
def test_lists_of_the_best_labels_are_predictions_or_scores(shape: str, count: int, tmp_path: Path) -> None:
    """All labels in each row are scores; the best few alone give the prediction, never scores of 0."""
    rows, accuracy = listed(shape, count)
    found = to_predictions(find_in_files(lines(rows)(tmp_path), RunRequest().columns))
    known = np.array(labels(found, found.y_true))
    assert set(known) == set(NAMES)
    if count == 6:
        assert isinstance(found.scores, Probabilities)
        best = found.scores.values.argmax(axis=1)
    else:
        assert isinstance(found.scores, NoScores) and found.y_pred is not None
        best = found.y_pred
    assert (np.array(labels(found, best)) == known).mean() == accuracy


def test_the_list_of_records_in_a_document_is_its_table(tmp_path: Path) -> None:
    rows = [
        {"gold": {"label": a}, "output": {"label": b}} for a, b in zip(CK.tolist(), CG.tolist(), strict=True)
    ]
    path = document({"model": "m", "size": 3, "predictions": rows})(tmp_path)
    found = to_predictions(find_in_files(path, RunRequest().columns))
    assert found.y_pred is not None and (found.y_pred == found.y_true).mean() == (G == K).mean()


def test_scores_by_place_are_never_labels_of_their_own(tmp_path: Path) -> None:
    """Lists of labels as the truth beside lists of scores whose places are no label that occurs."""
    rng = np.random.default_rng(0)
    rows = [
        {"labels": sorted(rng.choice(NAMES, 2, replace=False).tolist()), "scores": rng.random(3).tolist()}
        for _ in range(60)
    ]
    with pytest.raises(DataError, match="no score column belongs to a label that occurs"):
        to_predictions(find_in_files(lines(rows)(tmp_path), RunRequest().columns))


@pytest.mark.parametrize(
    ("known", "given", "scored"),
    [
        ("{}", "{}_pred", False),
        ("{}", "{}_pred", True),
        ("{}", "{}_score", True),
        ("{}", "pred_{}", True),
        ("true_{}", "pred_{}", True),
        ("label_{}", "prediction_{}", True),
    ],
)
def test_a_column_per_label_beside_its_prediction(
    known: str, given: str, scored: bool, tmp_path: Path
) -> None:
    """Labels in a column each: predictions of 0 and 1 are predictions, values between them are scores."""
    rng, names = np.random.default_rng(0), ["toxic", "severe_toxic", "obscene"]
    true = rng.integers(2, size=(80, 3))
    scores = np.round(1 / (1 + np.exp(1 - 2 * true - rng.normal(size=(80, 3)))), 3)
    columns: dict[str, Any] = {known.format(name): true[:, place] for place, name in enumerate(names)}
    columns |= {
        given.format(name): scores[:, place] if scored else (scores[:, place] >= 0.5).astype(int)
        for place, name in enumerate(names)
    }
    rows = to_predictions(find_in_files(csv(id=range(80), **columns)(tmp_path), RunRequest().columns))
    places = [rows.space.texts.index(name) for name in names]
    assert isinstance(rows.space, Multilabel)
    np.testing.assert_array_equal(rows.y_true[:, places], true == 1)
    if scored:
        assert isinstance(rows.scores, Probabilities)
        np.testing.assert_allclose(rows.scores.values[:, places], scores)
    else:
        assert isinstance(rows.scores, NoScores) and rows.y_pred is not None
        np.testing.assert_array_equal(rows.y_pred[:, places], scores >= 0.5)


def test_quantities_are_not_classes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Ages that are nearly right are a regression; classes with as many numbers are read."""
    rng = np.random.default_rng(0)
    ages = rng.integers(18, 90, 400)
    path = csv(y_true=ages, y_pred=ages + rng.integers(-4, 5, 400))(tmp_path)
    refused = run(capsys, "report", str(path))
    what, where, fix = refused.err.splitlines()
    assert refused.code == 5 and "looks like a quantity" in what and "correlation 0.99" in where
    page = ["--set", "confidence=none", "-o", str(tmp_path / "page.html")]
    assert run(capsys, "report", str(path), "--set", "task=multiclass", *page).code == 0
    assert "classification" in fix
    with pytest.raises(DataError, match="looks like a quantity"):
        er.evaluate(ages, ages + rng.integers(-4, 5, 400))
    classes = csv(y_true=ages, y_pred=np.where(rng.random(400) < 0.1, ages, rng.integers(18, 90, 400)))
    assert to_predictions(find_in_files(classes(tmp_path), RunRequest().columns)).space.task == "multiclass"


@pytest.mark.parametrize("separator", [",", "|", ";"])
def test_several_labels_in_a_cell_are_no_class(
    separator: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Labels joined by a separator are refused as classes; with the separator, empty cells have no label."""
    rng = np.random.default_rng(0)
    sets = [[name for name in "abcd" if rng.random() < 0.4] for _ in range(90)]
    given = [[name for name in some if rng.random() < 0.8] for some in sets]
    columns = {"tags": [separator.join(some) for some in sets], "pred": [separator.join(s) for s in given]}
    path = csv(**columns)(tmp_path)
    what, where, fix = run(capsys, "report", str(path)).err.splitlines()
    assert what == "error: 'tags' contains several labels in one cell"
    asked = shlex.split(fix.partition("with ")[2].partition("; if")[0])
    asked += ["--set", "confidence=none", "-o", str(tmp_path / "page.html")]
    found = run(capsys, "report", str(path), *asked, "--json").json["runs"][0]
    right = np.mean([set(one) == set(other) for one, other in zip(sets, given, strict=True)])
    assert found["metrics"]["subset_accuracy"]["value"] == pytest.approx(right)
    assert "such as" in where
