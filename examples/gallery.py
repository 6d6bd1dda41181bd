"""`make gallery`: pages of every kind to look at, from the shipped data and from a few odd cases.

python examples/gallery.py [FOLDER]      writes FOLDER/index.html and one page for each kind
"""

from __future__ import annotations

import html
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import evalreport as er
from evalreport.comparison.all_pairs import contributions_of_run, run_field
from evalreport.features.site.leaderboard import Board, BoardRun, FoundInRun, RunFacts
from evalreport.features.site.page import render_board
from evalreport.findings.ordered_rules import find
from evalreport.metrics.catalogue import find as find_metric

DATA = Path(__file__).parent / "data"
MESSAGES = ("message", "messages")


def named(
    ev: er.Evaluation, run: str, dataset: str, unit: tuple[str, str] = ("case", "cases")
) -> er.Evaluation:
    """The same evaluation with a name, as a run of MLflow would give it; its findings in the user's words."""
    made = replace(ev.provenance, run_name=run, dataset=dataset, unit=unit, made="2026-11-21T12:00:00Z")
    ev = ev.with_provenance(made)
    return replace(ev, findings=find(ev))


@cache
def spam() -> er.Evaluation:
    """Binary, imbalanced; probabilities of a naive Bayes, badly calibrated."""
    ev = er.evaluate_file(DATA / "sms_spam" / "oof_scores.parquet", score="score_nb", positive="spam")
    return named(ev, "naive-bayes", "sms-spam", MESSAGES)


FAILURE = ("intact", "failed")


def scores_of_machines() -> pd.DataFrame:
    """Scores of four models, with names of the two classes."""
    frame = pd.read_parquet(DATA / "ai4i_failure" / "oof_scores.parquet")
    return frame.assign(y_true=np.array(FAILURE)[frame["y_true"]])


def failures() -> er.Evaluation:
    """Binary, rare, with a slice column."""
    frame = scores_of_machines()
    ev = er.evaluate(
        frame["y_true"].to_numpy(),
        labels=er.Binary(*FAILURE),
        scores=er.Probabilities(frame["score_rf"].to_numpy()),
        ids=frame["example_id"].to_numpy(),
        slices={"product_type": frame["product_type"].to_numpy()},
    )
    return named(ev, "random-forest", "machine-failure", ("machine", "machines"))


def intents(file: str, run: str, **options: Any) -> er.Evaluation:
    """77 classes of short messages, with the messages themselves from another file."""
    folder = DATA / "banking77"
    ev = er.evaluate_file(
        folder / file,
        truth_file=str(folder / "test.csv"),
        id="example_id",
        example_text="text",
        unit=MESSAGES,
        **options,
    )
    return named(ev, run, "banking77", MESSAGES)


@cache
def good() -> er.Evaluation:
    """77 classes of short messages; confidence too low."""
    return intents("pred_tfidf_lr.parquet", "words-logistic")


def collapsed() -> er.Evaluation:
    """The same by a model that knows six of the classes; its other probabilities are taken as 0."""
    return intents("pred_collapsed6.parquet", "bayes-six-intents")


def logits() -> er.Evaluation:
    """The same by a support vector machine, whose margins are declared as logits."""
    return intents("pred_char_svm_logits.parquet", "letters-svm", score_kind="logit")


def answers() -> er.Evaluation:
    """Labels read from generated text."""
    frame = pd.read_json(DATA / "banking77" / "llm_generations.jsonl", lines=True)
    labels = sorted(set(frame["label"]))
    parsed = er.parse(frame["generation"].tolist(), labels)
    ev = er.evaluate(
        frame["label"].tolist(), parsed, labels=er.Multiclass(labels), texts=frame["text"].tolist()
    )
    return named(ev, "language-model", "banking77", MESSAGES)


def emotions() -> er.Evaluation:
    """28 labels, any number per comment."""
    return emotions_of("test", "one-against-rest", threshold=0.2)


