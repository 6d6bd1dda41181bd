"""Whole evaluations against the named peers: ``python -m tests.benchmarks.bench_whole``.

Ours are whole: metrics with their intervals, curves, sweep, findings. The peers' are values alone.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

import evalreport as er
from tests.benchmarks.measure import Result, cpu, limit, ratio, show

Array = npt.NDArray[Any]
ROWS, COLD, THOUSAND = 100_000, 10_000, 1_000
BINARY: tuple[tuple[int, float | None], ...] = ((10_000, None), (1_000_000, 3.0), (10_000_000, 8.0))
"""Rows of a binary problem, and how many times faster than the peer, labels alone, they are to be."""
ASKED = 50
"""Of a thousand one-vs-rest areas that scikit-learn is asked for; its time grows in proportion."""
BARE = 0.017
"""Seconds of CPU that a bare interpreter takes where `--help` is to take 0.15."""


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


def binary() -> Iterator[Result]:
    """Evaluate, write the page and log into a run, against `mlflow.models.evaluate` on labels."""
    import mlflow

    with tempfile.TemporaryDirectory() as folder:
        uri = f"sqlite:///{Path(folder) / 'mlflow.db'}"
        mlflow.set_tracking_uri(uri)
        mlflow.create_experiment("bench", artifact_location=(Path(folder) / "artifacts").as_uri())
        mlflow.set_experiment("bench")
        sides = _ours_logged, _theirs_logged
        for warm in sides:  # imports, and the first use of a store
            warm(*binary_rows(1000), uri)
        model = _known()
        _theirs_with_curves(*binary_rows(1000), model)
        for n, bar in BINARY:
            truth, scores = binary_rows(n)
            times = 1 if n > 1_000_000 else 3
            own, other = (cpu(partial(side, truth, scores, uri), times) for side in sides)
            what = f"binary, {n:,} rows: evaluation, page and logging"
            yield ratio(what, own, "mlflow.models.evaluate, labels alone", other, bar)
            alike = cpu(partial(_theirs_with_curves, truth, scores, model))
            yield ratio(what, own, "the same with probabilities and curves", alike)


def _ours_logged(truth: Array, scores: Array, uri: str) -> None:
    import mlflow

    with mlflow.start_run() as run:
        pass
    ev = er.evaluate(truth, scores=er.Probabilities(scores), labels=er.Binary(negative=0, positive=1))
    er.log(ev, run.info.run_id, tracking_uri=uri)


def _theirs_logged(truth: Array, scores: Array, uri: str) -> None:
    import mlflow
    import pandas as pd

    frame = pd.DataFrame({"y": truth, "p": (scores >= 0.5).astype(int)})
    with mlflow.start_run():
        mlflow.models.evaluate(
            data=frame, targets="y", predictions="p", model_type="classifier",
            evaluator_config={"log_model_explainability": False},
        )  # fmt: skip


class Known(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted classifier whose only feature is the probability that it gives."""

    classes_ = np.array([0, 1])

    def predict_proba(self, rows: Any) -> Array:
        """Return the probabilities of both classes, shape (n, 2)."""
        given = np.asarray(rows, dtype=float)[:, 0]
        return np.stack([1 - given, given], axis=1)

    def predict(self, rows: Any) -> Array:
        """Return the labels at 0.5."""
        return (self.predict_proba(rows)[:, 1] >= 0.5).astype(int)


def _known() -> str:
    """Log a model that gives the probabilities as they are; return where it lies."""
    import mlflow

    with mlflow.start_run():
        return str(
            mlflow.sklearn.log_model(Known(), name="known", serialization_format="cloudpickle").model_uri
        )


def _theirs_with_curves(truth: Array, scores: Array, model: str) -> None:
    import mlflow
    import pandas as pd

    with mlflow.start_run():
        mlflow.models.evaluate(
            model, pd.DataFrame({"p": scores, "y": truth}), targets="y", model_type="classifier",
            evaluators="default", evaluator_config={"log_model_explainability": False},
        )  # fmt: skip


