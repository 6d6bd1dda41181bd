"""Bounds and cut-offs: what the sample suggests, how likely it is to last, and what holds.

Thresholds of labels and weights of classes: what they reach, each of them, and how Optuna searched.

Each objective as a curve over the threshold.

The first screen of a page of thresholds: the best one, here and elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from evalreport.core.estimate_format import format_estimate, format_reference, interval, shown_value
from evalreport.core.format import Style, count, number, percent, show
from evalreport.core.format import threshold as threshold_text
from evalreport.core.result import Estimate, Result, Undefined
from evalreport.core.sentences import NOTHING, Sentence, paragraph, reference_sentence, say
from evalreport.evaluation.threshold_selection import PLAIN, Selected, ThresholdSelection
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
    Row,
    Section,
    Table,
    TwoColumns,
    forest_row,
)
from evalreport.page.evaluation_terms import (
    complement,
    confidence_percent,
    objective_style,
    objective_title,
    of_weights,
    one_threshold,
    tell,
    units,
)
from evalreport.page.sections.appendix import in_utc
from evalreport.page.sections.choices import how, tuned_table
from evalreport.page.sections.curves import evenly_spaced_places
from evalreport.page.sections.headline import MOST as VERDICT_MOST
from evalreport.page.sections.headline import WORDS, Verdict, Warned
from evalreport.page.sections.threshold_table import (
    COIN,
    ROUGH,
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
    """Return one row per bound of a label or class, or of all labels together."""
    wanted = {name: best for name, best in found.found.items() if isinstance(best, Optimum)}
    if not wanted:
        return None
    hold = found.evaluation.sampling.constraint_confidence
    heads = ("Bound", "Threshold here", "Kept here", "Chance on new rows", "Expect elsewhere")
    titles = heads if hold is None else (*heads, f"Held with {percent(hold, ROUGH)}")
    table = Table.from_rows("bounds-table", "Bounds", titles, (_bound_row(*pair) for pair in wanted.items()))
    summary = say("A label is set when its score is at least its threshold; each bound is kept by itself.")
    if hold is not None and len(wanted) > 1:
        summary += say(
            "Of {bounds:count} bounds that hold with {hold:percent} confidence each, {broken} may break.",
            bounds=len(wanted),
            hold=hold,
            broken=f"{(1 - hold) * len(wanted):.2g}",
            of=ROUGH,
        )
    note = Note(say("“Elsewhere” is on rows that took no part in the choice."))
    return Section.from_parts("bounds", "Bounds", "Bounds and what holds them", summary, table, note)


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
    """Return the threshold that holds with what it costs, or why none does."""
    if hold.threshold is None or hold.costs is None:
        return Cell("–", sub=hold.reason or "")
    costs = hold.costs
    if costs.value is None:
        return Cell(threshold_text(hold.threshold))
    style, title = objective_style(costs.metric), objective_title(costs.metric)
    if costs.metric == "coverage":
        style, title = "percent", "answered"
    told = f"{title} {show(costs.value, style)}, not {show(costs.instead_of, style)}"
    return Cell(threshold_text(hold.threshold), sub=told)


def cutoffs(found: ThresholdSelection) -> Section | None:
    """Return one row per wanted accuracy."""
    others = (Tuned, Optimum)
    wanted = {
        name: best for name, best in found.found.items() if not isinstance(best, others) and "[" not in name
    }
    if not wanted:
        return None
    level = confidence_percent(found.evaluation)
    heads = ("Wanted", "Confidence from", "Its interval", "Answered", "Right", "Answered elsewhere")
    titles: tuple[str, ...] = (*heads, f"{level} interval", "Right elsewhere", f"{level} interval")
    hold = found.evaluation.sampling.constraint_confidence
    titles += () if hold is None else (f"Held with {percent(hold, ROUGH)}",)
    table = Table.from_rows(
        "cutoffs-table", "Cut-offs", titles, (_cutoff_row(name, best, hold) for name, best in wanted.items())
    )
    note = Note(say("What is less sure than the cut-off is left to a person, or to another model."))
    return Section.from_parts("cutoffs", "Wanted accuracy", "How sure is sure enough", NOTHING, table, note)


def _cutoff_row(name: str, best: Selected, hold: float | None) -> Row:
    title = objective_title(name)
    if not isinstance(best, Cutoff):
        reason = best.reason if isinstance(best, Undefined | Unreachable) else ""
        return (Cell(title, sub=reason), *["–"] * (8 if hold is None else 9))
    coverage, kept = best.out_of_sample.value, best.out_of_sample.kept or Undefined("not worked out")
    return (
        title,
        threshold_text(best.threshold),
        f"{threshold_text(best.low)} to {threshold_text(best.high)}",
        format_reference(best.coverage, coverage, "percent"),
        format_reference(best.accuracy, kept, "percent"),
        *(
            told
            for result in (coverage, kept)
            for told in (shown_value(result, "percent"), interval(result, "percent"))
        ),
        *(() if best.at_confidence is None else (held_cell(best.at_confidence),)),
    )


CONTROLS = 12
"""Labels from which on the table has controls to search and sort it."""


def tuned_section(found: ThresholdSelection) -> Section | None:
    """Return what the numbers of each objective reach together."""
    if not found.tuned_choices:
        return None
    note = tell(found.evaluation, "“Elsewhere” is judged on {units} that took no part in the choice.")
    table = tuned_table("tuned-table", list(found.tuned_choices.values()))
    return Section.from_parts(
        "tuned", "What is reached", "What the chosen numbers reach", NOTHING, table, Note(note)
    )


def labels_section(found: ThresholdSelection) -> Section | None:
    """Return the number of each label, for each objective; labels with most examples first."""
    if not found.tuned_choices:
        return None
    ev = found.evaluation
    weights = ev.task == "multiclass"
    noun = "classes" if weights else "labels"
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
        f"Numbers of {noun}",
        heads,
        rows,
        tall=True,
        noun=noun if len(entries) >= CONTROLS else "",
        find=f"part of a {'class' if weights else 'label'} name",
    )
    summary = say(
        "Each probability is multiplied with the weight of its class; the greatest product is the answer."
        if weights
        else "A label is set when its score is at least its threshold; “above all” is never set."
    )
    return Section.from_parts(noun, noun.capitalize(), "One number for each", summary, table)


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
    return Section.from_parts("history", "Search", "How the search went", summary, TwoColumns(tuple(charts)))


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
        summary += say("Only the first {drawn:count} are drawn.", drawn=MOST)
    return Section.from_parts(
        "course", "Objectives", "Every objective over the threshold", summary, TwoColumns(charts)
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
        note=NOTHING if objective.constraint is None else say("Drawn where the bound is kept."),
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
    """The best threshold in words, beside its guide where it covers least of the line."""
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


VERDICT_ROWS = 7
"""Objectives that the first screen has room for; all are in the table."""
MIDDLE = 0.5
"""The threshold that everybody has who chose none."""
NO_VALUE = OutOfSample(Undefined("not worked out"), None, "")


def forest(found: ThresholdSelection) -> Forest:
    """Return each choice with its value elsewhere, and what is reached without it."""
    rows = [row for name, best in found.found.items() if (row := _row(found, name, best)) is not None]
    without = "At 0.5" if found.evaluation.task == "binary" else "Without"
    heads = ("Chosen for", "Elsewhere", f"{confidence_percent(found.evaluation)} interval", without)
    return Forest(tuple(rows[:VERDICT_ROWS]), heads=heads)


def _row(found: ThresholdSelection, name: str, best: Selected) -> ForestRow | None:
    """A row where values lie between 0 and 1, or -1 and 1."""
    match best:
        case Optimum() if (style := objective_style(best.metric)) != "number":
            out_of_sample = best.out_of_sample or NO_VALUE
            gloss = _gloss(name, best)
            return forest_row(
                name,
                objective_title(name),
                gloss,
                out_of_sample.value,
                style,
                reference=_at_half(found, name),
            )
        case Cutoff():
            gloss = say("share answered, from a confidence of {at} on", at=threshold_text(best.threshold))
            return forest_row(
                name, objective_title(name), gloss, best.out_of_sample.value, "percent", reference=1.0
            )
        case Tuned() if (style := objective_style(name)) != "number":
            gloss = say("{how}", how=how(best))
            value, title = best.out_of_sample.value, objective_title(name)
            return forest_row(name, title, gloss, value, style, reference=best.without)
        case _:
            return None


def _gloss(name: str, best: Optimum) -> Sentence:
    at = threshold_text(best.threshold)
    if name == best.metric:
        level = (
            "" if best.no_skill is None else f"; flagging all {show(best.no_skill, objective_style(name))}"
        )
        return say("at a threshold of {at}{level}", at=at, level=level)
    return say("{metric} at a threshold of {at}", metric=objective_title(best.metric), at=at)


def _at_half(found: ThresholdSelection, name: str) -> float | None:
    """The value at a threshold of 0.5, of probabilities; none where the bound is missed there."""
    if found.whole is None or found.evaluation.score_kind != "probability":
        return None
    objective = found.objectives[name]
    score = float(objective.score(found.whole.counts_at_threshold(MIDDLE)))
    return (-score if objective.lower else score) if math.isfinite(score) else None


TITLES = {
    "binary": "Decision thresholds",
    "multiclass": "Cut-offs and class weights",
    "multilabel": "Thresholds of labels",
}


def verdict_section(found: ThresholdSelection) -> Section:
    """Return the verdict of a choice."""
    ev = found.evaluation
    rows = f"{count(ev.rows)} {units(ev, ev.rows)}"
    warnings = tuple(Warned("note", WORDS["note"], text, NOTHING, "") for text in found.doubts)
    body = Verdict(
        task=TITLES[ev.task],
        run=ev.provenance.title or ev.provenance.run_name,
        kicker=tuple(filter(None, (ev.provenance.dataset, rows, in_utc(ev.provenance.made)))),
        headline=headline(found),
        summary=summary(found),
        forest=forest(found),
        warnings=warnings[:VERDICT_MOST],
        more=warnings[VERDICT_MOST:],
    )
    return Section("verdict", "Verdict", "Verdict", "verdict", NOTHING, body)


def headline(found: ThresholdSelection) -> Sentence:
    """Return what was chosen for the first objective, and what it is worth elsewhere.

    An objective without a value is passed over; a constraint that no threshold meets is reported.
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
    """How often it is right and how much it leaves, on rows that took no part where that is known."""
    kept, coverage = best.out_of_sample.kept, best.out_of_sample.value
    known = isinstance(coverage, Estimate) and isinstance(kept, Estimate)
    right = kept if isinstance(kept, Estimate) and known else best.accuracy
    left = complement(coverage) if isinstance(coverage, Estimate) and known else 1 - best.coverage
    expected = ("expect it to be", "and to leave") if known else ("it is", "and leaves")
    words = f"Answering from a confidence of {{threshold:threshold}} on, {expected[0]} right for "
    words += f"{{right:percent}} {expected[1]} _{{left:percent}}_ to others."
    return say(words, threshold=best.threshold, right=right, left=left, of=found.evaluation.rows)


