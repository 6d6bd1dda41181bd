"""The gate: one item against rules, a baseline and the rows that it was trained on.

The data themselves: gaps, ranges, sums, duplicates, and test rows that were trained on.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, assert_never

import numpy as np
import numpy.typing as npt

from evalreport.columns.column_request import list_names
from evalreport.columns.join import texts_of
from evalreport.columns.names import ID
from evalreport.comparison.compare import compare
from evalreport.comparison.comparison import Comparison
from evalreport.core.bounds import Bound
from evalreport.core.errors import ColumnNotFoundError, FileMissingError, PromotionError, UsageError
from evalreport.data.arrays import ids_as_text, repeated_ids
from evalreport.data.labels import UNPARSED, Graded, Multiclass
from evalreport.data.predictions import Predictions
from evalreport.data.scores import Decisions, NoScores, Probabilities
from evalreport.evaluation.evaluation import Evaluation
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
    count_outcomes,
    gate_passes,
    rule_checks,
)
from evalreport.metrics.catalogue import PRIMARY, find
from evalreport.page.comparison.wording import headline as of_pair
from evalreport.page.sections.headline import headline
from evalreport.readers.formats import read_table
from evalreport.tracking.client import Store, connect
from evalreport.tracking.runs import find_run
from evalreport.workflow.compare import RUN_ID, evaluation_of, is_item, with_metrics
from evalreport.workflow.deliver import deliver_evaluation
from evalreport.workflow.items import Item
from evalreport.workflow.request import Destination, Request

FIRST = 3
"""Examples that are named in a line."""


@dataclass(frozen=True)
class TrainingRows:
    """The ids and texts of the training data.

    Parameters
    ----------
    name : str
        The file's name.
    ids : sequence of str or None
    texts : sequence of str or None
        Of the same length, in the same order.
    """

    name: str
    ids: Sequence[str] | None = None
    texts: Sequence[str] | None = None


def data_checks(
    rows: Predictions, train: TrainingRows | None = None, *, named: bool = True
) -> tuple[CheckResult, ...]:
    """Check the rows of an evaluation.

    Missing values, scores outside their range and rows that do not sum to one are errors when the file is
    read; here they are reported with their counts.

    Parameters
    ----------
    rows : Predictions
    train : TrainingRows, optional
        Compared with the rows by id and by text.
    named : bool
        Whether ids of examples may be shown.

    Examples
    --------
    >>> from evalreport.data.labels import Binary
    >>> from evalreport.data.predictions import predictions
    >>> space = Binary("ham", "spam")
    >>> rows = predictions(space, ["ham", "spam"], ["ham", "spam"], ids=["7", "8"])
    >>> for check in data_checks(rows, TrainingRows("train.csv", ids=["8", "9"])):
    ...     print(check.outcome, check.name, check.shown, sep=" | ")
    passed | truth | 2 rows, none missing; 2 of 2 labels occur
    passed | predictions | 2 rows, none missing
    passed | ids | 2, all distinct
    failed | leakage | 1 row of the test set also occurs in train.csv (id 8)
    """
    if isinstance(rows.space, Graded):
        missing = 0 if rows.y_pred is None else int((rows.y_pred == UNPARSED).sum())
        found = [_data("grades", 0, f"{len(rows):,} attempts, {missing:,} without a grade")]
    else:
        found = [_truth(rows), *_predictions(rows), *_scores(rows)]
    if rows.ids is not None:
        found.append(_ids(rows.ids, named))
    if rows.texts is not None:
        found.append(_duplicates(rows, named))
    if train is not None:
        found.append(_leakage(rows, train, named))
    return tuple(found)


def _data(name: str, broken: int, shown: str, detail: str = "") -> CheckResult:
    return CheckResult(
        name, "failed" if broken else "passed", shown, detail, kind="data", value=float(broken), bound=0.0
    )


def _truth(rows: Predictions) -> CheckResult:
    occurring = int(rows.y_true.any(axis=0).sum() if rows.y_true.ndim == 2 else len(np.unique(rows.y_true)))
    shown = f"{len(rows):,} rows, none missing; {occurring:,} of {len(rows.space):,} labels occur"
    return _data("truth", 0, shown)


def _ids(ids: npt.NDArray[np.str_], named: bool) -> CheckResult:
    again = repeated_ids(ids)
    if again is None:
        return _data("ids", 0, f"{len(ids):,}, all distinct")
    return _data("ids", again.times, again.shown, again.first_example if named else "")


def _predictions(rows: Predictions) -> list[CheckResult]:
    if rows.y_pred is None:
        return []
    unparsed = int((rows.y_pred == UNPARSED).sum()) if rows.parsed is not None else 0
    tail = f"; {unparsed:,} could not be read and count as wrong" if unparsed else ""
    return [_data("predictions", 0, f"{len(rows):,} rows, none missing{tail}")]


def _scores(rows: Predictions) -> list[CheckResult]:
    match rows.scores:
        case NoScores():
            return []
        case Decisions():
            return [_data("scores", 0, "none missing, all finite")]
        case Probabilities():
            sums = ", sums to 1" if isinstance(rows.space, Multiclass) else ""
            return [_data("scores", 0, f"none missing, all in [0, 1]{sums}", "; ".join(rows.scores.notes))]
        case never:
            assert_never(never)


def _duplicates(rows: Predictions, named: bool) -> CheckResult:
    keys = _keys(rows.texts or ())
    seen: dict[str, int] = {}
    first = np.array(
        [seen.setdefault(key, row) if key else row for row, key in enumerate(keys)], dtype=np.intp
    )
    again = np.flatnonzero(first != np.arange(len(keys)))
    apart = again if rows.groups is None else again[_differs_from_first(rows.groups.codes, again, first)]
    if not apart.size:
        together = f"{_rows(again.size)}, each in one group with its first" if again.size else "none"
        return _data("duplicate texts", 0, together)
    return _data(
        "duplicate texts",
        apart.size,
        f"{_rows(apart.size)} with the text of an earlier row{_format_rows(rows, apart, named)}",
        "they count twice and make the intervals too narrow: drop them, or name a --set group that holds "
        "them",
    )


def _differs_from_first(
    codes: npt.NDArray[np.int32], again: npt.NDArray[np.intp], first: npt.NDArray[np.intp]
) -> npt.NDArray[np.bool_]:
    return np.asarray(codes[again] != codes[first[again]])


def _leakage(rows: Predictions, train: TrainingRows, named: bool) -> CheckResult:
    by_id = _shared_rows(rows.ids, train.ids)
    texts = _keys(rows.texts or ())
    trained = _keys(train.texts or ())
    by_text = _shared_rows(texts, [text for text in trained if text]) if texts and trained else None
    how = [
        what
        for what, found in (("id", by_id), ("text (ignoring case and spaces)", by_text))
        if found is not None
    ]
    detail = f"compared by {' and '.join(how)}"
    if by_id is not None and by_text is not None and 2 * (by_id & by_text).sum() < by_id.sum():
        by_id, detail = (
            None,
            "compared by text (ignoring case and spaces); both files number their rows, so ids do not count",
        )
    parts = [found for found in (by_id, by_text) if found is not None]
    if not parts:
        return CheckResult(
            "leakage",
            "inconclusive",
            f"no common column to compare with {train.name}",
            "name a column that both files have, with --id or --set show_text",
            kind="data",
        )
    shared = np.flatnonzero(np.logical_or.reduce(parts))
    if not shared.size:
        return _data("leakage", 0, f"no row of the test set occurs in {train.name}", detail)
    verb = "occurs" if shared.size == 1 else "occur"
    words = f"{_rows(shared.size)} of the test set also {verb} in {train.name}"
    return _data("leakage", shared.size, words + _format_rows(rows, shared, named), detail)


def _shared_rows(
    ours: Sequence[str] | Any | None, theirs: Sequence[str] | None
) -> npt.NDArray[np.bool_] | None:
    if ours is None or theirs is None:
        return None
    known = set(theirs)
    return np.fromiter((str(key) in known for key in ours), dtype=bool, count=len(ours))


def _keys(texts: Sequence[str]) -> list[str]:
    """Return texts in the form used for comparison: without case and repeated white space."""
    return [" ".join(text.casefold().split()) for text in texts]


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def _format_rows(rows: Predictions, found: npt.NDArray[np.intp], named: bool) -> str:
    if not named:
        return ""
    first = [str(row) if rows.ids is None else str(rows.ids[row]) for row in found[:FIRST]]
    noun = "row" if rows.ids is None else "id"
    more = ", …" if found.size > FIRST else ""
    return f" ({noun if found.size == 1 else noun + 's'} {', '.join(first)}{more})"


@dataclass(frozen=True)
class CheckedRuns:
    """The rules of every compared run but the baseline.

    Parameters
    ----------
    runs : tuple of CheckedRun
    inconclusive_fails : bool
        Whether inconclusive rules fail the gate.
    """

    runs: tuple[CheckedRun, ...]
    inconclusive_fails: bool

    @property
    def all_passed(self) -> bool:
        """Whether the gate passes."""
        results = tuple(result for run in self.runs for result in run.results)
        return gate_passes(results, inconclusive_fails=self.inconclusive_fails)

    def lines(self) -> Iterator[str]:
        """Yield the rules run by run, as `check` prints them."""
        for run in self.runs:
            yield from [run.name] if len(self.runs) > 1 else []
            yield from result_lines(run.results)
        yield count_outcomes(tuple(result for run in self.runs for result in run.results))

    def records(self) -> list[dict[str, Any]]:
        """Return the elements of `checks` in the JSON."""
        return [check for run in self.runs for check in as_dicts(run)]


@dataclass(frozen=True)
class RulesRequest:
    """The rules for results.

    Parameters
    ----------
    bounds : tuple of Bound
    use : {"interval", "estimate"}
        Whether rules are tested on the interval or on the value.
    inconclusive_fails : bool
        Whether inconclusive rules fail the gate.
    """

    bounds: tuple[Bound, ...] = ()
    use: Use = "interval"
    inconclusive_fails: bool = True

    def check(self, found: Comparison) -> CheckedRuns:
        """Check every run except the baseline against the rules."""
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
    """The rules and data checks for every item.

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
    started: int | None = None
    """When its run began, in milliseconds since 1970, UTC; None for a file."""


