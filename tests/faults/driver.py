"""The command in a process that ends itself at a question to the store, or begins together with others.

AT SIGNAL AFTER ARGUMENTS, or ``together`` COUNT FOLDER ARGUMENTS.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from evalreport.cli import main
from evalreport.sources.mlflow_client import Store

T = TypeVar("T")


def armed(at: int, number: int, after: bool) -> None:
    """Have the process send itself a signal, just before or just after a question."""
    whole = Store.ask
    count = 0

    def ask(self: Store, call: Callable[[Any], T], where: str = "") -> T:
        nonlocal count
        count += 1
        if count == at and not after:
            os.kill(os.getpid(), number)
        answer = whole(self, call, where)
        if count == at and after:
            os.kill(os.getpid(), number)
        return answer

    Store.ask = ask  # type: ignore[method-assign]


def gather(count: int, folder: Path) -> None:
    """Wait until so many processes have come here, with all that takes long already imported."""
    import mlflow  # noqa: F401

    (folder / str(os.getpid())).touch()
    while len(list(folder.iterdir())) < count:
        time.sleep(0.01)


if __name__ == "__main__":
    if sys.argv[1] == "together":
        gather(int(sys.argv[2]), Path(sys.argv[3]))
    else:
        armed(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "1")
    main(sys.argv[4:])
