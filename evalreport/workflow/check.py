"""The gate: one item against rules, a baseline and the rows that it was trained on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evalreport.checks.data import TrainingRows, data_checks
from evalreport.checks.drops import drop_checks
from evalreport.checks.rules import Use, run_rules
from evalreport.checks.values import AllowedDrop, CheckResult, Rule
from evalreport.errors import ColumnNotFoundError, FileMissingError, UsageError
from evalreport.evaluation.model import Evaluation
from evalreport.sources.mlflow_client import connect
from evalreport.sources.request import listed
from evalreport.sources.runs import find_run
from evalreport.sources.shapes.extras import texts_of
from evalreport.sources.shapes.roles import ID
from evalreport.sources.tables import read_table
from evalreport.workflow.compare import evaluation_of
from evalreport.workflow.report import deliver_evaluation
from evalreport.workflow.request import Destination, Request
from evalreport.workflow.runs import Item

_RUN_ID = re.compile(r"[0-9a-f]{6,32}")


@dataclass(frozen=True, eq=False)
class Gate:
    """What every item is held against.

    Parameters
    ----------
    rules : tuple of Rule
    use : {"estimate", "lower"}
    drops : tuple of AllowedDrop
    baseline : Evaluation or None
        Needed where there are drops.
    train : TrainingRows or None
    """

    rules: tuple[Rule, ...] = ()
    use: Use = "estimate"
    drops: tuple[AllowedDrop, ...] = ()
    baseline: Evaluation | None = None
    train: TrainingRows | None = None


@dataclass(frozen=True)
class Outcome:
    """An evaluation with its checks, and the files that were written."""

    evaluation: Evaluation
    results: tuple[CheckResult, ...]
    paths: tuple[Path, ...] = ()


def check_item(item: Item, request: Request, gate: Gate, where: Destination) -> Outcome:
    """Evaluate a run or a file, hold it against the gate (rules, drops, data), and deliver its report.

    Of an `evaluation.json` there are no data to check.

    Raises
    ------
    EvalreportError
        Whatever keeps the item from being evaluated, or a rule from being understood.
    """
    ev = evaluation_of(item, request)
    results = _results(ev, gate)
    if ev.predictions is not None:
        results += data_checks(ev.predictions, gate.train, named="withheld" not in ev.facts)
    return Outcome(ev, results, deliver_evaluation(ev, item, request, where).paths)


def _results(ev: Evaluation, gate: Gate) -> tuple[CheckResult, ...]:
    results = run_rules(ev, gate.rules, gate.use)
    return results if gate.baseline is None else results + drop_checks(ev, gate.baseline, gate.drops)


def baseline_of(
    name: str | None, drops: Sequence[AllowedDrop], request: Request, tracking_uri: str | None
) -> Evaluation | None:
    """Read and evaluate the baseline: a file of predictions, an `evaluation.json`, or a run.

    Raises
    ------
    UsageError
        A baseline without an allowed drop, or the other way round.
    NotFoundError
        Neither a file nor a run.
    """
    if name is None and not drops:
        return None
    if name is None:
        raise UsageError(
            "--allow-drop needs something to drop from", fix="name a file or a run with --baseline"
        )
    if not drops:
        raise UsageError(
            "--baseline says nothing by itself", fix='add what is allowed: --allow-drop "f1_macro 0.01"'
        )
    wanted = tuple(dict.fromkeys(drop.metric for drop in drops))
    plain = replace(request, artifact=None, format=None, tune_on=None, metrics=wanted)
    return evaluation_of(_item(name, tracking_uri), plain)


def _item(name: str, tracking_uri: str | None) -> Item:
    if Path(name).exists():
        return Item(path=name)
    if _RUN_ID.fullmatch(name) is None:
        raise FileMissingError(
            f"there is no baseline {name}", where="--baseline", fix="name a file that exists, or a run id"
        )
    store = connect(tracking_uri)
    return Item(run=find_run(store, name), store=store)


def training_rows(name: str | None, request: Request) -> TrainingRows | None:
    """Read ids and texts of the rows that the model was trained on.

    Raises
    ------
    ColumnNotFoundError
        The file has neither; the columns are listed.
    """
    if name is None:
        return None
    columns = request.columns
    ids = (columns.id,) if columns.id is not None else ID
    wanted = {*ids, *filter(None, (columns.example_text,))}
    table = read_table(Path(name), columns=lambda names: [found for found in names if found in wanted])
    key = next((found for found in ids if found in table.columns), None)
    texts = None if columns.example_text is None else table.columns.get(columns.example_text)
    if key is None and texts is None:
        raise ColumnNotFoundError(
            f"{table.name} has no column of ids or texts to compare by",
            where=f"--train {name}",
            fix=f"columns are: {listed(table.names)}. Use --id or --example-text",
        )
    return TrainingRows(
        table.name,
        None if key is None else [str(value) for value in table.columns[key].tolist()],
        None if texts is None else texts_of(texts).tolist(),
    )
