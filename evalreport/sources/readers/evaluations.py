"""What evaluation and annotation tools write, recognised by its content: one small file for each tool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evalreport.sources.readers import (
    argilla,
    inspect_ai,
    label_studio,
    lm_eval,
    openai_batch,
    prodigy,
    promptfoo,
)
from evalreport.sources.readers.records import Records


@dataclass(frozen=True)
class Tool:
    """One tool that writes JSON or JSON lines.

    Parameters
    ----------
    name : str
        As `--format` names it.
    fits : callable
        Whether a parsed document is one of this tool.
    records : callable
        From the document to flat records and what their columns are.
    """

    name: str
    fits: Callable[[Any], bool]
    records: Callable[[Any], Records]


TOOLS: tuple[Tool, ...] = (
    Tool("lm-eval", lm_eval.fits, lm_eval.records),
    Tool("inspect", inspect_ai.fits, inspect_ai.records),
    Tool("openai-batch", openai_batch.fits, openai_batch.records),
    Tool("promptfoo", promptfoo.fits, promptfoo.records),
    Tool("label-studio", label_studio.fits, label_studio.records),
    Tool("argilla", argilla.fits, argilla.records),
    Tool("prodigy", prodigy.fits, prodigy.records),
)


def tool_of(document: Any) -> Tool | None:
    """Return the tool that wrote a parsed document, or None.

    Examples
    --------
    >>> tool_of([{"custom_id": "r1", "response": {"body": {}}}]).name
    'openai-batch'
    >>> tool_of([{"y_true": 1, "y_pred": 0}]) is None
    True
    """
    return next((tool for tool in TOOLS if tool.fits(document)), None)
