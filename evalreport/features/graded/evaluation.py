"""The evaluation of graded items: that of the core, with repeats, measures and the judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Self

from evalreport.core.errors import DataError
from evalreport.core.format import count, pluralize
from evalreport.core.json_codec import Mass, Whole, shared_fields
from evalreport.core.result import Estimate, Finding, Provenance, Result, format_estimate
from evalreport.core.sentences import Sentence, say
from evalreport.data.labels import Graded, Scale
from evalreport.evaluation.evaluation import SCHEMA, Evaluation
from evalreport.evaluation.parts import CorrectedDifference, Disparity, JudgedPair, Slice, WeakSlices
from evalreport.features.graded.judge import JudgedItems, JudgeResult, corrected_difference, shared_items
from evalreport.features.graded.metrics import PASS, SCORE
from evalreport.intervals.interval_settings import Sampling
from evalreport.page import render
from evalreport.page.evaluation_terms import tell

FULL = "= 1"
"""What passes on the scale from 0 to 1 where no rule is named."""
UNIT = ("item", "items")
"""The default name of a row."""
Measures = Mapping[str, Mapping[str, Result]]
"""Measure to ``mean``, ``median`` and ``p95``."""


@dataclass(frozen=True)
class RepeatStatistics:
    """Statistics of several attempts at each item.

    Parameters
    ----------
    variance_items, variance_repeats : float
        Of one attempt: between items, and between attempts at one item.
    never, some : int
        Items that no attempt passes, and that some attempts pass.
    """

    variance_items: float
    variance_repeats: float
    never: Whole
    some: Whole


@dataclass(frozen=True)
class GradedExample:
    """An item that fails, or that only some attempts pass."""

    id: str
    passed: Whole
    attempts: Whole
    no_grade: Whole = 0
    text: str | None = None


@dataclass(frozen=True)
class GradedRecord:
    """Every key of the `evaluation.json` of graded items, in order."""

    schema: Literal[2]
    task: Literal["graded"]
    scale: Scale
    rule: str
    n: Whole
    attempts: Whole
    no_grade: Whole
    weight: Mass
    weighted: bool
    clusters: Whole | None
    label_digest: str
    sampling: Sampling
    metrics: Mapping[str, Result]
    measures: Measures
    repeats: RepeatStatistics | None
    slices: tuple[Slice, ...]
    disparities: tuple[Disparity, ...]
    examples: tuple[GradedExample, ...]
    judge: JudgeResult | None
    weak_slices: WeakSlices | None
    data_checks: Mapping[str, float]
    notes: tuple[str, ...]
    findings: tuple[Finding, ...]
    provenance: Provenance


@dataclass(frozen=True, eq=False, repr=False)
class GradedEvaluation(render.Result, Evaluation):
    """The evaluation of graded items.

    Comparison, ranks, rules and sites read it as any other `Evaluation`: every item should pass, so that
    the pass rate is the accuracy.

    Parameters
    ----------
    items : int
        Distinct items; `rows` are attempts.
    no_grade : int
        Attempts without a grade.
    rule : str
        What passes, such as ``>= 4``; empty where grades are pass or fail.
    measures : mapping from column to mean, median and 95th percentile
    repeats : RepeatStatistics or None
        None where every item has one attempt.
    examples : tuple of GradedExample
    judge : JudgeResult or None
        How well a judge agrees with people.
    judge_items : JudgedItems or None
        The items with both grades, in the session that made the evaluation.
    attempts_at : mapping from the id of an item to its attempts
        In the session that made the evaluation; empty without ids.

    Examples
    --------
    >>> import evalreport as er
    >>> ev = er.evaluate(["pass", "fail", "pass", None], labels=er.Graded())
    >>> ev["pass_rate"].value, ev["pass_rate_graded"].value, ev.verdict
    (0.5, 0.6666666666666666, 'Passes 2 of 4 items (50%); 1 has no grade.')
    """

    items: int = 0
    no_grade: int = 0
    rule: str = ""
    measures: Measures = field(default_factory=dict)
    repeats: RepeatStatistics | None = None
    examples: tuple[GradedExample, ...] = ()
    judge: JudgeResult | None = None
    judge_items: JudgedItems | None = None
    attempts_at: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def from_evaluation(cls, ev: Evaluation, **more: Any) -> Self:
        """Return the evaluation of the core, extended by the fields of graded items."""
        known = {entry.name: getattr(ev, entry.name) for entry in fields(Evaluation)}
        return cls(**known | more)

    @property
    def scale(self) -> Scale:
        """Scale of the grades."""
        return self.space.scale if isinstance(self.space, Graded) else "pass"

    @property
    def own_headline(self) -> Sentence:
        """The result in one sentence, with counts of items."""
        return graded_headline(self)

    @property
    def verdict(self) -> str:
        """The headline of the page."""
        return self.own_headline.text

    @property
    def size(self) -> str:
        """How many items and attempts there are, in words."""
        return f"{pluralize(self.items, *self.provenance.unit)}{attempts_each(self)}"

    @property
    def sample_size(self) -> int:
        """How many units a plan counts: items, with as many attempts each."""
        return self.items

    @property
    def row_unit(self) -> tuple[str, str]:
        """The word for one row and for several: attempts where items have several."""
        return self.provenance.unit if self.rows == self.items else ("attempt", "attempts")

    @property
    def statements(self) -> tuple[str, ...]:
        """Repeats and the judge, one sentence each."""
        found = []
        if self.repeats is not None:
            never, some = self.repeats.never, self.repeats.some
            verb = "never passes" if never == 1 else "never pass"
            found.append(f"{pluralize(never, 'item')} {verb}, {count(some)} in some attempts only")
        if self.judge is not None:
            found.append(judge_sentence(self.judge).text)
        return tuple(found)

    @property
    def lines(self) -> tuple[str, ...]:
        """What a terminal shows below the metrics."""
        found = list(self.statements)
        for name, parts in self.measures.items():
            texts = [
                f"{part} {format_estimate(r, 'number')}"
                for part, r in parts.items()
                if isinstance(r, Estimate)
            ]
            found.append(f"{name}: " + ", ".join(texts))
        return (*found, *super().lines)

    def in_rows(self) -> Self:
        """Return the evaluation itself: its counts are those of attempts."""
        return replace(self, row_counts=None)

    def refuse_pair(self, baseline: Evaluation) -> None:
        """Refuse runs with different numbers of attempts at an item, which cannot be matched.

        Raises
        ------
        DataError
        """
        if not isinstance(baseline, GradedEvaluation):
            return
        shared = [item for item in self.attempts_at if item in baseline.attempts_at]
        pairs = [(item, self.attempts_at[item], baseline.attempts_at[item]) for item in shared]
        differ = [one for one in pairs if one[1] != one[2]]
        if differ:
            item, here, there = differ[0]
            number = dict(self.provenance.columns).get("repeat", "epoch")
            raise DataError(
                f"{len(differ):,} of {len(shared):,} shared items have another number of attempts in the "
                "baseline",
                where=f"first: item {item!r}, {pluralize(here, 'attempt')} and {there}",
                fix=f"keep the same attempts of both, as with --where '{number}=1', or pass --unpaired",
            )

    def judged_pair(self, names: tuple[str, str], baseline: Evaluation) -> JudgedPair | None:
        """Return the pass rates of both runs as people would grade all items, through one judge."""
        if not isinstance(baseline, GradedEvaluation):
            return None
        if self.judge is None or self.judge_items is None or baseline.judge is None:
            return None
        pair = None if baseline.judge_items is None else shared_items(self.judge_items, baseline.judge_items)
        found = None if pair is None else corrected_difference(*pair, self.sampling)
        if not isinstance(found, Estimate):
            return None
        difference = CorrectedDifference(found.value, found.low, found.high, found.method or "")
        rates = self.judge.corrected, baseline.judge.corrected
        return JudgedPair(*names, int(found.n), rates, difference)

    def to_wire(self) -> Any:
        """Return the evaluation as `evaluation.json` holds it, key by key."""
        own: dict[str, Any] = {"schema": SCHEMA, "task": "graded", "n": self.items, "attempts": self.rows}
        names = {entry.name for entry in fields(GradedRecord)} - own.keys()
        return GradedRecord(**own | {name: getattr(self, name) for name in names})

    @classmethod
    def from_wire(cls, wire: GradedRecord) -> Self:  # type: ignore[override]
        """Return the evaluation that a document contains; the grades of single items are not in it."""
        own = {"space": Graded(wire.scale), "rows": wire.attempts, "items": wire.n}
        return cls(**(shared_fields(wire, cls) | own))

    def _repr_html_(self) -> str:
        from evalreport.page.render import render_brief

        return render_brief(self)


def graded_headline(ev: GradedEvaluation) -> Sentence:
    """Return the result in one sentence, with counts of items.

    With repeats or weights the rate is a mean, so that no number of items passes.
    """
    rate, mean = ev.metrics.get(PASS), ev.metrics.get(SCORE)
    known = {"n": ev.items, "each": attempts_each(ev)}
    if not isinstance(rate, Estimate):
        if not isinstance(mean, Estimate):
            return tell(ev, "{n:count} graded {n:units}.", known)
        return tell(ev, "Mean score {mean:number} over {n:count} {n:units}{each}.", known, mean=mean.value)
    if ev.rows > ev.items or ev.weighted:
        return tell(ev, "Passes {rate:percent} of {n:count} {n:units}{each}.", known, rate=rate.value)
    if ev.scale == "unit" and isinstance(mean, Estimate) and ev.rule == FULL:
        words = "Mean score {mean:ratio} over {n:count} {n:units}; {rate:percent} have the full score."
        return tell(ev, words, known, mean=mean.value, rate=rate.value)
    passed = round(rate.value * ev.items)
    words = "Passes {passed:count} of {n:count} {n:units} ({rate:percent})"
    missing = ev.no_grade
    end = "; {missing:count} {missing:has|have} no grade." if missing else "."
    return tell(ev, words + end, known, passed=passed, rate=rate.value, missing=missing)


def attempts_each(ev: GradedEvaluation) -> str:
    """Return how many attempts there are at each item; nothing for one."""
    if ev.rows == ev.items:
        return ""
    each = ev.rows / ev.items
    return f", {count(each)} attempts each" if each == int(each) else f", {count(ev.rows)} attempts in all"


def judge_sentence(found: JudgeResult) -> Sentence:
    """Return how the judge agrees with people, and the corrected pass rate."""
    words = "The judge agrees with {agree:percent} of {n:count} human grades"
    known: dict[str, Any] = {"n": found.n_human, "agree": found.agreement, "always": found.always_pass}
    if not isinstance(found.agreement, Estimate):
        return say("{n:count} human grades.", known)
    words += " (always saying pass: {always:percent})."
    if isinstance(found.corrected, Estimate):
        words += " Corrected pass rate: {corrected:percent} ({corrected:percent interval})"
        known["corrected"] = found.corrected
        if isinstance(found.human_rate, Estimate):
            words += "; from the human grades alone {human:percent} ({human:percent interval})"
            known["human"] = found.human_rate
        words += "."
    if found.human_needed is not None:
        words += " {needed:count} human grades would halve its interval."
        known["needed"] = found.human_needed
    return say(words, known)
