"""The pages that are about all runs of an experiment: the front page of its site, and a metric over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalreport import __version__
from evalreport.core.json_codec import dumps, encode
from evalreport.core.result import Estimate
from evalreport.features.site.leaderboard import Board, OverTime
from evalreport.features.site.page import front_page, over_time_sections
from evalreport.page.comparison.table import RANKING_COLUMNS, ranking_rows, table_data
from evalreport.page.csv_tables import as_csv
from evalreport.page.elements import Section
from evalreport.page.payload import LONGEST_VERDICT, SITE, VERSION_TAG, Payload, content_digest
from evalreport.page.render import asset, whole_page


def render_board(board: Board) -> str:
    """Return the front page of a site, reproducible to the byte."""
    footer = "Opens from a folder, without a server, and without scripts: then the table is sorted."
    return _page(f"{board.experiment}: {len(board.runs)} runs", front_page(board), footer, asset("site.js"))


def render_over_time(found: OverTime, experiment: str) -> str:
    """Return the page of a metric over time, reproducible to the byte."""
    footer = f"evalreport {__version__} · one file, no network requests."
    title = f"{experiment}: {found.metric.title} over time"
    return _page(title, over_time_sections(found, experiment), footer, asset("script.js"))


def _page(title: str, made: tuple[Section, ...], footer: str, script: str) -> str:
    return whole_page(title, made, footer, asset("style.css") + asset("site.css"), script)


def site_files(board: Board) -> dict[str, bytes]:
    """Return the front page, and the leaderboard and all differences as CSV and JSON."""
    rows = [_row(board, place) for place in range(len(board.ranking))]
    names = dict.fromkeys(name for row in rows for name in row)
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
        "index.html": render_board(board).encode(),
        "runs.csv": as_csv({name: [row.get(name) for row in rows] for name in names}),
        "runs.json": dumps(whole).encode(),
        "pairs.csv": as_csv({name: [row[name] for row in pairs] for name in PAIR}),
    }


def site_payload(files: Mapping[str, bytes], headline: str) -> Payload:
    """Return a site as it is logged into a run: all of its files in a folder of its own."""
    return Payload(
        digest=content_digest(__version__, {path: data.hex() for path, data in files.items()}),
        tags={VERSION_TAG: __version__, "evalreport.site": headline[:LONGEST_VERDICT]},
        artifacts={f"{SITE}/{path}": data for path, data in files.items()},
        part="site",
    )


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
    row = ranking_rows(board.ranking, board.metric)[place]
    entry = row.entry
    run, d = board.by_name[entry.run], board.behind(entry.run)
    ends = None if d is None else d.adjusted
    found: dict[str, Any] = {
        "rank": place + 1,
        **{name: column[0] for name, column in table_data(RANKING_COLUMNS, [row]).items()},
        "run_id": run.run_id,
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
