"""Write the summary of a check as one comment of the pull request; a later run updates this comment.

    python comment.py SUMMARY.md NAME

NAME tells several checks of one pull request apart. The comment is found by a hidden marker. Without a pull
request, a token or a permission nothing is written and the reason is printed: the job's summary has the same
text. Only the standard library is used, so that no package has to be installed.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

LONGEST = 60_000
"""Characters of a comment; GitHub refuses more than 65,536."""
PER_PAGE = 100
MOST_PAGES = 30
SECONDS = 20


def marker(name: str) -> str:
    """Return the hidden line by which the comment of a check is found."""
    return f"<!-- evalreport check: {name.replace('--', '- -')} -->"


def pull_request(event: dict[str, Any]) -> int | None:
    """Return the number of the pull request of an event; None for another event."""
    number = (event.get("pull_request") or {}).get("number")
    return number if isinstance(number, int) else None


def request(method: str, address: str, token: str, body: dict[str, Any] | None = None) -> Any:
    """Send a request to the REST interface and return its JSON."""
    if not address.startswith(("https://", "http://127.0.0.1:")):
        raise ValueError(f"not an address of an interface: {address}")
    data = None if body is None else json.dumps(body).encode()
    headers = {
        "Accept": "application/vnd.github+json",
        "Authorization": f"Bearer {token}",
        "X-GitHub-Api-Version": "2022-11-28",
        "Content-Type": "application/json",
    }
    made = urllib.request.Request(address, data=data, headers=headers, method=method)  # noqa: S310  (checked)
    with urllib.request.urlopen(made, timeout=SECONDS) as answer:  # noqa: S310
        return json.loads(answer.read() or b"null")


def find_comment(comments: str, token: str, mark: str) -> int | None:
    """Return the id of the comment with the marker; None where there is none yet."""
    for page in range(1, MOST_PAGES + 1):
        found = request("GET", f"{comments}?per_page={PER_PAGE}&page={page}", token)
        for one in found:
            if str(one.get("body", "")).startswith(mark):
                return int(one["id"])
        if len(found) < PER_PAGE:
            return None
    return None


def comment_body(summary: str, mark: str, artifact: str) -> str:
    """Return the text of the comment: the marker, the summary, and a link to the page."""
    link = f"\n\n[Page of the evaluation]({artifact})" if artifact.startswith("https://") else ""
    cut = (
        summary if len(summary) <= LONGEST else summary[:LONGEST] + "\n\n(cut; the job summary has the rest)"
    )
    return f"{mark}\n{cut.rstrip()}{link}\n"


def main(summary: str, name: str) -> str:
    """Write or update the comment, and return what was done."""
    token, path = os.environ.get("GITHUB_TOKEN", ""), os.environ.get("GITHUB_EVENT_PATH", "")
    event = json.loads(Path(path).read_text(encoding="utf-8")) if path and Path(path).is_file() else {}
    number = pull_request(event)
    if number is None or not token:
        return "no comment: " + ("this is not a pull request" if number is None else "no token is set")
    root = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    mark = marker(name)
    text = Path(summary).read_text(encoding="utf-8")
    body = {"body": comment_body(text, mark, os.environ.get("ARTIFACT_URL", ""))}
    try:
        known = find_comment(f"{root}/{number}/comments", token, mark)
        if known is None:
            request("POST", f"{root}/{number}/comments", token, body)
            return "comment written"
        request("PATCH", f"{root}/comments/{known}", token, body)
    except urllib.error.HTTPError as error:
        return f"no comment: GitHub answers {error.code}; the job summary has the results"
    except OSError as error:
        return f"no comment: {error}; the job summary has the results"
    return "comment updated"


if __name__ == "__main__":
    print(main(sys.argv[1], sys.argv[2]))  # noqa: T201  (its output)
