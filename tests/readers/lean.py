"""A process with little memory, alike on machines with two cores and with two hundred."""

from __future__ import annotations

import os
import subprocess
import sys

LEAN = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "ARROW_IO_THREADS", "MALLOC_ARENA_MAX"), "1"),
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
"""A thread for every core takes addresses for its stack and its arena, and other pools ask for more than is
used: with a limit on addresses the number of cores would decide what fits."""
LIMITED = """
import os, resource, sys
from pathlib import Path
import numpy, pyarrow.parquet, pyarrow.csv, pyarrow.feather
from evalreport.core.errors import DataError
from evalreport.columns.find_columns import find_in_files
held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + int(sys.argv[1]),) * 2)
for name in sys.argv[2:]:
    try:
        find_in_files(Path(name), format=None if "." in name else "csv")
        print("read")
    except DataError as error:
        print(error.message)
sys.stdout.flush()
os._exit(0)
"""


def read_within(size: int, *names: str) -> list[str]:
    """Read files in a process that may take so many bytes more; the message of each.

    The process leaves by `os._exit`: without memory Arrow 15 cannot end its pool of threads, and aborts when
    the interpreter is taken down, long after the last message.
    """
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(size), *names],
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, **LEAN},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