def emotions_of(split: str, name: str, **options: Any) -> er.Evaluation:
    """The emotions of one split."""
    truth = pd.read_parquet(DATA / "goemotions" / f"y_true_{split}.parquet")
    frame = pd.read_parquet(DATA / "goemotions" / f"pred_{split}_ovr_lr_proba.parquet")
    labels = [column.removeprefix("true_") for column in map(str, truth) if column.startswith("true_")]
    ev = er.evaluate(
        truth[[f"true_{label}" for label in labels]].to_numpy(),
        scores=er.Probabilities(frame[[f"proba_{label}" for label in labels]].to_numpy()),
        labels=er.Multilabel(labels),
        ids=frame["example_id"].to_numpy(),
        **options,
    )
    return named(ev, name, "goemotions", ("comment", "comments"))


def many() -> er.Evaluation:
    """1000 classes, made up: neighbours within a group of eight are confused with each other."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 1000, 20_000)
    near = truth // 8 * 8 + rng.integers(0, 8, 20_000)
    answer = np.where(rng.random(20_000) < 0.7, truth, near)
    labels = [f"class_{code:04d}" for code in range(1000)]
    ev = er.evaluate([labels[c] for c in truth], [labels[c] for c in answer], labels=er.Multiclass(labels))
    return named(ev, "thousand-classes", "made up")


def one_row() -> er.Evaluation:
    """A single example."""
    ev = er.evaluate(["yes"], scores=er.Probabilities(np.array([0.8])), labels=er.Binary("no", "yes"))
    return named(ev, "one-row", "made up")


def one_class() -> er.Evaluation:
    """Only one class in the true labels."""
    scores = er.Probabilities(np.linspace(0, 1, 60))
    return named(
        er.evaluate(["no"] * 60, scores=scores, labels=er.Binary("no", "yes")), "one-class", "made up"
    )


def no_mistakes() -> er.Evaluation:
    """Everything right."""
    truth = ["yes", "no"] * 30
    scores = er.Probabilities(np.array([0.9, 0.2] * 30))
    return named(er.evaluate(truth, scores=scores, labels=er.Binary("no", "yes")), "no-mistakes", "made up")


@cache
def searched() -> Any:
    """Thresholds of 28 labels, chosen on one split and told on another; some searched by Optuna."""
    wanted = ["f1_macro", "subset_accuracy"]
    test = emotions_of("test", "one-against-rest, test", resamples=500)
    dev = emotions_of("dev", "one-against-rest, dev", confidence=None)
    return er.sweep(test, wanted, tune_on=dev, trials=60)


def study() -> Any:
    """The trials of that search as a study."""
    return er.sweep(searched()["subset_accuracy"].trials, judging=er.Judging(n=5426))


def filters() -> Any:
    """Two spam filters on the same messages."""
    shown = {"score_nb": "naive-bayes", "score_lr": "logistic"}
    return compared("sms_spam", shown, ("message", "messages"), positive="spam")


@cache
def machines() -> Any:
    """Four models of the same failures."""
    shown = ("lr", "lr_balanced", "rf", "histgb")
    known: dict[str, Any] = {"positive": "failed", "id": "example_id"}
    given = [er.evaluate(scores_of_machines(), score=f"score_{name}", **known) for name in shown]
    unit = ("machine", "machines")
    return er.compare([named(ev, name, "ai4i_failure", unit) for ev, name in zip(given, shown, strict=True)])


def experiment() -> str:
    """The front page of an experiment's site: four models of failures (without the pages behind it)."""
    metric, rows = find_metric("roc_auc", "binary"), []
    given = machines().evaluations
    parts: list[Any] = [contributions_of_run(metric, ev.predictions) for ev in given]
    for k, ev in enumerate(given):
        name = ev.provenance.run_name
        facts = RunFacts(
            "binary", ev.rows, "", ev.label_digest[:12], "", ev.metrics,
            tuple(FoundInRun(one.rule, one.claim, one.action) for one in ev.findings),
            ev.provenance.unit, {}, "",
        )  # fmt: skip
        day = 1_794_873_600_000 + 86_400_000 * k  # from 17 November 2026
        rows.append(BoardRun(name, f"{k:032x}", name, day, {}, None if k else day, facts))
    names = [run.name for run in rows]
    field = run_field(metric, list(zip(names, parts, strict=True)))
    board = Board("machine-failure", metric, 0.95, tuple(rows), field, (), (), names[0])
    return render_board(replace(board, agreement=machines().run_agreement))


