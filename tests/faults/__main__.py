"""Every fault at every request: `python -m tests.faults [EVERY [MINUTES]]` tries each EVERYth case.

A run of every case writes what it found into RESULTS.md; where time ends it, how much it has tried.
"""

from __future__ import annotations

import sys

from tests.faults.whole import main

if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
