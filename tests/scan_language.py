"""Finds words that the project does not use in text for people: ``python -m tests.scan_language [PATH ...]``.

Python files are read for their string literals, docstrings and comments, other files for their text without
code. Every pattern names the word to use instead. The scan is a lower limit: a text without hits can still be
hard to read.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RETIRED = {
    r"(?:is|are|was|were|been|be|not|as) told|"
    r"told (?:apart|of|by|that|with|in|as)|is told|tells? (?:how|what|of)": "reported, shows",
    r"taken for|what was taken|"
    r"took (?:the )?(?:truth|label|column)|read as (?:the )?class": "using, misclassified as",
    r"mend(?:s|ed|ing)?": "fix",
    r"(?:stands|stood|standing)(?! for)|lies|where (?:it|they) lie": "is, appears, is stored",
    r"elsewhere|took no part|take no part|honest(?:ly)?": "held-out, cross-fitted",
    r"demonstrat(?:ed|es|e)|beyond doubt": "significant",
    r"answer(?:s|ed|ing)? (?:by luck|alone|itself)|"
    r"given answer|right answers?|wrong answers?": "predictions, responses",
    r"called positive|call(?:s|ed|ing)? it positive": "predicted positive",
    r"(?:false )?alarms?": "alert, false positive",
    r"mix(?:ed)?-ups?": "confusion",
    r"favou?rite|absorb(?:s|ed)?": "over-predicted class",
    r"timid|too extreme": "underconfident, overconfident",
    r"luck(?:y|ily)?|coin toss": "chance, selection bias, about 50%",
    r"promis(?:e|es|ed)|keeps? (?:its|the) bound|bounds? (?:that )?holds?": "constraint, is met",
    r"facts?": "sufficient statistics",
    r"tall(?:y|ies)|ladders?|coarse": "row sums, cumulative weights, score blocks",
    r"left alone|leave(?:s)? (?:\w+ )?alone|left out": "skipped, ignored, missing",
    r"judged|judging|held against": "evaluated, compared with",
    r"draws? anew|(?:number of|per|more|few) draws": "bootstrap resamples, simulations",
    r"shares? (?:of|that|is|are|in)|the share": "proportion, fraction, rate",
    r"unread|not readable|unreadable": "unparsed",
    r"the house|floors?|strangers?": "architecture, layers, untrusted input",
    r"(?:gate|rule) (?:is |stays |was )?(?:open|closed)": "check passed, failed, inconclusive",
    r"anew|alike|whoever|unasked|"
    r"by (?:itself|themselves)|dearer?|fares?": "again, the same, anyone, automatically",
    r"(?<!there )(?:is|are|was|were) no (?!longer|more|less)\w+|"
    r"holds? no|hold(?:s)? only|have no (?:say|part)": "is not a, contains no",
    r"(?:reads?|writes?) alone|alone (?:are|is|can)|beside it": "only, next to it",
    r"nobody|somebody|of ours|of its own|of theirs|of yours": "no one, evalreport's, separate",
    r"such as it is|what is (?:asked|said|known|named|given|read|meant)|"
    r"that is (?:asked|said) for": "say the noun",
    r"is said|says? (?:less|more)": "reports, shows",
    r"whence|wherein|thereof|hereby|lest|ere|withal|nought|save for": "plain words",
}
PATTERNS = [
    (re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), instead) for pattern, instead in RETIRED.items()
]
ANY = re.compile("|".join(pattern.pattern for pattern, _ in PATTERNS), re.IGNORECASE)
ALLOWED = re.compile(
    r"in fact\b|is no longer|no-skill|false alarm rate",
    re.IGNORECASE,
)
"""Standard uses of a retired word."""
SKIPPED = {
    "_build",
    "made",
    ".venv",
    ".venv-lowest",
    ".git",
    "__pycache__",
    ".mypy_cache",
    ".ruff_cache",
    "build",
    "dist",
}


def python_texts(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of every string that contains a space and of every comment."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("#: ")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
            for number, line in enumerate(re.sub(r"``?[^`]+``?|\{[^{}]*\}", "", node.value).split("\n")):
                if not line.lstrip().startswith((">>>", "...")):
                    yield node.lineno + number, line


def prose(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of Markdown, HTML or CSS comments, without code."""
    inside = False
    for number, line in enumerate(source.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            inside = not inside
        elif not inside:
            yield number, re.sub(r"`[^`]+`|\{\{[^}]*\}\}|\{%[^%]*%\}|<[^>]+>|\]\([^)]*\)", " ", line)


def comments(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of the comments and of the quoted sentences of a script or style sheet."""
    for number, line in enumerate(source.splitlines(), start=1):
        for match in re.finditer(r"//.*|/\*.*?\*/|\"[^\"]* [^\"]*\"", line):
            yield number, match[0]


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and text of what a person reads in a file."""
    source = path.read_text(encoding="utf-8")
    kinds = {".py": python_texts, ".js": comments, ".css": comments}
    return kinds.get(path.suffix, prose)(source)


def find_words(text: str) -> Iterator[tuple[str, str]]:
    """Yield the retired words of a text, each with the word to use."""
    text = ALLOWED.sub(" ", text)
    for pattern, instead in PATTERNS if ANY.search(text) else ():
        for match in pattern.finditer(text):
            yield match[0], instead


def find_hits(path: Path) -> Iterator[tuple[int, str, str, str]]:
    """Yield line, retired word, the word to use and the text around it."""
    for number, text in texts(path):
        for word, instead in find_words(text):
            yield number, word, instead, text.strip()[:160]


def files(paths: list[Path]) -> list[Path]:
    """Return the files that contain text for people, under the paths."""
    kinds = {".py", ".md", ".j2", ".js", ".css", ".html"}
    matching = [
        p
        for path in paths
        for p in ([path] if path.is_file() else sorted(path.rglob("*")))
        if p.suffix in kinds
    ]
    return [p for p in matching if not SKIPPED & set(p.parts) and p.name != Path(__file__).name]


def main(arguments: list[str]) -> None:
    """Print the hits, then their number per word and per 1,000 words of text."""
    paths = [Path(p) for p in arguments] or [
        ROOT / n for n in ("evalreport", "templates", "docs", "examples")
    ] + [*ROOT.glob("*.md")]
    counts: Counter[str] = Counter()
    words = 0
    for path in files(paths):
        words += sum(len(text.split()) for _, text in texts(path))
        for number, word, instead, text in find_hits(path):
            counts[word.lower()] += 1
            print(f"{path}:{number}: {word} -> {instead}: {text}")
    total = sum(counts.values())
    print(", ".join(f"{word} {n}" for word, n in counts.most_common(40)))
    print(f"{total} hits in {words:,} words: {1000 * total / max(words, 1):.2f} per 1,000 words")


if __name__ == "__main__":
    main(sys.argv[1:])