def _threshold(name: str, best: Optimum) -> Sentence:
    values = _here_and_elsewhere(
        best.apparent, best.out_of_sample.value if best.out_of_sample else None, best.metric
    )
    title = objective_title(name)
    if best.constraint is None:
        words = "{title} is best at {threshold:threshold}: {values}"
        chosen = say(words, title=title, threshold=best.threshold, values=values)
        return chosen + _flagging_all(best)
    if best.at_confidence is not None:
        return _constraint_sentence(title, best)
    at = say("{title} here at {threshold:threshold}", title=title, threshold=best.threshold)
    if best.chance is not None:
        words = "{at}; that it holds on new data has a chance of *{chance:percent}*"
        at = say(words + _coin(best.chance), at=at, chance=best.chance, of=ROUGH)
    return say("{at}. {metric}: {values}", at=at, metric=objective_title(best.metric), values=values)


def _flagging_all(best: Optimum) -> Sentence:
    """What F1 is without skill."""
    if best.no_skill is None:
        return NOTHING
    style, value = (
        objective_style(best.metric),
        best.out_of_sample.value if best.out_of_sample else Undefined(""),
    )
    return say(
        "Flagging all would reach {no_skill}.",
        no_skill=reference_sentence("no_skill", best.no_skill, value, style),
    )


