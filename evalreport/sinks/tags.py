"""Tags that we share with others: our block in a run's description, our lines in the list of tables."""

from __future__ import annotations

import json
import re
from collections.abc import Collection

from evalreport.report.names import Part

NOTE_TAG = "mlflow.note.content"
"""The run's description, Markdown, which is the user's."""
TABLES_TAG = "mlflow.loggedArtifacts"
"""What `log_table` keeps there: a JSON list of ``{"path": …, "type": "table"}``."""
BEGIN = "<!-- evalreport:begin -->"
END = "<!-- evalreport:end -->"


def with_block(note: str, block: str, part: Part = "evaluation") -> str:
    """Return a description with our block in it, all else as it was.

    A block of the same part that is there is replaced where it stands; a new one comes last.

    Examples
    --------
    >>> first = with_block("My notes.", "recall 0.72")
    >>> print(first)
    My notes.
    <BLANKLINE>
    <!-- evalreport:begin -->
    recall 0.72
    <!-- evalreport:end -->
    >>> with_block(first, "recall 0.72") == first
    True
    """
    begin, end = (mark if part == "evaluation" else mark.replace(":", f":{part}-") for mark in (BEGIN, END))
    ours = f"{begin}\n{block.replace('<!--', '').strip()}\n{end}"
    held = re.compile(rf"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if held.search(note):
        return held.sub(lambda _: ours, note, count=1)
    return f"{note.rstrip()}\n\n{ours}" if note.strip() else ours


def with_tables(tag: str, paths: Collection[str]) -> str | None:
    """Return the list of logged tables with ours in it; None when the tag is not such a list.

    Examples
    --------
    >>> with_tables('[{"path": "a.json", "type": "table"}]', ["b.json", "a.json"])
    '[{"path": "a.json", "type": "table"}, {"path": "b.json", "type": "table"}]'
    >>> [with_tables(tag, ["b.json"]) for tag in ("{}", "null", "[3]", "[" * 5000)]
    [None, None, None, None]
    """
    try:
        entries = json.loads(tag) if tag.strip() else []
        known = {entry["path"] for entry in entries}
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    if not isinstance(entries, list):
        return None
    entries += [{"path": path, "type": "table"} for path in paths if path not in known]
    return json.dumps(entries)
