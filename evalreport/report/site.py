"""The files of an experiment's site that are about all runs: its front page, and the same as CSV and JSON."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from evalreport import __version__
from evalreport.codec import dumps, encode
from evalreport.comparison.board import Board
from evalreport.panels.site import front_page
from evalreport.panels.site_board import CompareLinks
from evalreport.report.render import Page, asset, environment, policy
from evalreport.report.tables import as_csv
from evalreport.values import Estimate


def render_board(board: Board, compared: Collection[str]) -> str:
    """Return the front page of a site, reproducible to the byte.

    Parameters
    ----------
    board : Board
    compared : collection of str
        Names of the files of those runs that have a comparison with the reference.
    """
    style, script = asset("style.css") + asset("site.css"), asset("site.js")
    made = front_page(board, CompareLinks(board.by_name[board.reference].stem, frozenset(compared)))
    page = Page(
        title=f"{board.experiment}: {len(board.runs)} runs",
        version=__version__,
        policy=policy(style, script),
        style=style,
        script=script,
        sections=made,
        titles={section.id: section.nav for section in made},
        data={section.id: section.data for section in made if section.data},
        footer="Opens from a folder, without a server, and without scripts: then the table is sorted.",
    )
    return environment().get_template("page.html.j2").render(page=page)


def site_files(board: Board, compared: Collection[str]) -> dict[str, bytes]:
    """Return the front page, and the leaderboard and all differences as CSV and JSON."""
    rows = [_row(board, place) for place in range(len(board.ranking))]
    pairs = [_pair(d) for d in board.field.pairs]
    whole = {
        "schema": 1,
        "experiment": board.experiment,
        "metric": board.metric.name,
        "level": board.level,
        "pair_level": board.field.pair_level,
        "reference": board.reference,
        "runs": rows,
        "missing": [encode(run) for run in board.missing],
    }
    return {
        "index.html": render_board(board, compared).encode(),
        "runs.csv": as_csv({name: [row[name] for row in rows] for name in rows[0]}),
        "runs.json": dumps(whole).encode(),
        "pairs.csv": as_csv({name: [row[name] for row in pairs] for name in PAIR}),
    }


PAIR = ("run", "baseline", "difference", "low", "high", "verdict")


def _pair(d: Any) -> dict[str, Any]:
    return {
        "run": d.run,
        "baseline": d.baseline,
        "difference": d.difference,
        "low": d.adjusted.low,
        "high": d.adjusted.high,
        "verdict": d.verdict,
    }


def _row(board: Board, place: int) -> dict[str, Any]:
    entry = board.ranking[place]
    run, d = board.by_name[entry.run], board.behind(entry.run)
    ends = None if d is None else d.adjusted
    found: dict[str, Any] = {
        "rank": place + 1,
        "first_rank": entry.ranks[0] if entry.ranks else None,
        "last_rank": entry.ranks[1] if entry.ranks else None,
        "run": run.name,
        "run_id": run.run_id,
        "value": entry.value,
        "low": entry.low,
        "high": entry.high,
        "best_group": entry.best_group,
        "difference": None if d is None else d.difference,
        "difference_low": None if ends is None else ends.low,
        "difference_high": None if ends is None else ends.high,
        "champion": run is board.champion,
        "started": run.started,
        "report": f"runs/{run.stem}.html",
        "verdict": run.facts.headline,
    }
    for name, result in run.facts.metrics.items():
        if isinstance(result, Estimate) or name in board.columns:
            found[f"metric {name}"] = result.value
    return found | {f"column {name}": run.shown.get(name, "") for name in board.columns}
