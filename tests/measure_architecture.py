"""Counts what the rules of the architecture are about: ``python -m tests.measure_architecture`` prints it.

With ``--names`` it lists the names behind the counts, too. The rules that must hold are asserted in
`tests/test_architecture.py`; nothing is asserted here.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.test_architecture import MODULES, PACKAGE, nodes, part, relative

GOALS = {
    "code lines": 42_000,
    "code lines of the core": 30_000,
    "modules": 260,
    "names that the core imports from features": 0,
    "modules that a small report imports": 150,
    "functions with a bare participle as their name, in %": 2,
    "module names that occur twice": 10,
}
PARTICIPLES = frozenset(
    re.findall(
        r"\w+",
        """
    beaten begun bent born bought bound broken brought built chosen cut done drawn driven fallen fed
    felt found frozen given gone grown heard held hidden kept known laid led left lent lost made
    meant met paid put read said seen sent set shown shut sold spent split spread stood stuck sworn
    taken taught thought thrown told torn understood undone withheld won worn woven written
    """,
    )
)
SMALL = frozenset(
    re.findall(
        r"\w+",
        """
    about above across after again alike alone along always among anew apart around as at away back
    before behind below beside between beyond but by down elsewhere ever first for from further here
    in inside instead into last like more most near never next of off often on once only onto or out
    over past per quite rather since so soon still than then there thereof through thus to together
    too towards under until up upon very whether which while with within without
    """,
    )
)
"""Adverbs and prepositions."""
VERBS = frozenset(
    re.findall(
        r"\w+",
        """
    breed embed exceed feed need proceed red seed shed speed succeed
    """,
    )
)
"""Words in -ed that are no participles."""


def is_bare(name: str) -> bool:
    """Return whether a function's name holds no verb and no noun: only participles, adverbs and prepositions.

    Examples
    --------
    >>> [is_bare(name) for name in ("found", "_shown_in", "of", "find_run", "weighted_counts", "embed")]
    [True, True, True, False, False, False]
    """
    words = [word for word in name.strip("_").split("_") if word]
    return bool(words) and all(
        word in PARTICIPLES or word in SMALL or (word.endswith("ed") and word not in VERBS) for word in words
    )


def count_code_lines(path: Path) -> int:
    """Return the lines of a file that are neither blank, nor comments, nor text that documents."""
    texts = {
        number
        for node in nodes(path)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
    return sum(
        bool(line.strip()) and not line.strip().startswith("#") and n not in texts for n, line in lines
    )


def names_from_features() -> list[str]:
    """Return what modules of the core import from features, inside functions as well."""
    return [
        f"{relative(path)}: {node.module}.{alias.name}"
        for path in MODULES
        if part(relative(path)) != "features"
        for node in nodes(path)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("evalreport.features.")
        for alias in node.names
    ]


def function_names() -> Iterator[str]:
    """Yield the name of every function and method but those that Python prescribes."""
    for path in MODULES:
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("__"):
                yield f"{relative(path)}: {node.name}"


def modules_of_a_report() -> list[str]:
    """Return the modules of the package that a report of a small Parquet file imports."""
    script = (
        "import sys; from evalreport.cli import main\n"
        "try: main(['report', 'small.parquet', '-q', '-o', 'page.html'])\n"
        "except SystemExit as stop: assert not stop.code, stop.code\n"
        "print('\\n'.join(name for name in sys.modules if name.partition('.')[0] == 'evalreport'))"
    )
    with tempfile.TemporaryDirectory() as folder:
        import pyarrow as pa
        from pyarrow import parquet

        rows = range(800)
        scores = [(k * 37 % 101) / 101 for k in rows]
        columns = {"y_true": [int(k % 3 == 0) for k in rows], "score": scores}
        parquet.write_table(pa.table(columns), Path(folder) / "small.parquet")
        done = subprocess.run(
            [sys.executable, "-c", script],
            cwd=folder,
            env={"PYTHONPATH": str(PACKAGE.parent), "PATH": ""},
            check=True,
            capture_output=True,
            text=True,
        )
    return sorted(line for line in done.stdout.splitlines() if line.partition(".")[0] == "evalreport")


def measure() -> dict[str, tuple[float, list[str]]]:
    """Return each measure with the names behind it."""
    lines = {relative(path): count_code_lines(path) for path in MODULES}
    functions = [*function_names()]
    bare = [name for name in functions if is_bare(name.rpartition(" ")[2])]
    stems = Counter(path.stem for path in MODULES if path.stem != "__init__")
    twice = [f"{name} ({n} times)" for name, n in stems.items() if n > 1]
    imported, loaded = names_from_features(), modules_of_a_report()
    values: list[tuple[float, list[str]]] = [
        (sum(lines.values()), []),
        (sum(n for name, n in lines.items() if part(name) != "features"), []),
        (len(MODULES), []),
        (len(imported), imported),
        (len(loaded), loaded),
        (round(100 * len(bare) / len(functions), 1), bare),
        (len(twice), twice),
    ]
    return dict(zip(GOALS, values, strict=True))


if __name__ == "__main__":
    for title, (found, names) in measure().items():
        print(f"{found:>10,g}  {title} (goal: at most {GOALS[title]:,})")
        if "--names" in sys.argv:
            print(*(f"            {name}" for name in names), sep="\n")