@dataclass(frozen=True)
class CheckedItem:
    """An evaluation with its checks, the files that were written, and the comparison with the baseline."""

    evaluation: Evaluation
    results: tuple[CheckResult, ...]
    paths: tuple[Path, ...] = ()
    against: Comparison | None = None
    baseline_started: int | None = None

    @property
    def verdict(self) -> str:
        """The verdict in one sentence: of the comparison with the baseline, else of the evaluation."""
        return (headline(self.evaluation) if self.against is None else of_pair(self.against)).text


def check_item(item: Item, request: Request, gate: GateRequest, where: Destination) -> CheckedItem:
    """Evaluate a run or a file, check it (rules, then data), and deliver its report.

    Among several items the baseline itself is not checked. An `evaluation.json` has no data checks.

    Raises
    ------
    EvalreportError
        The item cannot be evaluated, or a rule is invalid.
    """
    ev = evaluation_of(item, with_metrics(request, gate.bounds))
    results: tuple[CheckResult, ...] = ()
    against = None
    started = None if gate.baseline is None else gate.baseline.started
    if not (where.several and gate.baseline is not None and is_item(item, gate.baseline.name)):
        if gate.baseline is not None:
            against = _against(item.name, ev, gate.baseline, gate.bounds)
        run = "" if against is None else against.names[1]
        results = rule_checks(ev, gate.bounds, gate.use, against=against, run=run)
    if ev.predictions is not None:
        results += data_checks(ev.predictions, gate.train, named="withheld" not in ev.data_checks)
    return CheckedItem(ev, results, deliver_evaluation(ev, item, request, where).paths, against, started)


