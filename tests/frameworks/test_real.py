"""The adapters with the real libraries, on a CPU: `make test-frameworks`, in an environment of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

import evalreport as er
from evalreport.tracking.client import Store
from tests.tracking import fluent

RNG = np.random.default_rng(0)
N = 96
X = RNG.normal(size=(N, 4)).astype(np.float32)
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
LABELS = ["ham", "spam"]
NAMED = np.array(LABELS)[Y]
FEW: dict[str, Any] = {"resamples": 50}
pytestmark = pytest.mark.filterwarnings("ignore")  # of other people's releases


@pytest.fixture
def mlflow(sqlite_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.chdir(tmp_path)
    with fluent(sqlite_store) as mlflow:
        mlflow.set_experiment("training")
        yield mlflow


def logged(mlflow: Any, run: Any) -> dict[str, float]:
    found: dict[str, float] = mlflow.get_run(run.info.run_id).data.metrics
    return found


BOOSTERS: dict[str, tuple[str, dict[str, Any]]] = {
    "xgboost": ("XGBClassifier", {"n_estimators": 5}),
    "lightgbm": ("LGBMClassifier", {"n_estimators": 5, "verbose": -1}),
    "catboost": ("CatBoostClassifier", {"iterations": 5, "verbose": 0, "allow_writing_files": False}),
}


@pytest.mark.parametrize("library", BOOSTERS)
def test_boosters_are_estimators(library: str) -> None:
    name, settings = BOOSTERS[library]
    make = getattr(pytest.importorskip(library), name)
    truth = Y if library == "xgboost" else NAMED  # which takes codes alone
    model = make(**settings).fit(X, truth)
    ev = er.evaluate_estimator(model, X, truth, **FEW)
    assert ev["log_loss"].value == pytest.approx(log_loss(truth, model.predict_proba(X)), abs=1e-5)
    assert ev["accuracy"].value == pytest.approx(accuracy_score(truth, np.ravel(model.predict(X))))
    folds = er.cross_evaluate(make(**settings), X, truth, cv=3, **FEW).folds
    assert folds is not None and len(folds.names) == 3


def test_scores_of_sixteen_bits() -> None:
    short = pytest.importorskip("ml_dtypes").bfloat16
    scores = np.array([0.1, 0.9]).astype(short)
    assert er.Probabilities(scores).values.tolist() == scores.astype(np.float32).tolist()
    assert er.Logits(np.ones((2, 3), dtype=short)).values.dtype == np.float32


@pytest.mark.parametrize("library", ["polars", "duckdb"])
def test_frames(library: str) -> None:
    module = pytest.importorskip(library)
    table = {"diagnosis": NAMED.tolist(), "p": X[:, 0].tolist()}
    import pyarrow as pa

    arrow = pa.table(table)
    frame = module.DataFrame(table) if library == "polars" else module.connect().from_arrow(arrow)
    ev = er.evaluate(frame, truth="diagnosis", score="p", score_kind="decision", positive="spam", **FEW)
    assert ev["roc_auc"].value == pytest.approx(roc_auc_score(Y, X[:, 0]))


def bert(torch: Any, transformers: Any) -> Any:
    torch.manual_seed(0)
    sizes = {"vocab_size": 40, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.BertConfig(**sizes, intermediate_size=16, max_position_embeddings=16, num_labels=2)
    return transformers.BertForSequenceClassification(config)


@pytest.mark.parametrize("whole", [True, False], ids=["concatenated", "batches"])
def test_a_trainer_end_to_end(whole: bool, mlflow: Any, tmp_path: Path) -> None:
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    from evalreport.adapters.training_callbacks import TrainerMetrics, trainer_callback

    tokens = RNG.integers(0, 40, (N, 8))
    rows = [{"input_ids": torch.tensor(t), "labels": int(y)} for t, y in zip(tokens, Y, strict=True)]
    model = bert(torch, transformers)
    assert sum(p.numel() for p in model.parameters()) < 10_000
    metrics = TrainerMetrics(LABELS, **FEW)
    with mlflow.start_run() as run:
        trainer = transformers.Trainer(
            model=model,
            args=transformers.TrainingArguments(
                str(tmp_path),
                max_steps=3,
                report_to="none",
                use_cpu=True,
                eval_strategy="steps",
                eval_steps=3,
                eval_do_concat_batches=whole,
                save_strategy="no",
                disable_tqdm=True,
            ),
            train_dataset=rows,
            eval_dataset=rows,
            compute_metrics=metrics,
            callbacks=[trainer_callback(metrics)],
        )
        trainer.train()
        reported = trainer.evaluate()
    with torch.no_grad():
        logits = model(torch.tensor(tokens)).logits.numpy()
    auc = roc_auc_score(Y, logits[:, 1] - logits[:, 0])
    assert reported["eval_roc_auc"] == pytest.approx(auc)
    assert logged(mlflow, run)["eval/roc_auc"] == pytest.approx(auc)
    assert metrics.evaluation is not None
    assert metrics.evaluation["accuracy"].value == pytest.approx(accuracy_score(Y, logits.argmax(axis=1)))


def test_lightning_collects_and_logs(mlflow: Any, tmp_path: Path) -> None:
    torch, lightning = pytest.importorskip("torch"), pytest.importorskip("lightning")
    from evalreport.adapters.training_callbacks import lightning_callback

    class Module(lightning.LightningModule):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(4, 2)

        def training_step(self, batch: Any, _: int) -> Any:
            return torch.nn.functional.cross_entropy(self.layer(batch[0]), batch[1])

        def test_step(self, batch: Any, _: int) -> Any:
            return {"outputs": self.layer(batch[0]), "targets": batch[1]}

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), lr=0.1)

    rows = torch.utils.data.TensorDataset(torch.tensor(X), torch.tensor(Y))
    loader = torch.utils.data.DataLoader(rows, batch_size=20)
    callback, module = lightning_callback(LABELS, **FEW), Module()
    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
    trainer = lightning.Trainer(
        max_steps=3,
        accelerator="cpu",
        callbacks=[callback],
        enable_model_summary=False,
        default_root_dir=tmp_path,
        **quiet,
    )
    with mlflow.start_run() as run:
        trainer.fit(module, loader)
        trainer.test(module, loader, verbose=False)
    logits = module.layer(torch.tensor(X)).detach().numpy()
    assert callback.evaluation.rows == N
    auc = roc_auc_score(Y, logits[:, 1] - logits[:, 0])
    assert logged(mlflow, run)["eval/roc_auc"] == pytest.approx(auc)


@pytest.mark.parametrize("width", [1, 2], ids=["sigmoid", "softmax"])
def test_keras_evaluates_and_logs(width: int, mlflow: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    pytest.importorskip("torch")
    keras = pytest.importorskip("keras")
    from evalreport.adapters.training_callbacks import keras_callback

    activation, loss = (
        ("sigmoid", "binary_crossentropy") if width == 1 else ("softmax", "sparse_categorical_crossentropy")
    )
    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(width, activation=activation)])
    model.compile(loss=loss)
    callback = keras_callback(X, Y, LABELS, **FEW)
    with mlflow.start_run() as run:
        model.fit(X, Y, epochs=1, verbose=0, callbacks=[callback])
    p = model.predict(X, verbose=0)[:, -1]
    assert callback.evaluation["log_loss"].value == pytest.approx(log_loss(Y, p), abs=1e-5)
    assert logged(mlflow, run)["eval/roc_auc"] == pytest.approx(roc_auc_score(Y, p))


SERVER = """
import sys
from pysail.spark import SparkConnectServer

