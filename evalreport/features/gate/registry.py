"""Write the verdict of a gate to a registered model, and set its alias when the gate passes.

Models are resolved by their URIs (`models:/…`) to the runs that created them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from operator import methodcaller
from typing import Any, Protocol

from evalreport.core.errors import NotFoundError, RunNotFoundError, ServerError, UsageError
from evalreport.page.payload import GATE_TAGS
from evalreport.page.text_summary import as_text
from evalreport.tracking.client import Store
from evalreport.tracking.log_results import with_block
from evalreport.tracking.runs import RunInfo, Tracking, find_run

LONGEST_TAG = 5000
"""Characters of a tag that every MLflow store takes."""


class Model(Protocol):
    """A version of a registered model, or a logged model, as `evalreport.features.gate.registry` finds it."""

    @property
    def name(self) -> str:
        """Of the registered model; empty for a logged one."""
        ...

    @property
    def version(self) -> str:
        """Of the registered model."""
        ...

    @property
    def model_id(self) -> str:
        """Of the logged model."""
        ...

    @property
    def model_uri(self) -> str:
        """The address of this very model."""
        ...


@dataclass(frozen=True)
class GateVerdict:
    """The result of a gate for a model.

    Parameters
    ----------
    outcome : {"passed", "failed", "inconclusive"}
    counts : str
        Counts of the outcomes, such as ``1 of 3 failed``.
    headline : str
        The headline of the run's report.
    run : str
        ``runs:/…`` of the evaluated run.
    page : str
        Its address in the UI; empty where the store has none.

    Examples
    --------
    >>> GateVerdict("failed", "1 of 3 failed", "Recall is 71.7%", "runs:/0a1b").block
    '**Gate failed** (1 of 3 failed), checked on `runs:/0a1b`: Recall is 71.7%'
    """

    outcome: str
    counts: str
    headline: str
    run: str
    page: str = ""

    @property
    def tags(self) -> dict[str, str]:
        """The verdict as tags."""
        tags = {"outcome": self.outcome, "headline": self.headline, "run": self.run, "page": self.page}
        return {GATE_TAGS + name: text[:LONGEST_TAG] for name, text in tags.items() if text}

    @property
    def block(self) -> str:
        """The verdict as Markdown."""
        return f"**Gate {self.outcome}** ({self.counts}), checked on `{self.run}`: {as_text(self.headline)}"


def record(tracking: Tracking, model: Model, verdict: GateVerdict) -> bool:
    """Write a verdict as tags, and into the description of a version, but for what is there already.

    Returns
    -------
    bool
        Whether anything was written.

    Raises
    ------
    ServerError
        The store refuses.
    """
    if model.model_id:
        held = tracking.ask(methodcaller("get_logged_model", model.model_id), model.model_uri)
        missing = {key: text for key, text in verdict.tags.items() if held.tags.get(key) != text}
        if missing:
            tracking.ask(methodcaller("set_logged_model_tags", model.model_id, missing), model.model_uri)
        return bool(missing)
    which = (model.name, model.version)
    held = tracking.ask(methodcaller("get_model_version", *which), model.model_uri)
    calls = [
        methodcaller("set_model_version_tag", *which, key, text)
        for key, text in verdict.tags.items()
        if held.tags.get(key) != text
    ]
    text = with_block(held.description or "", verdict.block)
    if text != (held.description or ""):
        calls.append(methodcaller("update_model_version", *which, description=text))
    for call in calls:
        tracking.ask(call, model.model_uri)
    return bool(calls)


def promote(tracking: Tracking, model: Model, alias: str) -> None:
    """Set an alias to a version where it is not there yet, and look whether it is then.

    Raises
    ------
    ServerError
        The store refuses, or another program has moved the alias in between.
    """
    registered = tracking.ask(methodcaller("get_registered_model", model.name), model.model_uri)
    if str(registered.aliases.get(alias)) == model.version:
        return
    tracking.ask(
        methodcaller("set_registered_model_alias", model.name, alias, model.version), model.model_uri
    )
    held = tracking.ask(methodcaller("get_model_version_by_alias", model.name, alias), model.model_uri)
    if str(held.version) != model.version:
        raise ServerError(
            f"@{alias} was set to version {model.version}, and someone else has moved it to {held.version}",
            where=model.model_uri,
            fix="agree on who promotes, then run the same command again",
        )


MODELS = "models:/"
_LOGGED = re.compile(r"models:/(?P<id>m-[0-9a-f]{32})/?")
_VERSION = re.compile(r"models:/(?P<name>[^/@]+)(?:/(?P<version>\d+)|@(?P<alias>[^/@]+))")


@dataclass(frozen=True)
class RegisteredModel:
    """A version of a registered model, or a logged model, and the run that made it.

    Parameters
    ----------
    address : str
        As it was asked for.
    run : RunInfo
    name, version : str
        Of a registered model; empty for a logged one.
    model_id : str
        Of a logged model; empty for a version.
    """

    address: str
    run: RunInfo
    name: str = ""
    version: str = ""
    model_id: str = ""

    @property
    def model_uri(self) -> str:
        """The address that means this very version for ever."""
        return f"{MODELS}{self.name}/{self.version}" if self.name else f"{MODELS}{self.model_id}"


def find_model(store: Store, address: str) -> RegisteredModel:
    """Return the model that an address means now, with the run that made it.

    Parameters
    ----------
    store : Store
    address : str
        ``models:/NAME/VERSION``, ``models:/NAME@ALIAS`` or ``models:/m-…`` of a logged model.

    Raises
    ------
    UsageError
        Not such an address.
    NotFoundError
        No such model, version or alias, or it was registered without a run.
    RunNotFoundError
        The run is gone.
    """
    logged = _LOGGED.fullmatch(address)
    if logged:
        model = store.ask(methodcaller("get_logged_model", logged["id"]), address)
        return RegisteredModel(address, _run(store, address, model.source_run_id), model_id=logged["id"])
    named = _VERSION.fullmatch(address)
    if named is None:
        raise UsageError(
            f"{address} is not a model URI",
            fix=f"write {MODELS}NAME/VERSION, {MODELS}NAME@ALIAS or {MODELS}m-… of a logged model",
        )
    found = _version(store, address, named)
    run_id = found.run_id
    behind = _LOGGED.fullmatch(found.source or "")
    if not run_id and behind:  # registered from a logged model alone
        run_id = store.ask(methodcaller("get_logged_model", behind["id"]), address).source_run_id
    return RegisteredModel(address, _run(store, address, run_id), found.name, str(found.version))


def _version(store: Store, address: str, named: re.Match[str]) -> Any:
    name, version, alias = named["name"], named["version"], named["alias"]
    ask = ("get_model_version", name, version) if version else ("get_model_version_by_alias", name, alias)
    try:
        return store.ask(methodcaller(*ask), address)
    except (RunNotFoundError, UsageError) as error:  # of an unknown alias MLflow says that a value is invalid
        raise NotFoundError(
            f"there is no {address}: {error.message}",
            where=store.display_name,
            fix="look at the model's versions and aliases in the MLflow UI",
        ) from None


def _run(store: Store, address: str, run_id: str | None) -> RunInfo:
    if not run_id:
        raise NotFoundError(
            f"{address} was registered without a run, so it has no predictions",
            where=store.display_name,
            fix="register it from a run, or name the run by --run-id",
        )
    return find_run(store, run_id)
