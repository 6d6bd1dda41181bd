"""Optional features, one folder each; the core does not import them.

`TABLE` lists what each adds at the extension points of `evalreport.core.extensions`: point, name and
import path. Nothing is imported before it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from evalreport.core.extensions import Table

TABLE: Final[Mapping[str, Table]] = {
    "gate": {
        "commands": {
            "check": ("evalreport.features.gate.cli:command", "Data and results against rules; for CI."),
        },
    },
    "site": {
        "commands": {
            "site": (
                "evalreport.features.site.cli:command",
                "An experiment as a static site: leaderboard, reports, comparisons.",
            ),
        },
    },
    "systems": {},
    "studies": {},
    "text_labels": {
        "parsers": {"reading labels from text": "evalreport.features.text_labels.parser:parse_texts"},
        "metrics": {"text": "evalreport.features.text_labels.metrics:METRICS"},
        "tools": {"tools": "evalreport.features.text_labels.tool_formats:TOOLS"},
        "sections": {
            "answers": "evalreport.features.text_labels.repeated_section:repeated_section",
            "parsing": "evalreport.features.text_labels.page:parsing_section",
        },
    },
    "large": {},
    "spark": {},
}
