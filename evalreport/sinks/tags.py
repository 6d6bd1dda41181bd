"""Tags that we share with others: our block in a run's description, our lines in the list of tables."""

from __future__ import annotations

import json
import re
from collections.abc import Collection

NOTE_TAG = "mlflow.note.content"
"""The run's description, Markdown, which is the user's."""
TABLES_TAG = "mlflow.loggedArtifacts"
"""What `log_table` keeps there: a JSON list of ``{"path": …, "type": "table"}``."""
BEGIN = "<!-- evalreport:begin -->"
END = "<!-- evalreport:end -->"
_BLOCK = re.compile(rf"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)


def with_block(note: str, block: str) -> str:
    """Return a description with our block in it, all else as it was.

    A block that is there is replaced where it stands; a new one comes last.

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
    ours = f"{BEGIN}\n{block.replace('<!--', '').strip()}\n{END}"
    if _BLOCK.search(note):
        return _BLOCK.sub(lambda _: ours, note, count=1)
    return f"{note.rstrip()}\n\n{ours}" if note.strip() else ours


def with_tables(tag: str, paths: Collection[str]) -> str | None:
    """Return the list of logged tables with ours in it; None when the tag is not such a list.

    Examples
    --------
    >>> with_tables('[{"path": "a.json", "type": "table"}]', ["b.json", "a.json"])
    '[{"path": "a.json", "type": "table"}, {"path": "b.json", "type": "table"}]'
    """
    try:
        entries = json.loads(tag) if tag.strip() else []
        known = {entry["path"] for entry in entries}
    except (ValueError, TypeError, KeyError):
        return None
    entries += [{"path": path, "type": "table"} for path in paths if path not in known]
    return json.dumps(entries)
