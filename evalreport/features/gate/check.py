"""The gate: one item against rules, a baseline and the rows that it was trained on."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalreport.columns.extras import texts_of
from evalreport.columns.names import ID
from evalreport.columns.request import listed
from evalreport.comparison.compare import compare
from evalreport.comparison.comparison import Comparison
from evalreport.core.bounds import Bound
from evalreport.core.errors import ColumnNotFoundError, FileMissingError, PromotionError, UsageError
from evalreport.data.arrays import ids_as_text
from evalreport.evaluation.evaluation import Evaluation
from evalreport.features.gate.data_checks import TrainingRows, data_checks
from evalreport.features.gate.documents import CheckedRun, as_dicts, result_lines
from evalreport.features.gate.registry import (
    MODELS,
    GateVerdict,
    RegisteredModel,
    find_model,
    promote,
    record,
)
from evalreport.features.gate.rules import (
    NEEDS,
    CheckResult,
    Use,
    check_change,
    is_open,
    rule_checks,
    tally,
)
from evalreport.metrics.catalogue import PRIMARY, find
from evalreport.page.comparison.sentences import headline as of_pair
from evalreport.page.sections.headline import headline
from evalreport.readers.formats import read_table
from evalreport.tracking.client import Store, connect
from evalreport.tracking.runs import find_run
from evalreport.workflow.compare import RUN_ID, evaluation_of, is_item, with_metrics
from evalreport.workflow.deliver import deliver_evaluation
from evalreport.workflow.items import Item
from evalreport.workflow.request import Destination, Request


@dataclass(frozen=True)
class CheckedRuns:
    """The rules of every compared run but the baseline.

    Parameters
    ----------
    runs : tuple of CheckedRun
    inconclusive_fails : bool
        Whether a rule that the sample cannot decide closes the gate.
    """

    runs: tuple[CheckedRun, ...]
    inconclusive_fails: bool

    @property
    def passed(self) -> bool:
        """Whether the gate is open: no rule has closed it."""
        results = tuple(result for run in self.runs for result in run.results)
        return is_open(results, inconclusive_fails=self.inconclusive_fails)

    def lines(self) -> Iterator[str]:
        """Yield the rules run by run, as `check` prints them."""
        for run in self.runs:
            yield from [run.name] if len(self.runs) > 1 else []
            yield from result_lines(run.results)
        yield tally(tuple(result for run in self.runs for result in run.results))

    def records(self) -> list[dict[str, Any]]:
        """Return the elements of `checks` in the JSON."""
        return [check for run in self.runs for check in as_dicts(run)]


@dataclass(frozen=True)
class RulesRequest:
    """What results are held against.

    Parameters
    ----------
    bounds : tuple of Bound
    use : {"interval", "estimate"}
        What of a result is held against them.
    inconclusive_fails : bool
        Whether a rule that the sample cannot decide closes the gate.
    """

    bounds: tuple[Bound, ...] = ()
    use: Use = "interval"
    inconclusive_fails: bool = True

    def check(self, found: Comparison) -> CheckedRuns:
        """Hold every run but the baseline against the rules, as `check` holds it alone."""
        base = None if found.baseline is None else found.names[found.baseline]
        rivals = [pair for pair in zip(found.names, found.evaluations, strict=True) if pair[0] != base]
        against = None if base is None else found
        return CheckedRuns(
            tuple(
                CheckedRun(name, rule_checks(ev, self.bounds, self.use, against=against, run=name))
                for name, ev in rivals
            ),
            self.inconclusive_fails,
        )


@dataclass(frozen=True, eq=False)
class GateRequest(RulesRequest):
    """What every item is held against.

    Parameters
    ----------
    baseline : Baseline or None
        Needed where a change is bounded.
    train : TrainingRows or None
    """

    baseline: Baseline | None = None
    train: TrainingRows | None = None


@dataclass(frozen=True, eq=False)
class Baseline:
    """What changes are measured from, how it was named, and what it is called."""

    name: str
    evaluation: Evaluation
    shown: str


@dataclass(frozen=True)
class CheckedItem:
    """An evaluation with its checks, the files that were written, and the comparison with the baseline."""

    evaluation: Evaluation
    results: tuple[CheckResult, ...]
    paths: tuple[Path, ...] = ()
    against: Comparison | None = None

    @property
    def verdict(self) -> str:
        """The verdict in one sentence: of the comparison with the baseline, else of the evaluation."""
        return (headline(self.evaluation) if self.against is None else of_pair(self.against)).text


def check_item(item: Item, request: Request, gate: GateRequest, where: Destination) -> CheckedItem:
    """Evaluate a run or a file, hold it against the gate (rules, then data), and deliver its report.

    Among several items the baseline itself is held against no rule. Of an `evaluation.json` there are no
    data to check.

    Raises
    ------
    EvalreportError
        Whatever keeps the item from being evaluated, or a rule from being understood.
    """
    ev = evaluation_of(item, with_metrics(request, gate.bounds))
    results: tuple[CheckResult, ...] = ()
    against = None
    if not (where.several and gate.baseline is not None and is_item(item, gate.baseline.name)):
        if gate.baseline is not None:
            against = _against(item.name, ev, gate.baseline, gate.bounds)
        run = "" if against is None else against.names[1]
        results = rule_checks(ev, gate.bounds, gate.use, against=against, run=run)
    if ev.predictions is not None:
        results += data_checks(ev.predictions, gate.train, named="withheld" not in ev.facts)
    return CheckedItem(ev, results, deliver_evaluation(ev, item, request, where).paths, against)


def _against(name: str, ev: Evaluation, baseline: Baseline, bounds: Sequence[Bound]) -> Comparison:
    """Compare what the verdict of the pair and rules ask for, and no more."""
    changes = [bound for bound in bounds if bound.change]
    for bound in changes:
        check_change(ev, bound)
    asked = [find(bound.metric, ev.task).name for bound in changes if not bound.part]
    parts = any(bound.part for bound in changes)
    metrics = tuple(dict.fromkeys((*PRIMARY[ev.task], *asked)))
    return compare([baseline.evaluation, ev], names=(baseline.shown, name), metrics=metrics, details=parts)


def baseline_of(
    name: str | None, bounds: Sequence[Bound], request: Request, tracking_uri: str | None
) -> Baseline | None:
    """Read and evaluate the baseline: a file of predictions, an `evaluation.json`, a run, or a model's run.

    Raises
    ------
    UsageError
        A bounded change, and nothing that it is a change from.
    NotFoundError
        Neither a file nor a run.
    """
    if name is None:
        changes = [bound.text for bound in bounds if bound.change]
        if changes:
            raise UsageError(f"{changes[0]!r} needs a baseline", where="--require", fix=NEEDS)
        return None
    item = _item(name, tracking_uri)
    return Baseline(name, evaluation_of(item, with_metrics(request, bounds)), item.name)


def _item(name: str, tracking_uri: str | None) -> Item:
    if os.path.exists(name):
        return Item(path=name)
    is_model = name.startswith(MODELS)
    if not is_model and RUN_ID.fullmatch(name) is None:
        raise FileMissingError(
            f"there is no baseline {name}",
            where="--baseline",
            fix=f"name a file that exists, a run id, or {MODELS}NAME@ALIAS",
        )
    store = connect(tracking_uri)
    return Item(run=find_model(store, name).run if is_model else find_run(store, name), store=store)


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
        None if key is None else ids_as_text(table.columns[key]).tolist(),
        None if texts is None else texts_of(texts).tolist(),
    )


@dataclass(frozen=True)
class ModelCandidate:
    """A model that is judged, and what it is judged against.

    Parameters
    ----------
    store : Store
    model : RegisteredModel
    baseline : RegisteredModel or None
        Where the baseline is a model of the registry, too.
    alias : str
        What it is promoted to; empty for not at all.
    """

    store: Store
    model: RegisteredModel
    baseline: RegisteredModel | None = None
    alias: str = ""

    @property
    def item(self) -> Item:
        """The run behind the model, as any other."""
        return Item(run=self.model.run, store=self.store)


def candidate_of(
    address: str, baseline: str | None, alias: str | None, tracking_uri: str | None
) -> ModelCandidate:
    """Return the model that an address means now, and the one that its baseline means.

    Raises
    ------
    UsageError
        Not the address of a model; an alias for a logged model, which can have none.
    NotFoundError
        No such model, or none with a run.
    """
    store = connect(tracking_uri)
    held = find_model(store, baseline) if baseline and baseline.startswith(MODELS) else None
    model = find_model(store, address)
    if alias and not model.name:
        raise UsageError(
            f"{model.shown} is no version of a registered model, so that it can have no alias",
            fix="register the model, and name it as models:/NAME/VERSION",
        )
    return ModelCandidate(store, model, held, alias or "")


def settle(candidate: ModelCandidate, outcome: CheckedItem, *, inconclusive_fails: bool) -> dict[str, object]:
    """Write the verdict to the model and, if the gate is open and nothing has moved meanwhile, set its alias.

    Parameters
    ----------
    candidate : ModelCandidate
    outcome : CheckedItem
        Of its run.
    inconclusive_fails : bool

    Returns
    -------
    dict
        ``model``, ``run``, ``outcome``, ``written`` and, where an alias was asked for, ``alias`` and
        ``promoted``.

    Raises
    ------
    PromotionError
        The address of the model or of the baseline means another version by now. The verdict stands.
    """
    results = outcome.results
    passed = is_open(results, inconclusive_fails=inconclusive_fails)
    failed = any(result.outcome == "failed" for result in results)
    run = candidate.model.run
    verdict = GateVerdict(
        "passed" if passed else "failed" if failed else "inconclusive",
        tally(results),
        outcome.verdict,
        f"runs:/{run.run_id}",
        candidate.store.page_of_run(run.experiment_id, run.run_id),
    )
    written = record(candidate.store, candidate.model, verdict)
    told: dict[str, object] = {
        "model": candidate.model.shown,
        "run": verdict.run,
        "outcome": verdict.outcome,
        "written": written,
    }
    if candidate.alias:
        told["alias"] = candidate.alias
        told["promoted"] = passed
        if passed:
            _promote(candidate)
    return told


def _promote(candidate: ModelCandidate) -> None:
    """Set the alias, if both addresses still mean what was judged."""
    for judged in filter(None, (candidate.model, candidate.baseline)):
        now = find_model(candidate.store, judged.address)
        if (now.shown, now.run.run_id) != (judged.shown, judged.run.run_id):
            raise PromotionError(
                f"{judged.address} was {judged.shown} when it was judged, and is {now.shown} now; "
                f"@{candidate.alias} was not set",
                where=candidate.model.shown,
                fix="run the same command again: it judges what stands there now",
            )
    promote(candidate.store, candidate.model, candidate.alias)
