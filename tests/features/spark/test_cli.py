"""Tables of Spark on the command line: read where they are, found by runs, refused in three lines."""

from __future__ import annotations

import json
import os
import re
import runpy
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import mlflow.data
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import evalreport as er
from evalreport.features.spark.session import defer_interrupts
from evalreport.features.spark.tables import SparkSource, logged_table, tagged_table
from evalreport.tracking.client import Store, quiet
from evalreport.tracking.runs import DatasetSource, RunInfo
from tests.cli.running import run
from tests.features.large.test_stream_classes import scored
from tests.features.spark.test_spark import assert_close
from tests.tracking import fluent

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # sockets of py4j


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test that fails leaves lies in its own folder."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    rng = np.random.default_rng(7)
    score = rng.random(300)
    path = tmp_path / "scores.parquet"
    pq.write_table(pa.table({"y_true": (rng.random(300) < score).astype(int), "score": score}), path)
    return path


def result(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((path / "evalreport" / "evaluation.json").read_text())
    return found


def test_report_check_and_sweep_of_a_table_are_those_of_the_file(
    spark: Any, scores: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spark.read.parquet(str(scores)).createOrReplaceTempView("risk_scores")
    done = run(capsys, "report", "--set", "table=risk_scores", "--json", "-o", str(tmp_path / "page.html"))
    plain = run(capsys, "report", str(scores), "--json", "-o", str(tmp_path / "other.html"))
    assert done.code == 0, done.err
    assert "distinct scores stayed in Spark" in (tmp_path / "page.html").read_text()
    facts = str(tmp_path / "all.stats")
    assert run(capsys, "report", "--set", "table=risk_scores", "--save-statistics", facts).code == 0
    added = run(capsys, "report", facts, "--json", "-o", str(tmp_path / "added.html"))
    (one,), (other,), (third,) = (reported.json["runs"] for reported in (done, plain, added))
    assert one["metrics"] == other["metrics"] == third["metrics"]
    checked = run(capsys, "check", str(scores), "--set", "engine=spark", "--require", "roc_auc >= 0.99")
    assert checked.code == 1 and "roc_auc" in checked.out
    swept = [
        run(capsys, "sweep", "thresholds", *where, "--objective", "recall>=0.9", "--json").json["sweep"]
        for where in (("--set", "table=risk_scores"), (str(scores),))
    ]
    assert swept[0] == swept[1]


def test_a_run_whose_predictions_are_a_table(
    spark: Any, scores: Path, sqlite_store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    """By an option, by a tag, and by the dataset that was logged."""
    with fluent(sqlite_store), quiet():
        with warnings.catch_warnings(action="ignore"):
            dataset = mlflow.data.from_spark(spark.read.parquet(str(scores)), path=str(scores))
            with mlflow.start_run() as logged:
                mlflow.log_input(dataset, "test")
        with mlflow.start_run(tags={"evalreport.table": str(scores)}) as tagged:
            pass
        with mlflow.start_run() as empty:
            pass
    uri = ("--tracking-uri", sqlite_store.uri, "--metrics", "roc_auc", "--set", "confidence=none")
    reported = {}
    for one in (logged, tagged):
        done = run(capsys, "log", "--run-id", one.info.run_id, *uri)
        assert done.code == 0, done.err
        assert f"source=table {scores}" in done.out + done.err
        reported[one.info.run_id] = sqlite_store.client.get_run(one.info.run_id).data.metrics
    named = run(capsys, "log", "--run-id", empty.info.run_id, "--set", f"table={scores!s}", *uri)
    assert named.code == 0, named.err
    reported[empty.info.run_id] = sqlite_store.client.get_run(empty.info.run_id).data.metrics
    first, *others = reported.values()
    assert "eval/roc_auc" in first and all(other == first for other in others)


def test_paths_of_this_machine_and_sql_are_not_taken_from_a_server() -> None:
    def logged(kind: str, source: str) -> RunInfo:
        return RunInfo(
            "3f9c1e0a7b", "", "0", "", "FINISHED", datasets=(DatasetSource("d", "a", kind, source),)
        )

    path = logged("spark", '{"path": "/etc/secrets.parquet"}')
    assert logged_table(path, remote=False) == SparkSource("/etc/secrets.parquet")
    assert logged_table(path, remote=True) is None
    assert logged_table(logged("delta_table", '{"path": "s3://b/t"}'), remote=True) == SparkSource("s3://b/t")
    assert logged_table(logged("spark", '{"sql": "select 1"}'), remote=False) is None
    assert logged_table(logged("spark", "[]"), remote=False) is None
    tagged = RunInfo("3f9c1e0a7b", "", "0", "", "FINISHED", tags={"evalreport.table": "file:///etc/x"})
    assert tagged_table(tagged, remote=True) is None


REFUSED: dict[str, tuple[tuple[str, ...], int, str]] = {
    "no such table": (("--set", "table=no.such.thing"), 3, "Spark does not find the table no.such.thing"),
    "no name of a table": (("--set", "table=a b"), 3, "Spark does not find the table a b"),
    "nothing": (("--set", "table="), 2, "the setting table is empty"),
    "text in a folder": (("--set", "table=TEXTS"), 5, "there are no Parquet files"),
    "an empty folder": (("--set", "table=EMPTY"), 5, "there are no Parquet files"),
    "a sum that cannot be": (("--set", "table=by_zero"), 5, "Spark failed: [DIVIDE_BY_ZERO]"),
    "no such file system": (("--set", "table=s3://b/t"), 5, "Spark failed: No FileSystem"),
    "no such path": (("--set", "table=/no/such/thing"), 3, "Spark does not find the table /no/such/thing"),
    "no such column": (("--set", "table=PATH", "--score", "p"), 3, 'column "p" is not in scores.parquet'),
    "no such column of rows": (
        ("--set", "table=PATH", "--where", "p=1"),
        3,
        'column "p" is not in scores.parquet',
    ),
    "another engine": (("--set", "table=PATH", "--set", "engine=memory"), 2, "a table is read by Spark"),
    "a file beside it": (("PATH", "--set", "table=PATH"), 2, "--set table and other predictions are given"),
    "another session": (
        ("--set", "table=PATH", "--set", "spark_master=local[1]"),
        2,
        "a Spark session is already running",
    ),
    "all rows at once": (("--set", "table=PATH", "--set", "group=score"), 2, "--set engine=memory"),
    "another format": (("a.csv", "--set", "engine=spark"), 2, "Spark reads tables, Parquet and Delta"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str, spark: Any, scores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, code, reported = REFUSED[case]
    places = {"PATH": scores, "TEXTS": scores.parent / "texts", "EMPTY": scores.parent / "empty"}
    for name in ("TEXTS", "EMPTY"):
        places[name].mkdir()
    (places["TEXTS"] / "a").write_text("y_true,score")
    spark.sql("select id as y_true, 1 / id as score from range(2)").createOrReplaceTempView("by_zero")
    words = [re.sub("PATH|TEXTS|EMPTY", lambda name: str(places[name[0]]), word) for word in arguments]
    done = run(capsys, "report", *words)
    assert (done.code, done.out) == (code, "")
    assert reported in done.err and len(done.err.strip().splitlines()) <= 3


def test_without_java_or_pyspark_it_is_said_what_to_install(
    scores: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyspark")
    monkeypatch.setattr("evalreport.features.spark.session.active_session", lambda: None)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    done = run(capsys, "report", "--set", f"table={scores!s}")
    assert done.code == 2 and "openjdk-17-jre-headless" in done.err
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    done = run(capsys, "report", "--set", f"table={scores!s}")
    assert done.code == 2 and "pip install 'evalreport[spark]'" in done.err


def sent_to_the_driver(spark: Any) -> int:
    """Bytes of all results that came from tasks so far, as Spark's own record of its stages has them."""
    context = spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    quantiles = spark._sc._gateway.new_array(spark._jvm.double, 0)
    stages = context.statusStore().stageList(None, False, False, quantiles, None)
    return sum(stages.apply(place).resultSize() for place in range(stages.size()))


def test_the_runs_of_an_experiment_are_logged_in_one_session(
    spark: Any,
    sqlite_store: Store,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is begun for the first table and ended after the last; the session of the tests stands for it."""
    begun, ended = list[str | None](), list[Any]()

    def begin(master: str | None) -> Any:
        begun.append(master)
        return spark

    module = "evalreport.features.spark.session"
    monkeypatch.setattr(f"{module}.active_session", lambda: spark if begun and not ended else None)
    monkeypatch.setattr(f"{module}._start_session", begin)
    monkeypatch.setattr(f"{module}._end", ended.append)
    rng = np.random.default_rng(7)
    score = rng.random(100_000)  # with their counts 1 MB, if they came
    tables = [pa.table({"y_true": (score > 0.6).astype(int), "score": score})]
    chances = rng.dirichlet(np.ones(3), 60_000)  # 1 MB, if each row's own and highest score came
    columns = {f"proba_{label}": chances[:, code] for code, label in enumerate("abc")}
    tables.append(pa.table({"y_true": np.array([*"abc"])[chances.argmax(axis=1)], **columns}))
    with fluent(sqlite_store):
        for number, table in enumerate(tables):
            path = tmp_path / f"{number}.parquet"
            pq.write_table(table, path)
            with mlflow.start_run(tags={"evalreport.table": str(path)}):
                pass
    before = sent_to_the_driver(spark)
    words = ("log", "--experiment", "Default", "--set", "spark_master=local[1]", "--metrics", "log_loss")
    done = run(capsys, *words, "--tracking-uri", sqlite_store.uri)
    assert done.code == 0, done.err
    assert (begun, ended) == (["local[1]"], [spark])
    logged = sqlite_store.client.search_runs(["0"])
    assert ["eval/log_loss" in run.data.metrics for run in logged] == [True, True]
    assert 1000 < sent_to_the_driver(spark) - before < 700_000


def test_java_is_quiet(spark: Any) -> None:
    """What Spark says goes nowhere: neither its log nor its bar of progress is in the way of our words."""
    java = spark._jvm.java.lang.ProcessHandle.current().pid()
    stderr = Path(f"/proc/{java}/fd/2")
    if not stderr.parent.is_dir():
        pytest.skip("needs Linux")
    assert stderr.readlink() == Path(os.devnull)
    assert spark.conf.get("spark.ui.showConsoleProgress") == "false"


def test_a_client_of_spark_connect_has_the_same_numbers(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has no context, no RDDs and no accumulators; its server is the session of the tests."""
    pytest.importorskip("grpc")
    path, asked = (
        tmp_path / "scores.parquet",
        ("--scores", "proba_*", "--pred", "gapped", "--set", "missing=wrong"),
    )
    pq.write_table(scored(), path)
    context = spark.sparkContext._jsc.sc()
    context.conf().set("spark.connect.grpc.binding.port", "0")
    of_scala = spark._jvm.org.apache.spark.sql.connect.service
    service = getattr(getattr(of_scala, "SparkConnectService$"), "MODULE$")
    service.start(context)
    try:
        server = f"sc://localhost:{service.localPort()}"
        words = ("report", "--set", f"table={path!s}", "--set", f"spark_master={server}", *asked, "--json")
        done = subprocess.run(
            [sys.executable, "-m", "evalreport", *words, "-o", str(tmp_path / "page.html")],
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
    finally:
        service.stop(*[spark._jvm.scala.Option.empty()] * 2)
    assert done.returncode == 0, done.stderr
    plain = run(capsys, "report", str(path), *asked, "--json", "-o", str(tmp_path / "other.html"))
    (found,), (expected,) = (reported["runs"] for reported in (json.loads(done.stdout), plain.json))
    assert_close(found["metrics"], expected["metrics"])
    assert "stayed in Spark" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("named", ["{}", "file://{}", "delta.`{}`"])
def test_a_delta_table_without_delta_is_distinguished_from_one_that_is_not_there(
    named: str, spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Wherever it is: as Parquet, rows that were removed from it would count."""
    (tmp_path / "_delta_log").mkdir()
    pq.write_table(pa.table({"y_true": [0, 1], "score": [0.2, 0.7]}), tmp_path / "part-0.parquet")
    done = run(capsys, "report", "--set", f"table={named.format(tmp_path)}")
    assert done.code == 2
    assert "this Spark session does not support Delta" in done.err and "delta-spark" in done.err


def test_the_example(
    spark: Any, sqlite_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Path(__file__).parents[3] / "examples" / "spark_report.py"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", sqlite_store.uri)
    with fluent(sqlite_store):
        ev = runpy.run_path(str(place))["main"]()
    path = place.parent / "data" / "ai4i_failure" / "oof_scores.parquet"
    expected = er.evaluate_file(
        path, truth="y_true", score="score_rf", slices="product_type", threshold="cost:10"
    )
    assert (tmp_path / "spark_report.html").is_file()
    assert json.loads(ev.to_json())["metrics"] == json.loads(expected.to_json())["metrics"]


def test_an_interrupt_waits_until_java_has_started() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts us may ignore it
    started = []
    try:
        with pytest.raises(KeyboardInterrupt), defer_interrupts():
            signal.raise_signal(signal.SIGINT)
            started.append(True)
        assert started
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