def check_results(result: Any, rules: Sequence[str], test_on: Use) -> tuple[str, ...]:
    """Check rules on an evaluation, or rules of changes on a comparison of two; return those that do not
    pass.

    Parameters
    ----------
    result : Evaluation or Comparison
    rules : sequence of str
    test_on : {"interval", "estimate"}

    Raises
    ------
    UsageError
        A text that is not a rule, or a metric that the result does not have.
    """
    bounds = tuple(map(Bound.parse, rules))
    against = result if isinstance(result, Comparison) else None
    if any(bound.change for bound in bounds) and against is None:
        raise UsageError(
            "a rule about a change needs a comparison",
            where=f"rule {next(bound.text for bound in bounds if bound.change)!r}",
            fix="pass er.compare([baseline, ev])",
        )
    if against is not None and len(against.names) != 2:
        raise UsageError(
            f"the comparison has {len(against.names)} runs", where="rules", fix="compare two runs"
        )
    ev = result if against is None else against.evaluations[1]
    for bound in bounds:
        if bound.change:
            check_change(ev, bound)
    run = "" if against is None else against.names[1]
    found = rule_checks(ev, bounds, test_on, against=against, run=run)
    return tuple(f"{one.outcome}: {one.name}: {one.shown}" for one in found if one.outcome != "passed")


