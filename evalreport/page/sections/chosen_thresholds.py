"""The sections of a page of chosen thresholds: first screen, constraints, accuracy targets, labels, curves."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator

import numpy as np

from evalreport.core.format import Style, brief, count, number, percent, show
from evalreport.core.format import threshold as threshold_text
from evalreport.core.result import (
    Estimate,
    Result,
    Undefined,
    format_estimate,
    format_reference,
    interval,
    shown_value,
)
from evalreport.core.sentences import NOTHING, Sentence, paragraph, reference_sentence, say, truncate_name
from evalreport.curves.class_curves import MulticlassCurves
from evalreport.evaluation.evaluation import PLAIN, Selected, ThresholdSelection
from evalreport.findings.rule import spoken
from evalreport.metrics.catalogue import find
from evalreport.page.charts import (
    BOTTOM,
    TOP,
    Axes,
    Chart,
    Label,
    Path,
    clearest,
    pad_range,
    place_label,
    x_axis,
    y_axis,
)
from evalreport.page.elements import (
    Cell,
    Column,
    Forest,
    ForestRow,
    Note,
    PagePart,
    Row,
    Section,
    Table,
    TwoColumns,
    forest_row,
)
from evalreport.page.evaluation_terms import (
    confidence_percent,
    defined_or_none,
    objective_style,
    objective_title,
    of_weights,
    one_threshold,
    tell,
    units,
)
from evalreport.page.sections.choices import how, tuned_table
from evalreport.page.sections.curves import evenly_spaced_places
from evalreport.page.sections.first_screen import (
    DRAWN,
    LEFT,
    RIGHT,
    CountBars,
    FirstScreen,
    Look,
    Mark,
    Price,
    Strip,
    SummaryItem,
    Tick,
    check_skill,
    make_bar,
    pictures,
    run_checks,
    score_height,
)
from evalreport.page.sections.headline import WORDS, Warned, brief_row, format_day
from evalreport.page.sections.threshold_table import (
    COIN,
    ROUGH,
    NamedThreshold,
    candidates,
    explain_no_recommendation,
    likely,
    recommended_candidate,
    threshold_summary,
    without_gain,
)
from evalreport.page.trial_history import READ, history_chart, history_view
from evalreport.thresholds.best_threshold import Cutoff, Hold, Optimum, OutOfSample, Tuned, Unreachable
from evalreport.thresholds.objectives import Objective


def bounds(found: ThresholdSelection) -> Section | None:
    """Return one row per constraint of a label or class, or of all labels together."""
    wanted = {name: best for name, best in found.found.items() if isinstance(best, Optimum)}
    if not wanted:
        return None
    hold = found.evaluation.sampling.constraint_confidence
    heads = ("Constraint", "Threshold", "Reached here", "Probability on new data", "Held-out estimate")
    titles = heads if hold is None else (*heads, f"Met with {percent(hold, ROUGH)} confidence")
    table = Table.from_rows(
        "bounds-table", "Table of constraints", titles, (_bound_row(*pair) for pair in wanted.items())
    )
    summary = say("A label is assigned when its score is at least its threshold.")
    if hold is not None and len(wanted) > 1:
        summary += say(
            "Each of {bounds:count} constraints is met with {hold:percent} confidence; expect about {broken} to be violated.",
            bounds=len(wanted),
            hold=hold,
            broken=f"{(1 - hold) * len(wanted):.2g}",
            of=ROUGH,
        )
    return Section.from_parts("bounds", "Constraints", "Constraints", summary, table)


def _bound_row(name: str, best: Optimum) -> Row:
    bound, other = best.constraint, best.out_of_sample
    kept = "–" if bound is None else show(bound.in_sample, objective_style(bound.metric))
    value = None if other is None else other.value
    expected = Cell("–")
    if isinstance(value, Estimate):
        style, title = objective_style(best.metric), objective_title(best.metric)
        limits = interval(value, style)
        expected = Cell(format_estimate(value, style), sub=title if limits == "–" else f"{title}, {limits}")
    return (
        objective_title(name),
        threshold_text(best.threshold),
        kept,
        "–" if best.chance is None else percent(best.chance, ROUGH),
        expected,
        *(() if best.at_confidence is None else (held_cell(best.at_confidence),)),
    )


def held_cell(hold: Hold) -> Cell:
    """Return the threshold that meets a constraint with confidence and what it costs, or why there is none."""
    if hold.threshold is None or hold.costs is None:
        return Cell("–", sub=hold.reason or "")
    costs = hold.costs
    if costs.value is None:
        return Cell(threshold_text(hold.threshold))
    style, title = objective_style(costs.metric), objective_title(costs.metric)
    if costs.metric == "coverage":
        style, title = "percent", "decided"
    explanation = f"{title} {show(costs.value, style)}, not {show(costs.instead_of, style)}"
    return Cell(threshold_text(hold.threshold), sub=explanation)


def cutoffs(found: ThresholdSelection) -> Section | None:
    """Return one row per accuracy target."""
    others = (Tuned, Optimum)
    wanted = {
        name: best for name, best in found.found.items() if not isinstance(best, others) and "[" not in name
    }
    if not wanted:
        return None
    level = confidence_percent(found.evaluation)
    heads = ("Target", "Confidence threshold", "Interval", "Decided", "Correct", "Decided, held-out")
    titles: tuple[str, ...] = (*heads, f"{level} interval", "Correct, held-out", f"{level} interval")
    hold = found.evaluation.sampling.constraint_confidence
    titles += () if hold is None else (f"Met with {percent(hold, ROUGH)} confidence",)
    table = Table.from_rows(
        "cutoffs-table",
        "Table of accuracy targets",
        titles,
        (_cutoff_row(name, best, hold) for name, best in wanted.items()),
    )
    note = Note(say("Predictions below the confidence threshold are left to a person or another model."))
    return Section.from_parts("cutoffs", "Accuracy targets", "Accuracy targets", NOTHING, table, note)


def _cutoff_row(name: str, best: Selected, hold: float | None) -> Row:
    title = objective_title(name)
    if not isinstance(best, Cutoff):
        reason = best.reason if isinstance(best, Undefined | Unreachable) else ""
        return (Cell(title, sub=reason), *["–"] * (8 if hold is None else 9))
    coverage, kept = best.out_of_sample.value, best.out_of_sample.kept or Undefined("not computed")
    return (
        title,
        threshold_text(best.threshold),
        f"{threshold_text(best.low)} to {threshold_text(best.high)}",
        format_reference(best.coverage, coverage, "percent"),
        format_reference(best.accuracy, kept, "percent"),
        *(
            text
            for result in (coverage, kept)
            for text in (shown_value(result, "percent"), interval(result, "percent"))
        ),
        *(() if best.at_confidence is None else (held_cell(best.at_confidence),)),
    )


CONTROLS = 12
"""Fewest labels for which the table has controls."""


def tuned_section(found: ThresholdSelection) -> Section | None:
    """Return what the chosen thresholds or weights reach together."""
    if not found.tuned_choices:
        return None
    table = tuned_table("tuned-table", list(found.tuned_choices.values()))
    return Section.from_parts("tuned", "Held-out results", "Held-out results", NOTHING, table)


def labels_section(found: ThresholdSelection) -> Section | None:
    """Return the threshold of each label or weight of each class, those with most examples first."""
    if not found.tuned_choices:
        return None
    ev = found.evaluation
    weights = ev.task == "multiclass"
    noun, what = ("classes", "Weights") if weights else ("labels", "Thresholds")
    heads = (
        Column("Class" if weights else "Label", "", "up"),
        Column(units(ev).capitalize(), "n", "down", "descending"),
        *(Column(objective_title(name), "n", "up") for name in found.tuned_choices),
    )
    entries = sorted(ev.in_rows().classes, key=lambda entry: -entry.support)
    rows: Iterable[Row] = (
        (
            str(entry.label),
            Cell(count(entry.support), sort=entry.support),
            *(_cell(best.values[str(entry.label)], weights=weights) for best in found.tuned_choices.values()),
        )
        for entry in entries
    )
    table = Table.from_rows(
        f"{noun}-table",
        f"Table of {noun}",
        heads,
        rows,
        tall=True,
        noun=noun if len(entries) >= CONTROLS else "",
        find=f"part of a {'class' if weights else 'label'} name",
    )
    summary = say(
        "Each probability is multiplied by the weight of its class; the class with the highest product is predicted."
        if weights
        else "A label is assigned when its score is at least its threshold; “above all” is never assigned."
    )
    title = f"{what} of {noun}"
    return Section.from_parts(noun, title, title, summary, table)


def _cell(value: float, *, weights: bool) -> Cell:
    shown = number(value) if weights else threshold_text(value)
    return Cell(shown, sort=value if math.isfinite(value) else None)


def searches(found: ThresholdSelection) -> Section | None:
    """Return the history of each search."""
    searched = [best.trials for best in found.tuned_choices.values() if best.trials is not None]
    if not searched:
        return None
    charts = (history_chart(history_view(trials), place) for place, trials in enumerate(searched))
    summary = READ + say("The first trials are the starting points.")
    return Section.from_parts("history", "Search", "Search", summary, TwoColumns(tuple(charts)))


MOST = 6
"""Objectives that have a chart."""
ROWS = 20
"""Steps of the table beside a chart."""
LETTER = 5.5
"""Width of a letter of a label, in units of the chart."""


def course(found: ThresholdSelection) -> Section | None:
    """Return the value of the first objectives at every threshold."""
    drawn = [(name, best) for name, best in found.optima.items() if name in found.objectives]
    reached = [(name, best) for name, best in drawn if math.isfinite(best.threshold)]
    charts = tuple(
        chart
        for place, (name, best) in enumerate(reached[:MOST])
        if (chart := _chart(found, found.objectives[name], best, place)) is not None
    )
    if not charts:
        return None
    summary = say("The dashed line is the best threshold; the band is its interval.")
    if len(reached) > MOST:
        summary += say("The first {drawn:count} are shown.", drawn=MOST)
    return Section.from_parts(
        "course", "Objectives by threshold", "Objectives by threshold", summary, TwoColumns(charts)
    )


def _chart(found: ThresholdSelection, objective: Objective, best: Optimum, place: int) -> Chart | None:
    sweep = found.evaluation.sweep
    if sweep is None:
        return None
    scores = np.asarray(objective.score(sweep.counts))
    kept = np.isfinite(scores) & np.isfinite(sweep.thresholds)
    if kept.sum() < 2:
        return None
    ts = sweep.thresholds[kept]
    values = -scores[kept] if objective.lower else scores[kept]
    unit = found.evaluation.score_kind == "probability"
    way = ", lower is better" if objective.lower else " ↑"
    axes = Axes(
        x_axis(*((0.0, 1.0) if unit else pad_range(ts.tolist())), "Threshold"),
        y_axis(*pad_range([*values.tolist(), best.apparent]), f"{objective_title(best.metric)}{way}"),
    )
    title = objective_title(objective.name)
    style = objective_style(best.metric)
    described = "{title} over the threshold; best at {threshold:threshold}."
    band = (
        best.threshold if best.low is None else best.low,
        best.threshold if best.high is None else best.high,
    )
    return Chart(
        id=f"course-{place}",
        title=title,
        note=NOTHING if objective.constraint is None else say("Shown where the constraint is met."),
        description=say(described, title=title, threshold=best.threshold),
        axes=axes,
        paths=(
            Path("band", axes.columns_between(band, (axes.y.low, axes.y.high))),
            Path("guide", f"M{axes.x_position(best.threshold):g} {TOP:g}V{BOTTOM:g}"),
            Path("line", axes.polyline(ts.tolist(), values.tolist())),
        ),
        labels=(_best_threshold_label(best, axes, axes.outline(ts.tolist(), values.tolist())),),
        values=_values(place, ts, values, title, style),
    )


def _best_threshold_label(best: Optimum, axes: Axes, near: np.ndarray) -> Label:
    """The best threshold in words, next to its line where it covers least of the curve."""
    at, words = axes.x_position(best.threshold), f"best {threshold_text(best.threshold)}"
    width = LETTER * len(words)
    sides = [at + 5, at - 5 - width][:: -1 if at > 200 else 1]
    spots = [(left, base) for base in (BOTTOM - 8, TOP + 12, (TOP + BOTTOM) / 2) for left in sides]
    return place_label(clearest(spots, width, near), width, words)


def _values(place: int, ts: np.ndarray, values: np.ndarray, title: str, style: Style) -> Table:
    rows = (
        (threshold_text(float(ts[at])), show(float(values[at]), style))
        for at in evenly_spaced_places(len(ts), ROWS)
    )
    heads = (Column("Threshold", "n"), title)
    return Table.from_rows(f"course-{place}-values", f"{title} at thresholds", heads, rows)


ROWS_SHOWN = 4
"""Objectives on the first screen; all are in the tables."""
PROBLEMS = 3
"""Problems in the list of the first screen."""
CHECKS = 4
"""Checks in the list of the first screen."""
MIDDLE = 0.5
"""The default threshold."""
NO_VALUE = OutOfSample(Undefined("not computed"), None, "")


def forest(found: ThresholdSelection) -> Forest:
    """Return each choice with its held-out estimate, and the value without the choice."""
    rows = [row for name, best in found.found.items() if (row := _row(found, name, best)) is not None]
    plain = {"binary": f"the threshold {MIDDLE:g}", "multilabel": f"{MIDDLE:g} for all labels"}
    without = plain.get(found.evaluation.task, "without a choice")
    level = confidence_percent(found.evaluation)
    legend = f"Held-out, {level} interval; dashed: {without}"
    return Forest(tuple(rows[:ROWS_SHOWN]), heads=("Chosen for", "Held-out", legend, without))


def _row(found: ThresholdSelection, name: str, best: Selected) -> ForestRow | None:
    """A row where values lie between 0 and 1, or -1 and 1."""
    match best:
        case Optimum() if (style := objective_style(best.metric)) != "number":
            out_of_sample = best.out_of_sample or NO_VALUE
            value, plain = out_of_sample.value, _at_half(found, name)
            row = forest_row(
                name, row_title(name, best), _gloss(name, best, plain), value, style, reference=plain
            )
            return brief_row(row, value, style)
        case Cutoff():
            gloss = say("at a confidence of at least {at}", at=threshold_text(best.threshold))
            title, coverage = f"Decided with {objective_title(name).lower()}", best.out_of_sample.value
            row = forest_row(name, title, gloss, coverage, "percent", reference=1.0)
            return brief_row(row, coverage, "percent")
        case Tuned() if (style := objective_style(name)) != "number":
            gloss = say("{how}", how=how(best))
            value, title = best.out_of_sample.value, objective_title(name)
            row = forest_row(name, title, gloss, value, style, reference=best.without)
            return brief_row(row, value, style)
        case _:
            return None


def row_title(name: str, best: Optimum) -> str:
    """Return what the value of a choice is: of a constraint the metric that is best where it is met."""
    if best.constraint is None:
        return objective_title(best.metric)
    bound = without_parentheses(objective_title(name))
    bound = bound if bound[1:2].isupper() else bound[0].lower() + bound[1:]
    return f"{without_parentheses(objective_title(best.metric))} at {bound}"


def without_parentheses(title: str) -> str:
    """Return a title without its second name: "Recall ≥ 0.95" of "Recall (sensitivity) ≥ 0.95"."""
    return re.sub(r" \([^)]*\)", "", title)


def _gloss(name: str, best: Optimum, plain: float | None) -> Sentence:
    """The threshold of a choice; the value at 0.5, and that of flagging all."""
    style = objective_style(best.metric)
    more = "" if plain is None else f"; {brief(plain, style)} at {MIDDLE:g}"
    if name == best.metric and best.no_skill is not None:
        more += f"; flagging all: {brief(best.no_skill, style)}"
    return say("at threshold {at}{more}", at=threshold_text(best.threshold), more=more)


def _at_half(found: ThresholdSelection, name: str) -> float | None:
    """The value of probabilities at a threshold of 0.5; None where the constraint is violated there."""
    if found.whole is None or found.evaluation.score_kind != "probability":
        return None
    objective = found.objectives[name]
    score = float(objective.score(found.whole.counts_at_threshold(MIDDLE)))
    return (-score if objective.lower else score) if math.isfinite(score) else None


TITLES = {
    "binary": "Decision thresholds",
    "multiclass": "Confidence thresholds and class weights",
    "multilabel": "Thresholds per label",
}


def verdict_section(found: ThresholdSelection) -> Section:
    """Return the first screen of chosen thresholds."""
    ev, advice = found.evaluation, _recommended_threshold(found)
    rows = f"{count(ev.rows)} {units(ev, ev.rows)}"
    left: PagePart | None = _decision_bars(found) or _strip(found)
    right: PagePart | None = _accuracy_by_coverage(found)
    if found.optima and found.whole is not None:
        left, right = pictures(ev, advice)
    body = FirstScreen(
        task=TITLES[ev.task],
        run=ev.provenance.title or ev.provenance.run_name,
        kicker=tuple(filter(None, (ev.provenance.dataset, rows, format_day(ev.provenance.made)))),
        headline=headline(found),
        left=left,
        right=right,
        step=advice_sentence(found) or _use_sentence(found),
        forest=forest(found),
        wrong=tuple(_problems(found))[:PROBLEMS],
        checks=tuple(_checks(found))[:CHECKS],
        author=tuple(Warned("note", WORDS["note"], text, NOTHING, "") for text in found.doubts),
        hints=(),
        command=ev.provenance.command,
        below=summary(found),
    )
    return Section("verdict", "Summary", "Summary", "first_screen", NOTHING, body)


def _recommended_threshold(found: ThresholdSelection) -> NamedThreshold | None:
    """The threshold that the page recommends."""
    if found.whole is None or not found.optima:
        return None
    named = candidates(found.evaluation, found.whole, found.optima)
    advice = recommended_candidate(found.evaluation, named, found.optima)
    return next((one for one in named if one.key == advice and one.key != "now"), None)


def _decision_bars(found: ThresholdSelection) -> CountBars | None:
    """Rows that the first accuracy target decides right and wrong, and those that it leaves to others."""
    best = next((best for best in found.found.values() if isinstance(best, Cutoff)), None)
    ev = found.evaluation
    if best is None or ev.weighted:
        return None
    decided = best.coverage * ev.rows
    right = best.accuracy * decided
    parts: list[tuple[Look, float, str]] = [
        ("ok", right, "correct"),
        ("no", decided - right, "wrong"),
        ("none", ev.rows - decided, "left to others"),
    ]
    bar = make_bar(units(ev).capitalize(), parts, words=False)
    description = say(
        "Of {n:count} {units} {correct:count} are decided correctly, {wrong:count} wrongly, {others:count} not.",
        {"n": ev.rows, "correct": right, "wrong": decided - right, "others": ev.rows - decided},
        units=units(ev),
    )
    return CountBars((bar,), description, tuple((look, count(n), text) for look, n, text in parts))


def _accuracy_by_coverage(found: ThresholdSelection) -> Price | None:
    """How many predictions are correct by how many are made, with the accuracy targets as marks."""
    cuts = [best for best in found.found.values() if isinstance(best, Cutoff)]
    curves = defined_or_none(found.evaluation.curves)
    if not cuts or not isinstance(curves, MulticlassCurves) or isinstance(curves.coverage, Undefined):
        return None
    curve = curves.coverage
    low = math.floor(min(*curve.y, *(cut.accuracy for cut in cuts)) * 10 - 1e-9) / 10
    if low >= 1:
        return None

    def placed(coverage: float, accuracy: float) -> tuple[float, float]:
        return round(LEFT + (RIGHT - LEFT) * coverage, 2), score_height((accuracy - low) / (1 - low))

    points = [placed(x, y) for x, y in zip(curve.x, curve.y, strict=True)]
    marks = tuple(
        Mark("best", *placed(cut.coverage, cut.accuracy), threshold_text(cut.threshold), end=True, below=True)
        for cut in cuts
    )
    return Price(
        "accuracy-by-coverage",
        "Accuracy of the predictions that are made",
        say("Proportion of correct predictions by the proportion of predictions that are made."),
        "M" + "L".join(f"{x:g} {y:g}" for x, y in points),
        tuple(Tick(placed(at, low)[0], brief(at, "percent")) for at in (0.0, 0.25, 0.5, 0.75)),
        tuple(Tick(placed(0, at)[1], brief(at, "percent")) for at in (low, 1.0)),
        marks,
        "Correct",
        "Decided; dots: confidence thresholds",
    )


def _strip(found: ThresholdSelection) -> Strip | None:
    """The chosen threshold of each label, lowest left; None of weights and without probabilities."""
    tuned = next(iter(found.tuned_choices.values()), None)
    ev = found.evaluation
    if tuned is None or ev.task != "multilabel" or ev.score_kind != "probability":
        return None
    known = sorted((at, name) for name, at in tuned.values.items() if 0 <= at <= 1)
    if not 1 < len(known) <= DRAWN:
        return None
    step = (RIGHT - LEFT) / len(known)
    top = next(end for end in (0.1, 0.2, 0.5, 1.0) if known[-1][0] <= end)
    dots = (f"M{LEFT + step * (k + 0.5):.1f} {score_height(at / top)}h0" for k, (at, _) in enumerate(known))
    title = f"Threshold of each label for {objective_title(tuned.objective)}, lowest left"
    return Strip(
        "label-thresholds",
        title,
        say("The chosen threshold of each of {labels:count} labels.", labels=len(known)),
        "".join(dots),
        "",
        tuple(Tick(score_height(at), f"{at * top:g}") for at in (0.0, 0.5, 1.0)),
        truncate_name(known[0][1], 24),
        truncate_name(known[-1][1], 24),
    )


def _problems(found: ThresholdSelection) -> Iterator[SummaryItem]:
    """Objectives without a result, and constraints that new data may violate."""
    for name, reason in found.missing.items():
        yield SummaryItem(f"{objective_title(name)}: no result", reason, "", "failed")
    for name, best in found.optima.items():
        if best.chance is not None and not likely(best):
            bound = without_parentheses(objective_title(name))
            low, high = COIN
            how = "as likely violated as met" if low <= best.chance <= high else "not certain to be met"
            title = f"{bound}: {'probably violated' if best.chance < low else how}"
            words = say("met with probability {chance:percent} on new data", chance=best.chance, of=ROUGH)
            yield SummaryItem(title, words, "bounds", "failed")
    for name, tuned in found.tuned_choices.items():
        value = tuned.out_of_sample.value
        if isinstance(value, Undefined):
            yield SummaryItem(f"{objective_title(name)}: no held-out estimate", value.reason, "", "failed")


def _checks(found: ThresholdSelection) -> Iterator[SummaryItem]:
    """Whether the values are held-out, and what the data say of the scores."""
    ev = found.evaluation
    if found.tuned_on:
        yield SummaryItem("Chosen on other data", found.tuned_on)
    else:
        yield SummaryItem("Cross-fitted", "chosen on nine folds, evaluated on the tenth")
    yield from check_skill(ev)
    yield from (one for one in run_checks(ev) if one.state != "passed")


def headline(found: ThresholdSelection) -> Sentence:
    """Return what was chosen for the first objective, with its held-out estimate.

    Objectives without a value are skipped; a constraint that no threshold meets is reported.
    """
    name, best = next(
        ((name, best) for name, best in found.found.items() if not isinstance(best, Undefined)),
        next(iter(found.found.items())),
    )
    match best:
        case Optimum():
            why = explain_no_recommendation(found.evaluation)
            return say("_No threshold is recommended_: {why}.", why=why) if why else _threshold(name, best)
        case Cutoff():
            return _cutoff(found, best)
        case Tuned():
            return _several(found, name, best)
        case Unreachable() | Undefined():
            return say("_Nothing can be chosen_: {reason}.", reason=best.reason)


def _cutoff(found: ThresholdSelection, best: Cutoff) -> Sentence:
    """How often it is correct and how much it leaves undecided, held-out where that is known."""
    kept, coverage = best.out_of_sample.kept, best.out_of_sample.value
    known = isinstance(coverage, Estimate) and isinstance(kept, Estimate)
    right = kept.value if isinstance(kept, Estimate) and known else best.accuracy
    left = 1 - (coverage.value if isinstance(coverage, Estimate) and known else best.coverage)
    return tell(
        found.evaluation,
        "At a confidence of at least {threshold:threshold}, {right:percent} of predictions are correct and "
        "_{left:percent} of {units}_ are left undecided.",
        threshold=best.threshold,
        right=right,
        left=left,
    )


def _threshold(name: str, best: Optimum) -> Sentence:
    values = _in_sample_and_held_out(
        best.apparent, best.out_of_sample.value if best.out_of_sample else None, best.metric
    )
    title = objective_title(name)
    if best.constraint is None:
        words = "{title} is best at threshold *{threshold:threshold}*: {values}"
        return say(words, title=title, threshold=best.threshold, values=values)
    if best.at_confidence is not None:
        return _constraint_sentence(title, best)
    at = say("{title} is met here at {threshold:threshold}", title=title, threshold=best.threshold)
    if best.chance is not None:
        words = "{at}, and on new data with a probability of *{chance:percent}*"
        at = say(words, at=at, chance=best.chance, of=ROUGH)
    return say("{at}. {metric}: {values}", at=at, metric=objective_title(best.metric), values=values)


def _constraint_sentence(title: str, best: Optimum) -> Sentence:
    """The threshold that meets a constraint with confidence and what it costs, or why there is none."""
    hold = best.at_confidence
    assert hold is not None  # noqa: S101  asked before
    if hold.threshold is None or hold.costs is None:
        return say("{title} _{reason}_.", title=title, reason=hold.reason or "")
    at = say(
        "{title} is met on new data with {confidence:percent} confidence at *{held:threshold}*",
        title=title,
        confidence=hold.confidence,
        held=hold.threshold,
        of=ROUGH,
    )
    style = objective_style(best.metric)
    reached = hold.costs.value
    if reached is None or show(reached, style) == show(best.apparent, style):
        return say("{at}.", at=at)
    return say(
        "{at}; {metric} is {held_value:" + style + "} there, not {apparent:" + style + "}.",
        at=at,
        metric=objective_title(best.metric),
        held_value=reached,
        apparent=best.apparent,
    )


def _in_sample_and_held_out(apparent: float, held_out: Result | None, metric: str) -> Sentence:
    style = objective_style(metric)
    if not isinstance(held_out, Estimate):
        return say("{apparent:" + style + "} in-sample.", apparent=apparent)
    in_sample = reference_sentence("apparent", apparent, held_out, style)
    held_out_text = f"*{{held_out:{style}}}*"
    words = f"{held_out_text} on held-out data, {{in_sample}} in-sample."
    if format_estimate(held_out, style) == in_sample.text:
        words = f"{held_out_text}, also on held-out data."
    return say(words, in_sample=in_sample, held_out=held_out)


def _several(found: ThresholdSelection, name: str, best: Tuned) -> Sentence:
    what = "One weight per class" if found.evaluation.task == "multiclass" else "One threshold per label"
    values = _in_sample_and_held_out(best.apparent, best.out_of_sample.value, name)
    return say(what + " for {title}: {values}", title=objective_title(name), values=values)


def summary(found: ThresholdSelection) -> Sentence:
    """Return how rows are weighted."""
    return paragraph(of_weights(found.evaluation))


def advice_sentence(found: ThresholdSelection) -> Sentence:
    """The one thing to do: use the recommended threshold or keep the one in use."""
    if found.whole is None or not found.optima:
        return NOTHING
    best, now = next(iter(found.optima.values())), one_threshold(found.evaluation)
    if explain_no_recommendation(found.evaluation):  # which the headline says
        return NOTHING
    in_use = without_gain(found.evaluation, best)
    if in_use is not None:
        other = best.out_of_sample.value if best.out_of_sample else Undefined("")
        here = reference_sentence("in_use", in_use, other, objective_style(best.metric))
        words = (
            "Keep the threshold in use, {threshold:threshold}: on held-out data the chosen one is not better "
        )
        return say(words + "than {in_use}.", in_use=here, threshold=math.nan if now is None else now)
    advice = _recommended_threshold(found)
    if advice is None and not likely(best):
        return say("No threshold is recommended: new data may violate the constraint.")
    named = candidates(found.evaluation, found.whole, found.optima)
    return threshold_summary(named, None if advice is None else advice.key)


def _use_sentence(found: ThresholdSelection) -> Sentence:
    """What to do with the choices of labels and classes, and what the first one is without a choice."""
    name, best = next(iter(found.found.items()))
    if isinstance(best, Cutoff):
        words = "Choose the accuracy that you need, and leave {units} below its confidence to a person."
        return tell(found.evaluation, words)
    if not isinstance(best, Tuned) or best.without is None:
        return NOTHING
    plain = next(words for start, words in PLAIN.items() if start in best.starts)
    value, style = best.out_of_sample.value, objective_style(name)
    without = reference_sentence("without", best.without, value, style)
    metric = find(name, found.evaluation.task)
    gain = -1 if metric.better == "lower" else 1
    if isinstance(value, Estimate) and gain * value.value <= gain * best.without:
        words = "Keep {plain}: on held-out data {title} is {without} with it."
    else:
        words = "Use these {what}: with {plain} {title} would be {without}."
    what = "weights" if found.evaluation.task == "multiclass" else "thresholds"
    return say(words, what=what, plain=plain, title=spoken(objective_title(name)), without=without)