def compared(dataset: str, shown: Mapping[str, str], unit: tuple[str, str], **options: Any) -> Any:
    """Models whose scores stand side by side in one file, against the first of them."""
    path = DATA / dataset / "oof_scores.parquet"
    return er.compare(
        [
            named(er.evaluate_file(path, score=column, **options), name, dataset, unit)
            for column, name in shown.items()
        ]
    )


def seeds() -> Any:
    """Two systems of three seeds: new rows and new seeds, and the answers that the seed decides."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.naive_bayes import ComplementNB, MultinomialNB

    train, test = (pd.read_csv(DATA / "banking77" / f"{part}.csv") for part in ("train", "test"))
    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2)
    known, asked = words.fit_transform(train["text"]), words.transform(test["text"])
    systems: dict[str, list[er.Evaluation]] = {}
    for name, model in (("complement-bayes", ComplementNB), ("multinomial-bayes", MultinomialNB)):
        for seed in range(3):
            rows = np.random.default_rng(seed).permutation(len(train))[: len(train) * 4 // 5]
            answers = model().fit(known[rows], train["label"].iloc[rows]).predict(asked)
            told: dict[str, Any] = {
                "ids": test["example_id"],
                "texts": test["text"].tolist(),
                "resamples": 20,
            }
            ev = er.evaluate(
                test["label"], answers, labels=er.Multiclass(sorted(set(train["label"]))), **told
            )
            systems.setdefault(name, []).append(named(ev, f"{name}-{seed}", "banking77", MESSAGES))
    return er.compare(systems=systems)


PAGES: Mapping[str, Callable[[], Any]] = {
    "sms-spam": spam,
    "machine-failure": failures,
    "banking77": good,
    "banking77-collapsed": collapsed,
    "banking77-logits": logits,
    "banking77-generated": answers,
    "goemotions": emotions,
    "sms-spam-thresholds": lambda: er.sweep(spam(), ["f1", "recall>=0.95", "cost:10"]),
    "banking77-cutoffs": lambda: er.sweep(good()),
    "goemotions-thresholds": searched,
    "goemotions-search": study,
    "sms-spam-two-models": filters,
    "machine-failure-four-models": machines,
    "machine-failure-site": experiment,
    "banking77-seeds": seeds,
    "thousand-classes": many,
    "one-row": one_row,
    "one-class": one_class,
    "no-mistakes": no_mistakes,
}


def write(name: str, path: Path) -> None:
    """Write one page."""
    made = PAGES[name]()
    if isinstance(made, str):
        path.write_text(made, encoding="utf-8")
    else:
        er.report(made, path, force=True)


def main() -> None:
    """Write every page and an index of them."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "gallery")
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for name, make in PAGES.items():
        path = folder / f"{name}.html"
        write(name, path)
        print(f"{path}  {path.stat().st_size / 1000:.0f} kB")
        about = html.escape((make.__doc__ or "").strip().splitlines()[0] if make.__doc__ else name)
        lines.append(f'<li><a href="{path.name}">{html.escape(name)}</a> {about}</li>')
    head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>evalreport gallery</title>'
    index = folder / "index.html"
    index.write_text(f"{head}<h1>Gallery</h1><ul>{''.join(lines)}</ul></html>\n", encoding="utf-8")
    print(index)


if __name__ == "__main__":
    main()
