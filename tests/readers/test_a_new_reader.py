"""An input format is added as CONTRIBUTING says: a reader, a line in `READERS`, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.package_copy import copy_package, insert, run_python

READER = """
def read_orc(data, select):
    import pyarrow as pa
    from pyarrow import orc
    from evalreport.readers.content import to_arrays
    from evalreport.readers.content import Content
    from evalreport.readers.limits import choose

    table = orc.read_table(pa.BufferReader(data))
    names = tuple(table.column_names)
    return Content(names, to_arrays(table.select(list(choose(names, select)))))
"""
LINE = "READERS: tuple[Reader, ...] = (\n"
ENTRY = '    Reader("orc", (".orc",), (b"ORC",), read_orc),\n'
IMPORT = "from evalreport.readers.csv import read_delimited\n"


@pytest.fixture(scope="module")
def package_copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with one more reader: two files are touched."""
    copy = copy_package(tmp_path_factory.mktemp("copy"))
    (copy / "evalreport" / "readers" / "orc.py").write_text(READER)
    (catalogue,) = [
        path for path in (copy / "evalreport" / "readers").rglob("*.py") if LINE in path.read_text()
    ]
    insert(catalogue, IMPORT, "from evalreport.readers.orc import read_orc\n")
    insert(catalogue, LINE, ENTRY)
    return copy


@pytest.mark.parametrize(
    "options", [("rows.orc",), ("rows", "--set", "format=orc")], ids=["by name", "by option"]
)
def test_the_command_line_takes_it(package_copy: Path, options: tuple[str, ...]) -> None:
    import pyarrow as pa
    from pyarrow import orc

    rows = pa.table({"y_true": [0, 1, 1, 0], "y_pred": [0, 1, 0, 0]})
    orc.write_table(rows, package_copy / options[0])
    done = run_python(package_copy, "-m", "evalreport", "report", *options, "--json", "-q")
    assert done.returncode == 0, done.stdout
    assert '"accuracy":{"value":0.75' in done.stdout


def test_errors_list_it(package_copy: Path) -> None:
    done = run_python(package_copy, "-m", "evalreport", "report", "rows.csv", "--set", "format=xls")
    assert done.returncode == 2
    assert "'xls' is not one of 'orc', 'csv'" in done.stderr