def many_classes(size: int = 77) -> Iterator[Result]:
    """Evaluate a multiclass problem against scikit-learn's metrics for the same table."""

    def ours(truth: Array, scores: Array) -> None:
        er.evaluate(truth, scores=er.Probabilities(scores), labels=er.Multiclass(range(size)))

    rows = partial(class_rows, size=size)
    own, other = _sides(ours, partial(_sk_classes, areas=range(size)), rows)
    yield ratio(f"{size} classes, {ROWS:,} rows: evaluation", own, "scikit-learn, values alone", other, 10)


def _sides(
    ours: Callable[[Array, Array], None],
    theirs: Callable[[Array, Array], object],
    rows: Callable[[int], tuple[Array, Array]],
) -> tuple[float, float]:
    """CPU seconds of both, after a first call of each on fewer rows."""
    for warm in (ours, theirs):
        warm(*rows(2000))
    truth, scores = rows(ROWS)
    return cpu(lambda: ours(truth, scores), 3), cpu(lambda: theirs(truth, scores))


def _sk_classes(truth: Array, scores: Array, areas: range) -> float:
    """Return by how much the areas that were asked for fall short of all, after scikit-learn's metrics."""
    from sklearn import metrics as sk

    answers, size = scores.argmax(axis=1), scores.shape[1]
    wide = scores.astype(np.float64)
    wide /= wide.sum(axis=1, keepdims=True)
    for average in ("micro", "macro", "weighted", None):
        sk.precision_recall_fscore_support(truth, answers, average=average, zero_division=0)
    sk.confusion_matrix(truth, answers)
    for function in (
        sk.accuracy_score,
        sk.balanced_accuracy_score,
        sk.matthews_corrcoef,
        sk.cohen_kappa_score,
    ):
        function(truth, answers)
    sk.log_loss(truth, wide, labels=range(size))
    for k in (2, 3, 5):
        sk.top_k_accuracy_score(truth, wide, k=k, labels=range(size))
    return float(size / len(areas) - 1) * cpu(lambda: _sk_areas(truth, wide, areas))


def _sk_areas(truth: Array, wide: Array, areas: range) -> None:
    from sklearn import metrics as sk

    for label in areas:
        one = truth == label
        sk.roc_auc_score(one, wide[:, label]), sk.average_precision_score(one, wide[:, label])
    if len(areas) == wide.shape[1]:
        one_hot = np.eye(len(areas), dtype=int)[truth]
        sk.roc_auc_score(one_hot, wide, average="micro")
        sk.average_precision_score(one_hot, wide, average="micro")


def many_labels(size: int = 50) -> Iterator[Result]:
    """Evaluate a multilabel problem against scikit-learn's metrics for the same table.

    Metrics of a label that no page shows are made when one is read: `evaluation.json` holds them all.
    """

    def page(truth: Array, scores: Array) -> None:
        er.to_html(er.evaluate(truth, scores=er.Probabilities(scores)))

    def everything(truth: Array, scores: Array) -> None:
        er.evaluate(truth, scores=er.Probabilities(scores)).to_json()

    what, rows = f"{size} labels, {ROWS:,} rows", partial(label_rows, size=size)
    own, other = _sides(page, _sk_labels, rows)
    yield ratio(f"{what}: evaluation and page", own, "scikit-learn, values alone", other, 10)
    whole = cpu(partial(everything, *rows(ROWS)), 3)
    yield ratio(f"{what}: all metrics of each label", whole, "scikit-learn, values alone", other, 10)


def _sk_labels(truth: Array, scores: Array) -> None:
    from sklearn import metrics as sk

    answers = scores >= 0.5
    for average in ("micro", "macro", "weighted", "samples", None):
        sk.precision_recall_fscore_support(truth, answers, average=average, zero_division=0)
    for average in ("micro", "macro", "weighted"):
        sk.roc_auc_score(truth, scores, average=average)
        sk.average_precision_score(truth, scores, average=average)
    sk.accuracy_score(truth, answers), sk.hamming_loss(truth, answers)
    sk.jaccard_score(truth, answers, average="samples", zero_division=0)
    for function in (sk.coverage_error, sk.label_ranking_loss, sk.label_ranking_average_precision_score):
        function(truth, scores)
    sk.multilabel_confusion_matrix(truth, answers)
    for k in range(truth.shape[1]):
        sk.roc_curve(truth[:, k], scores[:, k]), sk.precision_recall_curve(truth[:, k], scores[:, k])
        sk.brier_score_loss(truth[:, k], scores[:, k]), sk.log_loss(truth[:, k], scores[:, k])


