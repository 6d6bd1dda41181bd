"""The page of a sweep: every kind of study has one, and its sentences say what the trials say."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import html5lib
import numpy as np
import pytest

from evalreport.core.format import percent
from evalreport.core.result import Undefined
from evalreport.core.sentences import Sentence
from evalreport.features.studies.presentation import PANELS, study_metrics
from evalreport.features.studies.presentation import sections as parts
from evalreport.features.studies.study import Study, analyse_study
from evalreport.page.render import render
from evalreport.thresholds.trial import Judging, StudyObjective
from evalreport.thresholds.trial_search import Trials
from tests.page.test_shape import CORPUS, shape
from tests.page.test_words import sentences

GOALS = (StudyObjective("accuracy"), StudyObjective("seconds", "minimize"))


def rows(n: int, seed: int = 0) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    made: list[dict[str, Any]] = []
    for number in range(n):
        kernel = str(rng.choice(["rbf", "poly"]))
        params = {"C": float(10 ** rng.uniform(-3, 2)), "kernel": kernel, "depth": int(rng.integers(1, 4))}
        if kernel == "poly":
            params["degree"] = int(rng.integers(1, 5))
        row: dict[str, Any] = {"params": params, "started": number * 3.0, "finished": number * 3.0 + 5}
        state = "complete" if rng.random() < 0.8 else str(rng.choice(["pruned", "failed"]))
        row["state"] = state
        row["intermediate"] = {step: float(0.1 * step + rng.random()) for step in range(4)}
        if state == "complete":
            row["value"] = float(0.8 + 0.05 * rng.random())
        made.append(row)
    return made


def study(trials: Trials) -> Study:
    return analyse_study(trials, judging=Judging(n=500)) if trials.contenders else Study(trials)


def single() -> Study:
    return study(Trials.from_records(rows(40), objectives="accuracy", study_name="triage"))


def two_goals() -> Study:
    rng = np.random.default_rng(1)
    made = [{"values": tuple(rng.random(2).tolist()), "params": {"a": n, "b": n % 3}} for n in range(30)]
    return study(Trials.from_records(made, objectives=GOALS))


def minimised() -> Study:
    made = [{"value": float(v), "params": {"lr": 0.1 * (n + 1)}} for n, v in enumerate([0.5, 0.4, 0.45])]
    return study(Trials.from_records(made, objectives=StudyObjective("log_loss", "minimize")))


def failed() -> Study:
    return study(Trials.from_records([{"state": "failed"}, {"state": "pruned"}], objectives="f1"))


def wide() -> Study:
    """More parameters than there are axes and charts for; the last ones matter."""
    rng = np.random.default_rng(2)
    made = []
    for _ in range(60):
        params = {f"p{place}": float(rng.random()) for place in range(15)}
        made.append({"params": params, "value": params["p13"] + params["p14"]})
    return study(Trials.from_records(made, objectives=StudyObjective("score")))


def one() -> Study:
    return study(Trials.from_records([{"value": 0.5, "params": {"C": 1.0}}], objectives="accuracy"))


def not_finite() -> Study:
    made = [{"value": v, "params": {"C": float(n)}} for n, v in enumerate([0.5, math.nan, 0.7, math.inf])]
    return study(Trials.from_records(made, objectives="accuracy"))


def hostile() -> Study:
    return named(CORPUS)


def named(names: tuple[str, ...]) -> Study:
    made = [
        {
            "value": 0.5 + n / 100,
            "params": {names[0]: names[n % len(names)], names[1]: n / 7, names[2]: n % 5},
        }
        for n in range(30)
    ]
    trials = Trials.from_records(made, objectives=names[3], study_name=names[4])
    return study(trials)


KINDS: Mapping[str, Callable[[], Study]] = {
    "single": single,
    "two goals": two_goals,
    "minimised": minimised,
    "failed": failed,
    "one": one,
    "wide": wide,
    "not finite": not_finite,
    "hostile": hostile,
}


def values(of: Study, name: str) -> set[float]:
    """What a number of a sentence may be, worked out from the trials: about any of the objectives."""
    return {value for one in of.each for value in of_objective(one, name)}


def of_objective(of: Study, name: str) -> set[float]:
    trials = of.trials
    done = [trial for trial in trials.trials if trial.finite]
    curse = of.curse
    known: dict[str, set[float]] = {
        "trials": {len(trials)},
        "shown": {len(trials)},
        "complete": {len(done)},
        "rivals": {len({tuple(sorted(map(str, trial.params.items()))) for trial in done})},
        "front": {len(trials.pareto())} if done else set(),
        "points": {len(done), *(sum(name in trial.params for trial in done) for name in trials.params)},
        "lines": {len(done)},
        "n": {500, len(done)},
        "gone": {len(trials.completed_trials) - len(done)},
        "curves": {sum(bool(trial.intermediate) for trial in trials.trials)},
        "timed": {sum(trial.duration is not None for trial in trials.trials)},
        "bars": {sum(trial.duration is not None for trial in trials.trials)},
        "tied": {len(getattr(curse, "tied", ()))},
        "best": {len(getattr(curse, "tied", ())) + 1},
        "more": {
            len(getattr(curse, "tied", ())) - 24,
            *(len(trials.params) - shown for shown in (3, 10)),
        },
        "all": {len(trials.params)},
        "equal": {getattr(curse, "optimism_if_equal", math.nan)},
        "error": {getattr(curse, "standard_error", math.nan)},
        "confidence": {0.95},
        "optimism": {getattr(curse, "optimism", math.nan)},
        "expected": {getattr(curse, "corrected", math.nan)},
        "expected_value": {getattr(curse, "corrected", math.nan)},
        "expected_value_low": {getattr(curse, "low", math.nan)},
        "expected_value_high": {getattr(curse, "high", math.nan)},
        "expected_low": {getattr(curse, "low", math.nan)},
        "expected_high": {getattr(curse, "high", math.nan)},
    }
    if done:
        shares = {} if isinstance(of.importance, Undefined) else dict(of.importance.shares)
        sign = of.objective.sign
        best = sign * max(sign * trial.values[of.at] for trial in done)
        known |= {"best_value": {best}, "observed": {best}, "last": {best}}
        known["covered"] = (
            {sum(shares[name] for name in of.leading(n)) for n in range(1, 5)} if shares else set()
        )
        known["median"] = {float(np.median([trial.values[of.at] for trial in done]))}
    return known.get(name, set())


@pytest.mark.parametrize("kind", KINDS)
def test_every_study_has_a_page(kind: str) -> None:
    made = KINDS[kind]()
    page = render(made)
    assert page == render(made)
    root = html5lib.parse(page, treebuilder="etree")
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    headings = [e for e in root.iter() if str(e.tag).endswith("}h1")]
    assert len(headings) == 1
    assert not re.search(r"(?<![\w-])(nan|None|inf)(?![\w-])", "".join(headings[0].itertext()))
    assert len(page.encode()) < 250_000


@pytest.mark.parametrize("kind", ["single", "two goals", "minimised", "one", "wide", "not finite"])
def test_sentences_say_what_the_trials_say(kind: str) -> None:
    made = KINDS[kind]()
    found = [s for section in parts(made) for s in sentences(section)]
    numbers = [(number, s) for s in found for number in s.numbers if number.name != "lanes"]
    assert numbers
    for number, sentence in numbers:
        wanted = values(made, number.name)
        assert any(math.isclose(number.value, value, rel_tol=1e-12) for value in wanted), (
            number,
            wanted,
            sentence.text,
        )


def headline(made: Study) -> str:
    section = PANELS[0](made)
    assert section is not None
    sentence: Sentence = section.body.headline
    return sentence.text


def test_headlines() -> None:
    assert headline(minimised()).startswith("The best of 3 complete trials reaches log_loss 0.4;")
    assert headline(failed()) == "No trial completed: 2 were started."
    assert headline(one()) == "The only complete trial reaches accuracy 0.5."
    assert "on the Pareto front" in headline(two_goals())


def test_the_winner_and_both_ends_have_the_same_decimals() -> None:
    """They said "between 0.8077 and 0.895"."""
    made = study(Trials.from_records([{"value": v} for v in (0.857, 0.84, 0.835)], objectives="accuracy"))
    best, expected = PANELS[0](made).body.forest.rows  # type: ignore[union-attr]
    reported = (best.estimate, expected.estimate, *expected.interval.split(" to "))
    assert {len(shown.partition(".")[2]) for shown in reported} == {3}, reported
    assert float(best.estimate) > float(expected.estimate)


def test_hostile_names_keep_the_tree() -> None:
    plain = tuple(f"name{place}" for place in range(len(CORPUS)))
    hostile_page, plain_page = render(named(CORPUS)), render(named(plain))
    tags = [[tag for _, tag, _ in shape(page)] for page in (hostile_page, plain_page)]
    assert set(tags[0]) == set(tags[1])
    assert tags[0].count("{http://www.w3.org/1999/xhtml}script") == 2
    assert "\x00" not in hostile_page


def test_a_run_reports_every_objective() -> None:
    made = two_goals()
    found = study_metrics(made, "eval/")
    accuracies, seconds = zip(*(trial.values for trial in made.trials.trials), strict=True)
    assert found["eval/sweep/best/accuracy"] == max(accuracies)
    assert found["eval/sweep/best/seconds"] == min(seconds)
    assert found["eval/sweep/n_front"] == len(made.trials.pareto())
    assert 0 < found["eval/sweep/optimism/accuracy"] < 0.1
    assert "eval/sweep/optimism/seconds" not in found
    for goal in ("accuracy", "seconds"):
        shares = [found[f"eval/sweep/importance/{goal}/{name}"] for name in ("a", "b")]
        assert sum(shares) == pytest.approx(1)
    alone = study_metrics(single(), "eval/")
    assert "eval/sweep/optimism" in alone
    assert "eval/sweep/n_front" not in alone


def test_what_matters_is_drawn_where_there_is_no_room_for_all() -> None:
    made = wide()
    assert {"p13", "p14"} <= set(made.leading(2)) and len(made.leading(10)) == 10
    body = {section.id: section.body for section in parts(made)}
    assert {"p13", "p14"} <= {chart.title for chart in body["slices"][0].parts}
    parallel = body["parallel"][0].parts[0]
    assert {"p13", "p14"} <= {pole.name for pole in parallel.poles}
    titles = [chart.title for chart in body["slices"][0].parts]
    assert titles == list(made.leading(3))
    assert list(made.leading(10)) == [pole.name for pole in parallel.poles[:-1]]
    assert not isinstance(made.importance, Undefined)
    shares = dict(made.importance.shares)
    assert shares[titles[0]] == max(shares.values())
    line = body["verdict"].below.text
    names, total = made.leading(15), 0.0
    needed = next(n for n in range(1, 16) if sum(shares[name] for name in names[:n]) >= 0.5)
    total = sum(shares[name] for name in names[:needed])
    assert all(f"{name} " in line for name in names[:needed]) and f"{names[needed]} " not in line
    end = f"{percent(total, 100)} of the importance of 15 parameters."
    assert needed <= 4 and line.endswith(end)
    assert (len(body["slices"][0].parts), len(parallel.poles)) == (3, 11)


def test_the_page_has_bias_importance_and_parameters_of_each_objective() -> None:
    ids = [section.id for section in parts(two_goals())]
    for name in ("bias", "importance", "slices"):
        assert {name, f"{name}-1"} <= set(ids)
    titles = [section.title for section in parts(two_goals())]
    assert "Selection bias: seconds" in titles
    assert not any(": " in section.title for section in parts(single()))


def in_order(values: list[float]) -> Study:
    return study(
        Trials.from_records([{"value": v, "params": {"a": v}} for v in values], objectives="accuracy")
    )


@pytest.mark.parametrize("best_first", [True, False])
def test_a_search_that_never_beats_its_first_trial_is_reported(best_first: bool) -> None:
    values = np.linspace(0.9, 0.3, 30).round(4).tolist()
    made = in_order(values if best_first else [*values[1:], values[0]])
    section = PANELS[0](made)
    assert section is not None
    body = section.body
    wrong = [one.title for one in body.wrong]
    assert (
        any(title.startswith("No later trial is better than the first one") for title in wrong) == best_first
    )


def test_the_first_screen_compares_the_best_with_the_median_and_contradicts_nothing() -> None:
    values = [0.401, 0.907, 0.503, 0.604, 0.705]
    section = PANELS[0](in_order(values))
    assert section is not None
    body = section.body
    best, corrected = body.forest.rows
    assert best.gloss.text.endswith("; median of all trials 0.604")
    assert corrected.gloss.text == "corrected for selection bias"
    assert "worst" not in body.left.level_text
    decimals = {len(shown.estimate.partition(".")[2]) for shown in (best, corrected)}
    assert len(decimals) == 1 and f"accuracy {best.estimate};" in headline(in_order(values))


def test_parameters_without_known_importance_are_not_listed_where_they_are_many() -> None:
    made = wide()
    assert not PANELS[0](replace(made, importance=Undefined("not computed"))).body.below  # type: ignore[union-attr]
    few = single()
    assert PANELS[0](replace(few, importance=Undefined("not computed"))).body.below  # type: ignore[union-attr]
