"""Models by their addresses (`models:/…`), and the runs that made them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from operator import methodcaller
from typing import Any

from evalreport.errors import NotFoundError, RunNotFoundError, UsageError
from evalreport.sources.mlflow_client import Store
from evalreport.sources.runs import RunInfo, find_run

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
    def shown(self) -> str:
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
            f"{address} is not the address of a model",
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
            where=store.shown,
            fix="look at the model's versions and aliases in the MLflow UI",
        ) from None


def _run(store: Store, address: str, run_id: str | None) -> RunInfo:
    if not run_id:
        raise NotFoundError(
            f"{address} was registered without a run, so that it has no predictions",
            where=store.shown,
            fix="register it from a run, or name the run by --run-id",
        )
    return find_run(store, run_id)
