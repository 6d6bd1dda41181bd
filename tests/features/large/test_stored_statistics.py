"""Facts as bytes: read back as they were, added up to the report of the whole, and refused when changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import evalreport as er
from evalreport.core.errors import DataError
from evalreport.core.json_codec import encode
from evalreport.data.labels import Multiclass
from evalreport.data.predictions import Predictions
from evalreport.evaluation.evaluate import Observed, evaluate_facts, evaluate_predictions
from evalreport.features.large import facts_file
from evalreport.features.large.facts_file import KEY, from_bytes, to_bytes
from evalreport.intervals.interval_settings import Sampling
from evalreport.statistics.summary import summarise
from tests import factories
from tests.cli.running import run
from tests.features.large.test_stream_classes import same

MAKERS = (
    factories.binary,
    factories.margins,
    factories.multiclass,
    factories.multilabel,
    factories.labels_alone,
)
FEW = Sampling(resamples=50)


@pytest.mark.parametrize("make", MAKERS)
def test_facts_come_back_and_make_the_same_numbers(make: Callable[[], Predictions]) -> None:
    p = make()
    data = to_bytes(summarise(p))
    found = from_bytes(data)
    assert to_bytes(found) == data
    expected = evaluate_predictions(p, FEW)
    again = evaluate_facts(Observed(found), FEW)
    assert again.metrics == expected.metrics
    assert again.curves == expected.curves


@pytest.mark.parametrize("make", MAKERS)
def test_changed_bytes_are_refused_or_say_the_same(make: Callable[[], Predictions]) -> None:
    data = to_bytes(summarise(make()))
    rng = np.random.default_rng(0)
    refused = 0
    for place in rng.integers(0, len(data), 150).tolist():
        changed = bytearray(data)
        changed[place] ^= 1 << int(rng.integers(8))
        try:
            assert to_bytes(from_bytes(bytes(changed))) == data  # a bit between the values
        except DataError:
            refused += 1
    assert refused > 50
    for junk in (b"", b"ARROW1", data[: len(data) // 2], data[:-4], b"\x80\x04}."):
        with pytest.raises(DataError, match="not a statistics file"):
            from_bytes(junk)


def sealed(data: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    """The same arrays with another head, sealed as evalreport would."""
    table = pa.ipc.open_file(data).read_all()
    head = json.loads(table.schema.metadata[KEY])
    change(head)
    reported = json.dumps(head).encode()
    arrays = {name: facts_file._array(table.column(name).chunk(0)) for name in table.column_names}
    table = table.replace_schema_metadata(
        {KEY: reported, facts_file.SEAL: facts_file._seal(reported, arrays)}
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    written: bytes = sink.getvalue().to_pybytes()
    return written


LIES: Mapping[str, dict[str, Any]] = {
    "has version 1": {"version": 1},
    "do not match their digest": {"labels": ["healthy", "ill"]},
    "does not add up to the weight": {"weight": 301.0},
    "rows or weight": {"rows": -1},
    "unknown kind of scores": {"score_kind": "guess"},
    "unknown origin": {"threshold": [0.5, "guess"]},
    "no row sums": {"parts": {}},
}


@pytest.mark.parametrize("message", LIES)
def test_what_does_not_fit_together_is_refused(message: str) -> None:
    data = to_bytes(summarise(factories.binary()))
    with pytest.raises(DataError, match=message):
        from_bytes(sealed(data, lambda head: head.update(LIES[message])))


def test_the_order_of_labels_is_theirs() -> None:
    p = factories.labels_alone()
    space = Multiclass(p.space.labels, ordered=True)
    found = from_bytes(to_bytes(summarise(replace(p, space=space)))).space
    assert isinstance(found, Multiclass) and found.ordered


@pytest.mark.parametrize("scored", [True, False])
def test_shards_of_labels_that_streamed_are_the_whole(
    scored: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(6)
    score = rng.random((700, 3)).round(2)
    truth, given = rng.random((700, 3)) < score, score + rng.normal(scale=0.2, size=(700, 3)) > 0.5
    flags = {"true": truth.astype(int), ("proba" if scored else "pred"): score if scored else given}
    rows = pa.table({f"{kind}_{k}": values[:, k] for kind, values in flags.items() for k in range(3)})
    pq.write_table(rows, tmp_path / "whole.parquet")
    ask = ("--truth", "true_*", "--set", "engine=stream", "--set", "resamples=100")
    made = []
    for number, start in enumerate((0, 300, 600)):
        path = tmp_path / f"part-{number}.parquet"
        pq.write_table(rows.slice(start, 300 if start < 600 else 100), path)
        made.append(str(path.with_suffix(".stats")))
        assert run(capsys, "report", str(path), *ask, "--save-statistics", made[-1]).code == 0
    assert run(capsys, "report", *made, "--set", "resamples=100", "--output", str(tmp_path / "out")).code == 0
    found = er.Evaluation.from_json((tmp_path / "out" / "evaluation.json").read_text())
    expected = er.evaluate_file(tmp_path / "whole.parquet", truth="true_*", resamples=100)
    for one, other in ((found.metrics, expected.metrics), (found.curves, expected.curves)):
        same(encode(one), encode(other), "")
    assert [one.support for one in found.classes] == [one.support for one in expected.classes]
    data = Path(made[0]).read_bytes()
    assert to_bytes(from_bytes(data)) == data
    assert "when the file is created" in run(capsys, "report", *made, "--threshold", "0.4").err
    if scored:
        held = run(
            capsys,
            "report",
            str(tmp_path / "part-1.parquet"),
            "--truth",
            "true_*",
            "--save-statistics",
            made[1],
        )
        assert held.code == 0
        assert "create the statistics of all shards with one engine" in run(capsys, "report", *made).err


def test_a_report_of_shards_is_that_of_the_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(1)
    score = rng.random(600).round(2)
    rows = pa.table({"y_true": (rng.random(600) < score).astype(int), "score": score})
    pq.write_table(rows, tmp_path / "whole.parquet")
    for number, engine in enumerate(("memory", "stream", "memory")):
        path = tmp_path / f"part-{number}.parquet"
        pq.write_table(rows.slice(200 * number, 200), path)
        made = str(path.with_suffix(".stats"))
        assert (
            run(capsys, "report", str(path), "--set", f"engine={engine}", "--save-statistics", made).code == 0
        )
    parts = [str(tmp_path / f"part-{number}.stats") for number in range(3)]
    asked = ("--threshold", "max-f1", "--set", "resamples=100", "--output")
    assert run(capsys, "report", *parts, *asked, str(tmp_path / "out")).code == 0
    found = er.Evaluation.from_json((tmp_path / "out" / "evaluation.json").read_text())
    expected = er.evaluate_file(tmp_path / "whole.parquet", threshold="max-f1", resamples=100)
    assert found.metrics == expected.metrics and found.confusion is not None
    assert found.threshold == expected.threshold and found.curves == expected.curves
    Path(parts[1]).write_bytes(b"nothing")
    done = run(capsys, "report", *parts, "--output", str(tmp_path / "out"))
    assert done.code == 5 and "part-1.stats" in done.err
    whole = str(tmp_path / "whole.parquet")
    assert run(capsys, "report", whole, "--save-statistics", whole).code == 2
    mixed = run(capsys, "report", parts[0], whole)
    assert mixed.code == 2 and "statistics files and prediction files cannot be combined" in mixed.err
    assert "--save-statistics x.stats`, then name only statistics files" in mixed.err


def test_facts_keep_the_threshold_whatever_counts_them_and_refuse_what_they_cannot(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = pa.table({"y_true": [0, 1] * 20, "score": np.linspace(0.05, 0.95, 40)})
    data, *made = (str(tmp_path / name) for name in ("p.parquet", "a.stats", "b.stats", "plain.stats"))
    pq.write_table(rows, data)
    for engine, file in zip(("memory", "stream"), made, strict=False):
        asked = ("--set", f"engine={engine}", "--threshold", "0.3", "--save-statistics", file)
        assert run(capsys, "report", data, *asked).code == 0
        assert run(capsys, "report", file, "--json").json["runs"][0]["threshold"] == 0.3
    assert run(capsys, "report", data, "--save-statistics", made[2]).code == 0
    reported = run(capsys, "report", *made).err
    assert "shards 1 and 3 differ in threshold: 0.3 (given) and 0.5 (default)" in reported
    for option, value in (
        ("--set", "weight=w"),
        ("--set", "group=g"),
        ("--set", "fold=f"),
        ("--where", "a=b"),
    ):
        named = f"{option} {value.partition('=')[0]}" if option == "--set" else option
        assert f"leave {named} out" in run(capsys, "report", made[0], option, value).err
    assert "statistics files have no rows to pair" in run(capsys, "compare", *made).err
    assert (
        "no page" in run(capsys, "report", data, "--save-statistics", made[0], "--output", str(tmp_path)).err
    )