def _against(name: str, ev: Evaluation, baseline: Baseline, bounds: Sequence[Bound]) -> Comparison:
    """Compare only the metrics that the verdict and the rules need."""
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
    started = None if item.run is None else item.run.started
    return Baseline(name, evaluation_of(item, with_metrics(request, bounds)), item.name, started)


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
            fix=f"columns are: {list_names(table.names)}. Use --id or --set show_text",
        )
    return TrainingRows(
        table.name,
        None if key is None else ids_as_text(table.columns[key]).tolist(),
        None if texts is None else texts_of(texts).tolist(),
    )


@dataclass(frozen=True)
class ModelCandidate:
    """A model to check, and its baseline.

    Parameters
    ----------
    store : Store
    model : RegisteredModel
    baseline : RegisteredModel or None
        If the baseline is also a registered model.
    alias : str
        The alias to set; empty for none.
    """

    store: Store
    model: RegisteredModel
    baseline: RegisteredModel | None = None
    alias: str = ""

    @property
    def item(self) -> Item:
        """The run behind the model."""
        return Item(run=self.model.run, store=self.store)


def candidate_of(
    address: str, baseline: str | None, alias: str | None, tracking_uri: str | None
) -> ModelCandidate:
    """Return the models that the addresses currently resolve to.

    Raises
    ------
    UsageError
        Not a model URI, or an alias for a logged model, which cannot have one.
    NotFoundError
        No such model, or none with a run.
    """
    store = connect(tracking_uri)
    held = find_model(store, baseline) if baseline and baseline.startswith(MODELS) else None
    model = find_model(store, address)
    if alias and not model.name:
        raise UsageError(
            f"{model.model_uri} is not a version of a registered model, so it cannot have an alias",
            fix="register the model, and name it as models:/NAME/VERSION",
        )
    return ModelCandidate(store, model, held, alias or "")


def settle(candidate: ModelCandidate, outcome: CheckedItem, *, inconclusive_fails: bool) -> dict[str, object]:
    """Write the verdict to the model and, if the gate passes and the model is unchanged, set its alias.

    Parameters
    ----------
    candidate : ModelCandidate
    outcome : CheckedItem
        Of its run.
    inconclusive_fails : bool

    Returns
    -------
    dict
        ``model``, ``run``, ``outcome``, ``written`` and, with an alias, ``alias`` and ``promoted``.

    Raises
    ------
    PromotionError
        The address of the model or of the baseline now resolves to another version. The verdict is kept.
    """
    results = outcome.results
    passed = gate_passes(results, inconclusive_fails=inconclusive_fails)
    failed = any(result.outcome == "failed" for result in results)
    run = candidate.model.run
    verdict = GateVerdict(
        "passed" if passed else "failed" if failed else "inconclusive",
        count_outcomes(results),
        outcome.verdict,
        f"runs:/{run.run_id}",
        candidate.store.page_of_run(run.experiment_id, run.run_id),
    )
    written = record(candidate.store, candidate.model, verdict)
    promotion: dict[str, object] = {
        "model": candidate.model.model_uri,
        "run": verdict.run,
        "outcome": verdict.outcome,
        "written": written,
    }
    if candidate.alias:
        promotion["alias"] = candidate.alias
        promotion["promoted"] = passed
        if passed:
            _promote(candidate)
    return promotion


def _promote(candidate: ModelCandidate) -> None:
    """Set the alias, if both addresses still resolve to the checked versions."""
    for checked in filter(None, (candidate.model, candidate.baseline)):
        now = find_model(candidate.store, checked.address)
        if (now.model_uri, now.run.run_id) != (checked.model_uri, checked.run.run_id):
            raise PromotionError(
                f"{checked.address} was {checked.model_uri} when it was checked, and is {now.model_uri} now; "
                f"@{candidate.alias} was not set",
                where=candidate.model.model_uri,
                fix="run the same command again to check the current version",
            )
    promote(candidate.store, candidate.model, candidate.alias)