server = SparkConnectServer(ip="127.0.0.1", port=0)
server.start(background=True)
print(server.listening_address[1], flush=True)
sys.stdin.read()
"""


def test_a_delta_table(mlflow: Any, tmp_path: Path) -> None:
    """A table that was written over: what it holds now, what a version held, and never both."""
    writer, _ = pytest.importorskip("deltalake"), pytest.importorskip("pysail")
    import pandas as pd
    from mlflow.data.delta_dataset_source import DeltaDatasetSource
    from mlflow.data.meta_dataset import MetaDataset

    place, score = str(tmp_path / "scores"), X[:, 0].astype(float)
    rows = pd.DataFrame({"diagnosis": Y, "score": score})
    for kept in (rows[:1], rows, rows[:60]):  # MLflow writes down no version 0
        writer.write_deltalake(place, kept, mode="overwrite")
    with mlflow.start_run() as run:
        mlflow.log_input(MetaDataset(DeltaDatasetSource(path=place, delta_table_version=1)), "test")
    command = [sys.executable, "-m", "evalreport", "--tracking-uri", mlflow.get_tracking_uri()]
    asked = ("--truth", "diagnosis", "--score", "score", "--score-kind", "decision")
    with subprocess.Popen([sys.executable, "-c", SERVER], stdin=-1, stdout=-1, text=True) as server:
        assert server.stdin is not None and server.stdout is not None
        at = ("--set", f"spark_master=sc://127.0.0.1:{server.stdout.readline().strip()}", *asked)
        for words in (
            ("report", "--set", f"table={place}", "-o", "page.html"),
            ("log", "--run-id", run.info.run_id),
        ):
            done = subprocess.run(
                [*command, *words, *at], capture_output=True, text=True, timeout=300, check=False
            )
            assert done.returncode == 0, done.stderr
            if words[0] == "report":
                assert "60 cases" in done.stderr
        server.stdin.close()
    assert logged(mlflow, run)["eval/roc_auc"] == pytest.approx(roc_auc_score(Y, score))
