"""A model of the registry before the gate: the run behind it, its verdict on the model, its alias."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport.errors import PromotionError, UsageError
from evalreport.gate.results import is_open, tally
from evalreport.panels.verdict.headline import headline
from evalreport.sinks.registry import GateVerdict, promote, record
from evalreport.sources.mlflow_client import Store, connect
from evalreport.sources.registry import MODELS, RegisteredModel, find_model
from evalreport.workflow.check import CheckedItem
from evalreport.workflow.runs import Item


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
        headline(outcome.evaluation).text,
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
