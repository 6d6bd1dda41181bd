"""The verdict of a gate, on the model that was judged; its alias, when the gate has passed."""

from __future__ import annotations

from dataclasses import dataclass
from operator import methodcaller
from typing import Protocol

from evalreport.errors import ServerError
from evalreport.report.names import GATE_TAGS
from evalreport.report.summary import as_text
from evalreport.sinks.sink import Tracking
from evalreport.sinks.tags import with_block

LONGEST_TAG = 5000
"""Characters of a tag that every MLflow store takes."""


class Model(Protocol):
    """A version of a registered model, or a logged model, as `evalreport.sources.registry` finds it."""

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
    def shown(self) -> str:
        """The address of this very model."""
        ...


@dataclass(frozen=True)
class GateVerdict:
    """What a gate said of a model.

    Parameters
    ----------
    outcome : {"passed", "failed", "inconclusive"}
    tally : str
        How the checks came out, such as ``1 of 3 failed``.
    headline : str
        What the run's report says first.
    run : str
        ``runs:/…`` of the run that was judged.
    page : str
        Its address in the UI; empty where the store has none.

    Examples
    --------
    >>> GateVerdict("failed", "1 of 3 failed", "Recall is 71.7%", "runs:/0a1b").block
    '**Gate failed** (1 of 3 failed), judged by `runs:/0a1b`: Recall is 71.7%'
    """

    outcome: str
    tally: str
    headline: str
    run: str
    page: str = ""

    @property
    def tags(self) -> dict[str, str]:
        """The verdict as tags."""
        told = {"outcome": self.outcome, "headline": self.headline, "run": self.run, "page": self.page}
        return {GATE_TAGS + name: text[:LONGEST_TAG] for name, text in told.items() if text}

    @property
    def block(self) -> str:
        """The verdict as Markdown."""
        return f"**Gate {self.outcome}** ({self.tally}), judged by `{self.run}`: {as_text(self.headline)}"


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
        held = tracking.ask(methodcaller("get_logged_model", model.model_id), model.shown)
        missing = {key: text for key, text in verdict.tags.items() if held.tags.get(key) != text}
        if missing:
            tracking.ask(methodcaller("set_logged_model_tags", model.model_id, missing), model.shown)
        return bool(missing)
    which = (model.name, model.version)
    held = tracking.ask(methodcaller("get_model_version", *which), model.shown)
    calls = [
        methodcaller("set_model_version_tag", *which, key, text)
        for key, text in verdict.tags.items()
        if held.tags.get(key) != text
    ]
    text = with_block(held.description or "", verdict.block)
    if text != (held.description or ""):
        calls.append(methodcaller("update_model_version", *which, description=text))
    for call in calls:
        tracking.ask(call, model.shown)
    return bool(calls)


def promote(tracking: Tracking, model: Model, alias: str) -> None:
    """Set an alias to a version where it is not there yet, and look whether it is then.

    Raises
    ------
    ServerError
        The store refuses, or another program has moved the alias in between.
    """
    registered = tracking.ask(methodcaller("get_registered_model", model.name), model.shown)
    if str(registered.aliases.get(alias)) == model.version:
        return
    tracking.ask(methodcaller("set_registered_model_alias", model.name, alias, model.version), model.shown)
    held = tracking.ask(methodcaller("get_model_version_by_alias", model.name, alias), model.shown)
    if str(held.version) != model.version:
        raise ServerError(
            f"@{alias} was set to version {model.version}, and somebody else has moved it to {held.version}",
            where=model.shown,
            fix="agree on who promotes, then run the same command again",
        )
