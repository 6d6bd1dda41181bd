"""The command in a process that ends itself at a question to the store: AT SIGNAL AFTER ARGUMENTS."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
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


if __name__ == "__main__":
    armed(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "1")
    main(sys.argv[4:])
