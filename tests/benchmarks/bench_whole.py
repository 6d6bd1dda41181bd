"""Whole evaluations against the named peers, CPU seconds: ``python -m tests.benchmarks.bench_whole``.

Bars: binary, a million rows, evaluation + page + logging at least 3 times faster than
`mlflow.models.evaluate` with labels alone; 77 classes and 50 labels, 100,000 rows, at least 10 times faster
than scikit-learn's metrics for the same table; 1,000 classes, 100,000 rows, within 2 GB; a file of 10,000
rows in a cold process, page included, within 2 s.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import evalreport as er

Array = npt.NDArray[Any]
BINARY, ROWS, COLD = 1_000_000, 100_000, 10_000


def binary_rows(n: int) -> tuple[Array, Array]:
    """Return truth and scores of a binary problem."""
    rng = np.random.default_rng(0)
    truth = (rng.random(n) < 0.2).astype(int)
    return truth, np.clip(rng.normal(0.3 + 0.3 * truth, 0.15), 0, 1)


def class_rows(n: int, size: int) -> tuple[Array, Array]:
    """Return truth and one probability per class."""
    rng = np.random.default_rng(0)
    truth = rng.integers(size, size=n)
    scores = rng.random((n, size), dtype=np.float32)
    scores[np.arange(n), truth] += rng.random(n, dtype=np.float32) * size / 8
    scores /= scores.sum(axis=1, keepdims=True)
    return truth, scores


def label_rows(n: int, size: int) -> tuple[Array, Array]:
    """Return indicators and one probability per label."""
    rng = np.random.default_rng(0)
    truth = rng.random((n, size)) < 0.04
    return truth, np.clip(rng.normal(0.2 + 0.4 * truth, 0.15), 0, 1)


def cpu(work: Callable[[], Any]) -> float:
    """Return the CPU seconds of some work, threads and all."""
    start = time.process_time()
    work()
    return time.process_time() - start


def told(name: str, own: float, other: float | None = None, bar: float | None = None) -> float:
    """Print a time, its ratio to the peer's, and the bar."""
    ratio = float("nan") if other is None else other / own
    rest = "" if other is None else f"  peer {other:7.2f} s  {ratio:6.1f} ×"
    print(f"{name:<52} {own:7.2f} s{rest}{'' if bar is None else f'  (bar {bar:g} ×)'}", flush=True)
    return ratio


def binary(n: int = BINARY) -> float:
    """Evaluate, write the page and log into a run, against `mlflow.models.evaluate` on labels."""
    import mlflow
    import pandas as pd

    truth, scores = binary_rows(n)
    with tempfile.TemporaryDirectory() as folder:
        uri = f"sqlite:///{Path(folder) / 'mlflow.db'}"
        mlflow.set_tracking_uri(uri)
        mlflow.create_experiment("bench", artifact_location=(Path(folder) / "artifacts").as_uri())
        mlflow.set_experiment("bench")
        frame = pd.DataFrame({"y": truth, "p": (scores >= 0.5).astype(int)})

        def theirs() -> None:
            with mlflow.start_run():
                mlflow.models.evaluate(
                    data=frame, targets="y", predictions="p", model_type="classifier",
                    evaluator_config={"log_model_explainability": False},
                )  # fmt: skip

        def ours() -> None:
            with mlflow.start_run() as run:
                pass
            space = er.Binary(negative=0, positive=1)
            er.log(
                er.evaluate(truth, scores=er.Probabilities(scores), labels=space),
                run.info.run_id,
                tracking_uri=uri,
            )

        for warm in (ours, theirs):  # imports, and the first use of a store
            warm()
        return told(f"binary, {n:,} rows, page and logging", cpu(ours), cpu(theirs), 3)


