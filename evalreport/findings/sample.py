"""Findings about the sample: too few rows, duplicates, groups with worse results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalreport.core.result import Estimate
from evalreport.data.labels import Binary, Label
from evalreport.evaluation.evaluation import Evaluation
from evalreport.evaluation.parts import Slice
from evalreport.findings.chance import Margin, margins
from evalreport.findings.rule import CLASSES, FindingDraft, rule, spoken, value
from evalreport.findings.score_quality import RATIO
from evalreport.findings.skill import ADVICE, HEAVY, Cause, scarcity
from evalreport.metrics.catalogue import ERROR_KINDS, OF_CALIBRATION, find

FEW_ROWS = 20
"""Number of examples below which a class is small."""
RECALL = ERROR_KINDS["binary"][0]
WIDE = 0.2
"""Width of the interval of recall or specificity above which the finding is a caution."""
WIDE_CLASS = 0.3
"""The same for one of many classes."""
CAUSES: Mapping[Cause, str] = {
    "rows": "",
    "groups": ", but {support:it is|they are} in {groups:count} {groups:group|groups}",
    "weight": ", but one of them has {largest:whole} of their weight",
    "weights": ", but their weights are so uneven that they count as {effective:about}",
}
"""What widens the interval of a class, other than few examples."""
REPEATED = 0.01
"""Minimum proportion of repeated rows for a finding."""
TELLING = 0.8
"""Ratio of the effective number of rows to the rows below which there is a finding."""
WORSE = 0.001
"""Adjusted p-value, for all metrics together, below which a group is reported as worse than the rest."""
SHARES = frozenset(("precision", "average_precision", "mcc"))
"""Metrics that are lower in a group only because positives are rarer in it."""


@rule(section="verdict")
def few_events(ev: Evaluation) -> FindingDraft | None:
    """Fewer than 100 independent examples of the rarer class of a binary problem, with the cause."""
    support = _both_classes(ev)
    if support is None:
        return None
    code = int(support[1] <= support[0])
    cause = scarcity(ev, code, support[code]) if support[code] else None
    if cause is None:
        return None
    name = ERROR_KINDS["binary"][1 - code]
    found = ev.metrics.get(name)
    claim = "{support:count} of {n:weight} {support:is|are} {label:label}" + CAUSES[cause.kind]
    evidence = {
        "label": ev.space.display_labels[code],
        "support": support[code],
        "n": ev.weight,
        **cause.evidence,
    }
    wide = True
    if isinstance(found, Estimate) and found.low is not None and found.high is not None:
        wide = found.high - found.low > WIDE
        claim += f": {{support:its|their}} {spoken(find(name).title)} is {{{name}:ratio}} ({{low:of {name}}} to {{high:of {name}}})"
        evidence |= {name: found.value, "low": found.low, "high": found.high}
    return FindingDraft(
        ("Only " if cause.kind == "rows" else "") + claim + ".",
        evidence,
        severity="caution" if wide else "note",
        action=ADVICE[cause.kind],
    )


def _both_classes(ev: Evaluation) -> tuple[float, float] | None:
    """Examples of the negative and of the positive class of a binary problem."""
    if not isinstance(ev.space, Binary):
        return None
    if ev.confusion is not None:
        negative, positive = margins(ev)
        return negative.support, positive.support
    share = value(ev, "prevalence")
    return None if share is None else (round((1 - share) * ev.weight, 9), round(share * ev.weight, 9))


@rule(section=CLASSES, action="Read their metrics together with the intervals.")
def small_classes(ev: Evaluation) -> FindingDraft | None:
    """Classes with fewer than 20 examples, and the widest interval among them."""
    known = [margin for margin in margins(ev) if margin.support > 0]
    small = sorted((m for m in known if m.support < FEW_ROWS), key=lambda m: m.support)
    if not small or isinstance(ev.space, Binary):
        return None
    sizes = "{least:count}" if small[0].support == small[-1].support else "{least:count} to {most:count}"
    few = f"fewer than {{few:examples}} ({sizes})"
    claim = f"{{n_small:count}} of {{n:classes}} {{n_small:has|have}} {few}: {{labels:labels}}."
    if len(small) == len(known) > 1:
        claim = f"Each of {{n:classes}} has {few}."
    evidence: dict[str, Any] = {
        "n_small": len(small),
        "n": len(known),
        "few": FEW_ROWS,
        "labels": [margin.label for margin in small],
        "least": small[0].support,
        "most": small[-1].support,
    }
    recall = _least_known(ev, small)
    if recall is not None:
        label, value = recall
        claim += " Recall of {widest:label} is {own:within low high} ({low:within low high} to {high:within low high})."
        evidence |= {"widest": label, "own": value.value, "low": value.low, "high": value.high}
        evidence["judged_by"] = RECALL
    wide = recall is None or (recall[1].width or 0.0) > WIDE_CLASS
    return FindingDraft(claim, evidence, severity="caution" if wide else "note")


def _least_known(ev: Evaluation, small: Sequence[Margin]) -> tuple[Label, Estimate] | None:
    """The class whose recall has the widest interval."""
    labels = [margin.label for margin in small]
    found = [(entry.label, entry.metrics.get(RECALL)) for entry in ev.classes if entry.label in labels]
    known = [(label, one) for label, one in found if isinstance(one, Estimate) and one.width is not None]
    return max(known, key=lambda entry: entry[1].width or 0.0, default=None)


@rule(section="groups", action="Look at the mistakes in this group before you rely on the overall number.")
def slice_gap(ev: Evaluation) -> FindingDraft | None:
    """The group with the largest significant gap to the rest, corrected for multiple comparisons."""
    gaps = [(gap, part, name) for part in ev.slices for name, gap in _gaps(ev, part)]
    if not gaps:
        return None
    gap, part, name = min(gaps, key=lambda entry: entry[0].value)
    judged_by = find(name, ev.task)
    unit = " points" if judged_by.style == "percent" else ""
    own, groups = part.metrics[name], {(other.column, other.value) for _, other, _ in gaps}
    return FindingDraft(
        f"{{rows:rows}} with {{column}} = {{value:label}} perform worse than the rest: {{metric}} is {{own:within least most}}, {{less:apart least most}}{unit} lower ({{least:apart least most}} to {{most:apart least most}})."
        + (
            " {more:count} more {more:group|groups} {more:is|are} also significantly worse."
            if len(groups) > 1
            else ""
        ),
        {
            "column": part.column,
            "value": part.value,
            "rows": part.rows,
            "metric": spoken(judged_by.title),
            "judged_by": name,
            "own": own.value,
            "less": -gap.value,
            "least": -(gap.high or 0.0),
            "most": -(gap.low or 0.0),
            "more": len(groups) - 1,
            "p_adjusted": part.p_adjusted[name],
        },
    )


@rule(section="groups", action="Recalibrate for this group, and check what differs there.")
def slice_calibration(ev: Evaluation) -> FindingDraft | None:
    """The group with the worst calibration that differs significantly from the rest, after correction."""
    off = [(part, name) for name in OF_CALIBRATION[ev.task] for part in ev.slices if _is_off(part, name)]
    if not off:
        return None
    part, name = max(off, key=lambda entry: _times_off(entry[0].metrics[entry[1]].value or 0.0))
    own, gap = part.metrics[name], part.differences[name]
    if not isinstance(own, Estimate) or not isinstance(gap, Estimate):
        return None
    shifted = name == OF_CALIBRATION[ev.task][0]
    kind = ("low" if own.value > 1 else "high") if shifted else "under" if own.value > 1 else "over"
    kind = f"too {kind}" if shifted else f"{kind}confident"
    ends = sorted((abs(gap.low or 0.0), abs(gap.high or 0.0)))
    more, groups = len({(p.column, p.value) for p, _ in off}) - 1, "{more:group|groups}"
    return FindingDraft(
        f"The probabilities are {kind} for {{rows:rows}} with {{column}} = {{value:label}}: {{metric}} is {{own:within low high}} ({{low:within low high}} to {{high:within low high}}), {{gap:within low high}} {{side}} than for the rest ({{least:within low high}} to {{most:within low high}})."
        + (f" {{more:count}} more {groups} {{more:differs|differ}} from the rest." if more else ""),
        {
            "column": part.column,
            "value": part.value,
            "rows": part.rows,
            "metric": spoken(find(name, ev.task).title),
            "judged_by": name,
            "own": own.value,
            "low": own.low,
            "high": own.high,
            "gap": abs(gap.value),
            "side": "higher" if gap.value > 0 else "lower",
            "least": ends[0],
            "most": ends[1],
            "more": more,
            "p_adjusted": part.p_adjusted[name],
        },
    )


def _is_off(part: Slice, name: str) -> bool:
    """Whether a value whose ideal is 1 differs from 1 and from the rest, significantly and noticeably."""
    own, p = part.metrics.get(name), part.p_adjusted.get(name, 1.0)
    if not isinstance(own, Estimate) or own.low is None or own.high is None:
        return False
    return p < WORSE / 2 and not own.low <= 1 <= own.high and _times_off(own.value) > RATIO


def _times_off(value: float) -> float:
    return max(value, 1 / max(value, 0.01))


def _gaps(ev: Evaluation, part: Slice) -> list[tuple[str, Estimate]]:
    """Metrics in which a group is significantly worse, corrected for the number of groups and metrics."""
    tested = {
        name: p
        for name, p in part.p_adjusted.items()
        if name not in SHARES and find(name, ev.task).better == "higher"
    }
    return [
        (name, gap)
        for name, gap in part.differences.items()
        if isinstance(gap, Estimate)
        and gap.high is not None
        and gap.high < 0
        and name in tested
        and tested[name] < WORSE / len(tested)
    ]


@rule(
    section="provenance",
    action="Check for duplicated rows. If they are duplicates, drop them or pass --set group: they make intervals too narrow.",
)
def duplicates(ev: Evaluation) -> FindingDraft | None:
    """Texts that occur more than once, some of them with different true labels."""
    again = ev.data_checks.get("duplicate_texts", 0)
    apart = ev.data_checks.get("conflicting_texts", 0)
    if (ev.clusters is not None or again < max(2, REPEATED * ev.rows)) and not apart:
        return None
    claim = "{again:rows} of {n:count} {again:has|have} the same text as another and may be {again:a duplicate|duplicates}"
    claim += (
        "; {apart:rows} {apart:has|have} the same text as another with a different label." if apart else "."
    )
    return FindingDraft(claim, {"again": again, "apart": apart, "n": ev.rows})


@rule(
    section="provenance",
    action="Check for duplicated rows (e.g. from a join). If they are duplicates, drop them or pass --set group: they make intervals too narrow.",
)
def repeated_rows(ev: Evaluation) -> FindingDraft | None:
    """Rows with the label and score of another row, more than few distinct inputs explain, without groups."""
    again = ev.data_checks.get("repeated_rows", 0)
    if ev.clusters is not None or again < max(2, REPEATED * ev.rows):
        return None
    return FindingDraft(
        "{again:rows} of {n:count} {again:has|have} exactly the same label and score as another, more than chance explains, and may be {again:a duplicate|duplicates}.",
        {"again": again, "n": ev.rows},
    )


@rule("note", section="provenance")
def effective_rows(ev: Evaluation) -> FindingDraft | None:
    """Uneven weights or correlated groups, which reduce the effective number of rows.

    Examples
    --------
    >>> import evalreport as er
    >>> ev = er.evaluate([0, 1] * 20, [0, 1] * 20, weights=[1.0] * 39 + [50.0])
    >>> found = effective_rows(ev)
    >>> found.rule, round(found.evidence["effective_n"])
    ('effective_rows', 3)
    """
    known = ev.data_checks.get("effective_n", ev.rows)
    if known > TELLING * ev.rows:
        return None
    top = ev.data_checks.get("largest_weight", 0.0)
    cause: Cause = "weights"
    why = "the weights are uneven" if ev.clusters is None else "rows within a group are correlated"
    if ev.weighted and ev.clusters is not None:
        why = "the weights are uneven, and rows within a group are correlated"
    elif ev.weighted and top >= HEAVY:
        why, cause = "one row has {largest:whole} of the weight", "weight"
    elif not ev.weighted:
        cause = "groups"
    return FindingDraft(
        "The effective sample size is {effective_n:about} of {n:rows}: " + why + ".",
        {"n": ev.rows, "effective_n": known, "largest": top},
        action=ADVICE[cause],
    )


@rule("note", section="provenance")
def data_notes(ev: Evaluation) -> FindingDraft | None:
    """Notes about how the input was read."""
    if not ev.notes:
        return None
    return FindingDraft("{notes:notes}.", {"notes": list(ev.notes)})