def without_intervals() -> Iterator[Result]:
    """Evaluate with `confidence=None`, for one metric and for all, against the same with intervals."""
    for what, headline, rows in (
        (f"binary, {COLD:,} rows", "f1", binary_rows(COLD)),
        ("binary, 1,000,000 rows", "f1", binary_rows(1_000_000)),
        (f"77 classes, {ROWS:,} rows", "f1_macro", class_rows(ROWS, 77)),
        (f"50 labels, {ROWS:,} rows", "f1_macro", label_rows(ROWS, 50)),
    ):
        asked = partial(er.evaluate, rows[0], scores=er.Probabilities(rows[1]))
        bare = partial(asked, confidence=None)
        for part, work in (
            ("one metric", partial(_read, bare, headline)),
            ("all metrics", partial(_read, bare)),
        ):
            work()  # warm
            own, whole = cpu(work, 3), cpu(partial(_read_whole, asked))
            yield ratio(f"{what}: {part} without intervals", own, "all with intervals", whole, 10)


def _read_whole(work: Callable[[], er.Evaluation]) -> None:
    """Evaluate, and read every metric of every label."""
    for entry in work().classes:
        dict(entry.metrics)


def _read(work: Callable[[], er.Evaluation], *names: str) -> None:
    """Evaluate, and read metrics: all without a name."""
    ev = work()
    for name in names or ev.metrics:
        ev[name]


def thousand_classes() -> Iterator[Result]:
    """Evaluate 1,000 classes in a process of its own, page included."""
    code = (
        "from tests.benchmarks.bench_whole import class_rows, memory, page_of_classes;"
        "from tests.benchmarks.measure import cpu; page_of_classes(*class_rows(200, 5));"
        f"rows = class_rows({ROWS}, {THOUSAND}); print(cpu(lambda: page_of_classes(*rows), 3), memory())"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    own, gigabytes = map(float, done.stdout.split())
    what = f"{THOUSAND:,} classes, {ROWS:,} rows: evaluation and page"
    truth, scores = class_rows(ROWS, THOUSAND)
    rest = 0.0

    def theirs() -> None:
        nonlocal rest
        rest = _sk_classes(truth, scores, range(ASKED))

    other = cpu(theirs) + rest
    yield ratio(what, own, f"scikit-learn, {ASKED} areas scaled up", other, 12)
    yield limit(f"{what}, memory with the rows", gigabytes, "GB", 1.5)


def page_of_classes(truth: Array, scores: Array) -> None:
    """Evaluate a multiclass problem and write its page."""
    er.to_html(
        er.evaluate(truth, scores=er.Probabilities(scores), labels=er.Multiclass(range(scores.shape[1])))
    )


def memory() -> float:
    """Return the greatest memory of this process, GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def cold() -> Iterator[Result]:
    """Run the command line in new processes, imports and all."""
    truth, scores = binary_rows(COLD)
    with tempfile.TemporaryDirectory() as folder:
        rows = "".join(f"{y},{p:.6f}\n" for y, p in zip(truth, scores, strict=True))
        (Path(folder) / "rows.csv").write_text(f"y_true,score\n{rows}")
        report = _process([sys.executable, "-m", "evalreport", "report", "rows.csv", "-q"], folder)
    yield limit(f"evalreport report FILE, {COLD:,} rows, cold, with page", report, "s", 0.9)
    bare = _process([sys.executable, "-c", "pass"])
    at_most = round(0.15 * max(1.0, bare / BARE), 3)
    reported = _process([sys.executable, "-m", "evalreport", "--help"])
    yield limit(f"evalreport --help, where a bare interpreter takes {bare:.3f} s", reported, "s", at_most)


def _process(command: list[str], folder: str = ".") -> float:
    """CPU seconds of a process, the least of three."""
    taken = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(taken)


def results() -> Iterator[Result]:
    """Yield every measurement."""
    for part in (cold, thousand_classes, many_classes, many_labels, without_intervals, binary):
        yield from part()


if __name__ == "__main__":
    show(results())
