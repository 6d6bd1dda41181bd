"""A comparison of runs as it is shown, written and logged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Final, TypeVar

from evalreport import __version__
from evalreport.comparison.comparison import Comparison
from evalreport.core.json_codec import encode
from evalreport.metrics.catalogue import find
from evalreport.page.comparison import charts, matched, sections
from evalreport.page.comparison.sentences import headline
from evalreport.page.comparison.table import (
    DIFFERENCE_COLUMNS,
    RANKING_COLUMNS,
    comparison_ranking,
    head_texts,
    row_texts,
    table_data,
)
from evalreport.page.csv_tables import as_csv
from evalreport.page.elements import Section
from evalreport.page.payload import COMPARISON, COMPARISON_PAGE, LONGEST_VERDICT, lasting, metric_keys
from evalreport.page.presentation import Presentation
from evalreport.page.summary import MOST_ROWS, ResultSummary

R = TypeVar("R")
PANELS: Final[tuple[Callable[[Comparison], Section | None], ...]] = (
    sections.verdict_section,
    matched.points_section,
    matched.matched_section,
    sections.pairs,
    sections.leaderboard_section,
    charts.curves_section,
    sections.parts,
    sections.changed_predictions_section,
    sections.pairing,
    sections.provenance,
)
"""Panels of a comparison in the order of the page; one that does not apply returns None."""
PREFIX = "compare/"
LONGEST_RUN = 100
"""Letters of a run's name in a metric key."""


class ComparisonBase(Presentation[R]):
    """What comparisons of runs and of systems have in common."""

    page_name = COMPARISON_PAGE
    document = COMPARISON
    noun = "comparison"
    part = "comparison"
    cards = ()

    def content(self) -> dict[str, Any]:
        """Return the JSON: the comparison with its verdict in words."""
        return {**self.encoded_result, "headline": self.headline, **self.extra}

    def lasting(self) -> tuple[Any, ...]:
        """Return what the digest is made of."""
        return self.content(), __version__, self.notes

    def tags(self) -> dict[str, str]:
        """Return the tags of a run."""
        return {"evalreport.comparison": self.headline[:LONGEST_VERDICT]}


class ComparisonPresentation(ComparisonBase[Comparison]):
    """The page of a comparison of runs."""

    @property
    def title(self) -> str:
        """Title of the page."""
        names = self.of.names
        return f"Comparison of {' and '.join(names) if len(names) == 2 else f'{len(names)} runs'}"

    @cached_property
    def headline(self) -> str:
        """The verdict in one sentence, plain text."""
        return headline(self.of).text

    def sections(self) -> Sequence[Section]:
        """Return the sections of the page, the verdict first."""
        return [section for panel in PANELS if (section := panel(self.of)) is not None]

    @property
    def intervals(self) -> str:
        """What the last line of the page says of the intervals."""
        return f" · intervals are {self.of.evaluations[0].sampling.level * 100:.10g}%"

    def summary(self) -> ResultSummary:
        """Return the comparison in a few lines: every metric of two runs, or the ranking of several."""
        found, level = self.of, {"level": f"{self.of.level * 100:.10g}%"}
        if len(found.names) == 2:
            (run, baseline, _), about = found.pairings[0], " and ".join(found.names)
            heads = ["Metric", *head_texts(DIFFERENCE_COLUMNS, level | {"baseline": baseline, "run": run})]
            rows = [
                [find(d.metric).title, *row_texts(DIFFERENCE_COLUMNS, d, short=True).values()]
                for d in found.differences
            ]
        else:
            about, ranked = f"{len(found.names)} runs", comparison_ranking(found)
            heads = ["Run", *head_texts(RANKING_COLUMNS, level | {"metric": ranked[0].metric.title})]
            rows = [[row.entry.run, *row_texts(RANKING_COLUMNS, row).values()] for row in ranked]
        return ResultSummary(self.headline, about, tuple(heads), tuple(map(tuple, rows[:MOST_ROWS])))

    def lasting(self) -> tuple[Any, ...]:
        """Return what the digest is made of: of the evaluations, too."""
        content, *rest = super().lasting()
        return content, [lasting(encode(ev)) for ev in self.of.evaluations], *rest

    def metrics(self) -> dict[str, float]:
        """Return every number that can be logged, by key."""
        return differences(self.of)

    def headline_metrics(self) -> dict[str, float]:
        """Return the differences of the primary metric: of two runs with the ends of the interval."""
        name, every = f"{self.of.primary}_difference", self.metrics()
        ends = (name, f"{name}_low", f"{name}_high")[: 3 if len(self.of.pairings) == 1 else 1]
        return {key: value for key, value in every.items() if key.rpartition("/")[2] in ends}

    def exports(self) -> dict[str, bytes]:
        """Return the files of an output folder beside page and JSON: every difference and the ranking as CSV."""
        differences = table_data(DIFFERENCE_COLUMNS, [*self.of.differences, *self.of.parts])
        ranked = table_data(RANKING_COLUMNS, comparison_ranking(self.of))
        return {"differences.csv": as_csv(differences), "ranking.csv": as_csv(ranked)}


def differences(comparison: Comparison) -> dict[str, float]:
    """Return the metrics of the differences: ``compare/recall_difference`` with ``_low`` and ``_high``.

    Of more than two runs the run's name comes between; of all against all, only the primary metric.
    """
    found: dict[str, float] = {}
    chosen = comparison.differences
    if comparison.baseline is None:
        chosen = comparison.differences_for(comparison.primary)
    sections = _sections(comparison)
    for d in chosen:
        stem = f"{sections[d.run, d.baseline]}{d.metric}_difference"
        ends = {stem: d.difference, f"{stem}_low": d.low, f"{stem}_high": d.high}
        found |= {key: value for key, value in ends.items() if value is not None}
    return found


def _sections(comparison: Comparison) -> dict[tuple[str, str], str]:
    """Where the metrics of each pair stand."""
    pairs = [(run, base) for run, base, _ in comparison.pairings]
    if len(pairs) == 1:
        return {pairs[0]: PREFIX}
    all_pairs = comparison.baseline is None
    names = [f"{run} against {base}" if all_pairs else run for run, base in pairs]
    short = [
        name if len(name) <= LONGEST_RUN else f"{name[:LONGEST_RUN]}-{place}"
        for place, name in enumerate(names)
    ]
    keys = metric_keys((name.replace("/", "_") for name in short), PREFIX)
    return {pair: keys[name.replace("/", "_")] + "/" for pair, name in zip(pairs, short, strict=True)}
