"""A column of differences, or of a ranking, is added by one edit and is in every output."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.package_copy import copy_package, insert, run_python

TABLE = Path("evalreport", "page", "comparison", "table.py")
EDITS = {
    "differences": (
        "DIFFERENCE_COLUMNS: Final[tuple[TableColumn[Difference], ...]] = (\n",
        '    TableColumn("twice", "Twice as much", lambda d: 2 * (d.difference or 0), lambda d: "2 × "'
        " + difference_texts(d).gap),\n",
    ),
    "ranking": (
        "RANKING_COLUMNS: Final[tuple[TableColumn[RankingRow], ...]] = (\n",
        '    TableColumn("twice", "Twice as much", lambda row: 2 * row.entry.value, lambda row: "2 × "'
        " + row.entry.run),\n",
    ),
}
FRAME = """
import sys
import evalreport as er
truth, *answers = [[int(cell) for cell in column] for column in zip(*(
    line.strip().split(",") for line in open("rows.csv").readlines()[1:]))]
runs = [er.evaluate(truth, answer, resamples=100) for answer in answers]
print(er.compare(runs).to_frame(sys.argv[1])["twice"].tolist())
"""


@pytest.mark.parametrize("table", ["differences", "ranking"])
def test_a_column_is_added_by_one_edit(table: str, tmp_path: Path) -> None:
    copy = copy_package(tmp_path)
    insert(copy / TABLE, *EDITS[table])
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 200)
    answers = [np.where(rng.random(200) < right, truth, 1 - truth) for right in (0.6, 0.8, 0.95)]
    files = ["one.csv", "two.csv", "three.csv"][: 2 if table == "differences" else 3]
    for name, answer in zip(files, answers, strict=False):
        rows = "\n".join(f"{a},{b}" for a, b in zip(truth, answer, strict=True))
        (copy / name).write_text(f"y_true,y_pred\n{rows}\n")
    columns = zip(truth, *answers[: len(files)], strict=True)
    (copy / "rows.csv").write_text("\n".join(["", *(",".join(map(str, row)) for row in columns)]))
    made = ("--set", "resamples=100", "--output", "made")
    done = run_python(copy, "-m", "evalreport", "compare", *files, *made)
    assert done.returncode == 0, done.stderr
    assert "twice as much" in done.stdout and "2 × " in done.stdout, "terminal"
    page = (copy / "made" / "evalreport_comparison.html").read_text()
    assert "Twice as much</th>" in page and ">2 × " in page, "page"
    assert "twice" in (copy / "made" / f"{table}.csv").read_text().partition("\n")[0].split(","), "CSV"
    short = run_python(
        copy, "-m", "evalreport", "compare", *files, "--set", "resamples=100", "--markdown", "-"
    )
    assert "| Twice as much |" in short.stdout and "| 2 × " in short.stdout, "Markdown"
    frame = run_python(copy, "-c", FRAME, table)
    assert frame.returncode == 0 and len(frame.stdout.split(",")) > 1, frame.stderr