def _coin(chance: float) -> str:
    low, high = COIN
    return ", a coin toss" if low <= chance <= high else ""


def _constraint_sentence(title: str, best: Optimum) -> Sentence:
    """What holding the bound costs, or why it cannot be held."""
    hold = best.at_confidence
    assert hold is not None  # noqa: S101  asked before
    if hold.threshold is None or hold.costs is None:
        return say("{title} _{reason}_.", title=title, reason=hold.reason or "")
    at = say(
        "{title} holds on new data with {confidence:percent} confidence at *{held:threshold}*",
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


def _here_and_elsewhere(apparent: float, elsewhere: Result | None, metric: str) -> Sentence:
    style = objective_style(metric)
    if not isinstance(elsewhere, Estimate):
        return say("{apparent:" + style + "} on the rows of the choice.", apparent=apparent)
    here, there = reference_sentence("apparent", apparent, elsewhere, style), f"*{{elsewhere:{style}}}*"
    words = f"expect {there} on new data, not the {{here}} of the choice."
    if format_estimate(elsewhere, style) == here.text:
        words = f"{there}, also on rows that took no part in the choice."
    return say(words, here=here, elsewhere=elsewhere)


def _several(found: ThresholdSelection, name: str, best: Tuned) -> Sentence:
    what = "One weight per class" if found.evaluation.task == "multiclass" else "One threshold per label"
    values = _here_and_elsewhere(best.apparent, best.out_of_sample.value, name)
    return say(what + " for {title}: {values}", title=objective_title(name), values=values)


def summary(found: ThresholdSelection) -> Sentence:
    """Return how to read the two values."""
    words = (
        "Chosen on {source}; “elsewhere” is this data, which took no part in the choice."
        if found.tuned_on
        else "“Elsewhere” is cross-fitted: chosen on nine folds, measured on the tenth. That is what to "
        "expect on new data; the value where it was chosen is on average too good."
    )
    told = tell(found.evaluation, words + " Intervals are {level}.", source=found.tuned_on)
    return paragraph(_change_sentence(found), _untuned_sentence(found), told, of_weights(found.evaluation))


def _change_sentence(found: ThresholdSelection) -> Sentence:
    """What the choice changes beside the threshold in use, of a binary problem."""
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
            "Elsewhere that is no better than {in_use} at {threshold:threshold}, which is in use: nothing "
        )
        return say(
            words + "is gained by the change.", in_use=here, threshold=math.nan if now is None else now
        )
    named = candidates(found.evaluation, found.whole, found.optima)
    advice = recommended_candidate(found.evaluation, named, found.optima)
    if advice is None and not likely(best):
        return say("No threshold is recommended: the constraint may well be missed on new data.")
    return threshold_summary(named, advice)


def _untuned_sentence(found: ThresholdSelection) -> Sentence:
    """What the first objective would be without a choice, of labels and classes."""
    name, best = next(iter(found.found.items()))
    if not isinstance(best, Tuned) or best.without is None:
        return NOTHING
    plain = next(words for start, words in PLAIN.items() if start in best.starts)
    without = reference_sentence("without", best.without, best.out_of_sample.value, objective_style(name))
    return say("With {plain} it would be {without}.", plain=plain, without=without)
