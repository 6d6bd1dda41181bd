"""Numbers chosen together, one per label: what they reach where they were chosen, and elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalreport.estimates import beside, interval, shown_value
from evalreport.evaluation.threshold_selection import PLAIN
from evalreport.panels.about import objective_style, objective_title
from evalreport.panels.parts import Cell, Column, Row, Table
from evalreport.thresholds.records import Method, Tuned

HOW: Mapping[Method, str] = {
    "exact": "exact: no others reach more",
    "bayes": "from the costs alone",
    "coordinate ascent": "one label at a time, each move exact",
    "optuna": "searched by Optuna",
}


def tuned_table(id: str, found: Sequence[Tuned]) -> Table:
    """Return one row per objective: on the rows of the choice, elsewhere, and there without a choice.

    Parameters
    ----------
    id : str
        Of the element.
    found : sequence of Tuned
        At least one.

    Examples
    --------
    >>> from evalreport.values import Estimate
    >>> rows = (Estimate(0.4, 50, 0.3, 0.5), "other rows")
    >>> found = Tuned("f1_micro", {"a": 0.3}, 0.45, *rows, "exact", {"0.5": 0.2}, without=0.21)
    >>> table = tuned_table("tuned", [found])
    >>> [cell.words for cell in table.rows[0]]
    ['Micro F1', '0.45', '0.40', '0.30 to 0.50', '0.21', 'exact: no others reach more']
    """
    plain = next((name for name in PLAIN if all(name in choice.starts for choice in found)), None)
    titles = ["Where chosen", "Elsewhere", "Its interval"]
    titles += [] if plain is None else [f"There with {PLAIN[plain]}"]
    rows = (_row(choice, plain) for choice in found)
    return Table.of(id, "What is reached", ("For", *titles, Column("How", "text")), rows)


def _row(choice: Tuned, plain: str | None) -> Row:
    elsewhere, style = choice.out_of_sample.value, objective_style(choice.objective)
    unaided = "–" if choice.without is None else beside(choice.without, elsewhere, style)
    return (
        objective_title(choice.objective),
        beside(choice.apparent, elsewhere, style),
        Cell(shown_value(elsewhere, style), sub=_where(choice)),
        interval(elsewhere, style),
        *(() if plain is None else (unaided,)),
        how(choice),
    )


def how(choice: Tuned) -> str:
    """Return how numbers were chosen; of a search that found nothing better, where it started from."""
    points = choice.trials.trials if choice.trials is not None else ()
    if points and choice.apparent == points[0].values[0]:
        return "the best start, which Optuna did not better"
    return HOW[choice.method]


def _where(choice: Tuned) -> str:
    value = choice.out_of_sample.value
    return choice.out_of_sample.method if value.value is not None else str(value.reason)
