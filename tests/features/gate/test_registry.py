"""`check --model`: the run behind a model, the verdict on it, its alias."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evalreport.core.bounds import Bound
from evalreport.core.errors import PromotionError
from evalreport.features.gate.check import GateRequest, candidate_of, check_item, settle
from evalreport.tracking.client import Store
from evalreport.workflow.request import Destination, Request
from tests.cli.running import run
from tests.tracking import make_run

Capture = pytest.CaptureFixture[str]
GOOD, BAD = 2.5, 0.3
FAST = ("--set", "resamples=100", "--positive", "1")


def version(store: Store, name: str, skill: float) -> str:
    """Register a version whose run holds predictions of this skill; return its number."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 400)
    table = pd.DataFrame({"id": range(400), "y_true": truth})
    table["score"] = 1 / (1 + np.exp(-skill * (2 * truth - 1) - rng.normal(size=400)))
    made = make_run(store, {"predictions.csv": table.to_csv(index=False)})
    if not store.client.search_registered_models(f"name = '{name}'"):
        store.client.create_registered_model(name)
    found = store.client.create_model_version(name, f"runs:/{made.run_id}/model", made.run_id)
    return str(found.version)


@pytest.fixture
def name() -> str:
    return f"filter-{uuid.uuid4().hex[:8]}"


def held(store: Store, name: str, number: str) -> Any:
    return store.client.get_model_version(name, number)


def test_a_model_that_passes_bears_its_verdict_and_the_alias(
    store: Store, name: str, capsys: Capture
) -> None:
    number = version(store, name, GOOD)
    asked = ("--tracking-uri", store.uri, *FAST, "--require", "roc_auc >= 0.9", "--promote", "champion")
    done = run(capsys, "check", "--model", f"models:/{name}/{number}", *asked)
    assert done.code == 0, done.err
    assert f"models:/{name}/{number}  @champion is set" in done.err
    found = held(store, name, number)
    assert found.tags["evalreport.gate.outcome"] == "passed"
    assert found.tags["evalreport.gate.run"] == f"runs:/{found.run_id}"
    assert "**Gate passed**" in found.description
    assert str(store.client.get_model_version_by_alias(name, "champion").version) == number
    again = run(capsys, "check", "--model", f"models:/{name}@champion", *asked)
    assert "verdict unchanged" in again.err
    assert held(store, name, number).last_updated_timestamp == found.last_updated_timestamp


def test_a_model_that_fails_against_the_champion_is_reported_and_not_promoted(
    store: Store, name: str, capsys: Capture
) -> None:
    champion, number = version(store, name, GOOD), version(store, name, BAD)
    store.client.set_registered_model_alias(name, "champion", champion)
    store.client.update_model_version(name, number, description="Mine.")
    done = run(
        capsys,
        *("check", "--model", f"models:/{name}/{number}", "--baseline", f"models:/{name}@champion", "--json"),
        *("--tracking-uri", store.uri, *FAST, "--require", "roc_auc drops <= 0.02", "--promote", "champion"),
    )
    assert done.code == 1
    assert done.json["runs"][0]["model"] == {
        "model": f"models:/{name}/{number}",
        "run": f"runs:/{held(store, name, number).run_id}",
        "outcome": "failed",
        "written": True,
        "alias": "champion",
        "promoted": False,
    }
    assert str(store.client.get_model_version_by_alias(name, "champion").version) == champion
    assert held(store, name, number).description.startswith("Mine.\n\n")


@pytest.mark.parametrize("moved", ["model", "baseline"])
def test_an_alias_that_moved_meanwhile_is_never_promoted(sqlite_store: Store, name: str, moved: str) -> None:
    numbers = [version(sqlite_store, name, skill) for skill in (GOOD, GOOD, BAD)]
    for alias, number in zip(("model", "baseline"), numbers, strict=False):
        sqlite_store.client.set_registered_model_alias(name, alias, number)
    judged = candidate_of(f"models:/{name}@model", f"models:/{name}@baseline", "champion", sqlite_store.uri)
    columns = replace(Request().columns, positive="1")
    rule = GateRequest((Bound.parse("roc_auc >= 0.9"),))
    outcome = check_item(judged.item, Request(columns=columns), rule, Destination())
    sqlite_store.client.set_registered_model_alias(name, moved, numbers[2])
    with pytest.raises(PromotionError, match=f"@{moved} was models:/{name}/.* is models:/{name}/3 now"):
        settle(judged, outcome, inconclusive_fails=True)
    assert set(sqlite_store.client.get_registered_model(name).aliases) == {"model", "baseline"}


def test_what_is_no_model_is_reported(sqlite_store: Store, name: str, capsys: Capture) -> None:
    version(sqlite_store, name, GOOD)
    sqlite_store.client.create_model_version(name, "s3://bucket/model")
    uri = ("--tracking-uri", sqlite_store.uri)
    for words, code, message in (
        (("--model", "models:/filter"), 2, "models:/filter is not a model URI"),
        (("--model", f"models:/{name}/7"), 3, f"there is no models:/{name}/7"),
        (("--model", f"models:/{name}@blue"), 3, f"there is no models:/{name}@blue"),
        (("--model", f"models:/{name}/2"), 3, f"models:/{name}/2 was registered without a run"),
        (("--promote", "champion"), 2, "--promote needs a model"),
        (("--model", f"models:/{name}/1", "--latest"), 2, "--model already names a run"),
    ):
        done = run(capsys, "check", *words, *uri)
        assert (done.code, message in done.err.splitlines()[0]) == (code, True), done.err


def test_a_logged_model_is_judged_by_its_own_run(sqlite_store: Store, name: str, capsys: Capture) -> None:
    run_id = held(sqlite_store, name, version(sqlite_store, name, GOOD)).run_id
    experiment = sqlite_store.client.get_run(run_id).info.experiment_id
    made = sqlite_store.client.create_logged_model(experiment, name="m", source_run_id=run_id)
    asked = ("check", "--model", f"models:/{made.model_id}", "--tracking-uri", sqlite_store.uri, *FAST)
    assert run(capsys, *asked).code == 0
    assert sqlite_store.client.get_logged_model(made.model_id).tags["evalreport.gate.outcome"] == "passed"
    refused = run(capsys, *asked, "--promote", "champion")
    assert refused.code == 2
    assert "cannot have an alias" in refused.err