def many_classes(size: int, n: int = ROWS) -> float:
    """Evaluate a multiclass problem against scikit-learn's metrics for the same table."""
    from sklearn import metrics as sk

    truth, scores = class_rows(n, size)
    answers = scores.argmax(axis=1)
    wide = scores.astype(np.float64)
    wide /= wide.sum(axis=1, keepdims=True)

    def theirs() -> None:
        for average in ("micro", "macro", "weighted"):
            sk.precision_recall_fscore_support(truth, answers, average=average, zero_division=0)
            if average != "micro":
                sk.roc_auc_score(truth, wide, multi_class="ovr", average=average)
        sk.precision_recall_fscore_support(truth, answers, average=None, zero_division=0)
        sk.confusion_matrix(truth, answers)
        for function in (
            sk.accuracy_score,
            sk.balanced_accuracy_score,
            sk.matthews_corrcoef,
            sk.cohen_kappa_score,
        ):
            function(truth, answers)
        sk.log_loss(truth, wide)
        for k in (2, 3, 5):
            sk.top_k_accuracy_score(truth, wide, k=k)
        one_hot = np.eye(size, dtype=int)[truth]
        sk.average_precision_score(one_hot, wide, average="macro")
        sk.average_precision_score(one_hot, wide, average="micro")

    def ours() -> None:
        er.evaluate(truth, scores=er.Probabilities(scores), labels=er.Multiclass(range(size)))

    return told(f"{size} classes, {n:,} rows", cpu(ours), cpu(theirs), 10)


def many_labels(size: int = 50, n: int = ROWS) -> float:
    """Evaluate a multilabel problem against scikit-learn's metrics for the same table."""
    from sklearn import metrics as sk

    truth, scores = label_rows(n, size)
    answers = scores >= 0.5

    def theirs() -> None:
        for average in ("micro", "macro", "weighted", "samples", None):
            sk.precision_recall_fscore_support(truth, answers, average=average, zero_division=0)
        for average in ("micro", "macro", "weighted"):
            sk.roc_auc_score(truth, scores, average=average)
            sk.average_precision_score(truth, scores, average=average)
        sk.average_precision_score(truth, scores, average="samples")
        sk.accuracy_score(truth, answers), sk.hamming_loss(truth, answers)
        sk.jaccard_score(truth, answers, average="samples", zero_division=0)
        for function in (sk.coverage_error, sk.label_ranking_loss, sk.label_ranking_average_precision_score):
            function(truth, scores)
        sk.multilabel_confusion_matrix(truth, answers)
        for k in range(size):
            sk.roc_curve(truth[:, k], scores[:, k]), sk.precision_recall_curve(truth[:, k], scores[:, k])
            sk.brier_score_loss(truth[:, k], scores[:, k]), sk.log_loss(truth[:, k], scores[:, k])

    def ours() -> None:
        er.evaluate(truth, scores=er.Probabilities(scores))

    return told(f"{size} labels, {n:,} rows", cpu(ours), cpu(theirs), 10)


def thousand_classes(n: int = ROWS) -> float:
    """Evaluate 1,000 classes in a process of its own, and return its memory in GB."""
    code = (
        "import evalreport as er, time; from tests.benchmarks.bench_whole import class_rows, memory;"
        f"truth, scores = class_rows({n}, 1000); start = time.process_time();"
        "er.to_html(er.evaluate(truth, scores=er.Probabilities(scores), labels=er.Multiclass(range(1000))));"
        "print(time.process_time() - start, memory())"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    seconds, gigabytes = map(float, done.stdout.split())
    told(f"1,000 classes, {n:,} rows, with page", seconds)
    print(f"  at most {gigabytes:.2f} GB, rows included (bar 2 GB)")
    return gigabytes


def memory() -> float:
    """Return the greatest memory of this process, GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def cold(n: int = COLD) -> float:
    """Return the CPU seconds of `evalreport report FILE` in a new process, page included."""
    truth, scores = binary_rows(n)
    with tempfile.TemporaryDirectory() as folder:
        rows = "".join(f"{y},{p:.6f}\n" for y, p in zip(truth, scores, strict=True))
        (Path(folder) / "rows.csv").write_text(f"y_true,score\n{rows}")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "evalreport", "report", "rows.csv", "-q"]
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    told(f"evalreport report FILE, {n:,} rows, cold (bar 2 s)", taken)
    return taken


def main() -> dict[str, float]:
    """Print all figures; return those that have a bar."""
    return {
        "cold": cold(),
        "1000 classes": thousand_classes(),
        "77 classes": many_classes(77),
        "50 labels": many_labels(),
        "binary": binary(),
    }


if __name__ == "__main__":
    main()
