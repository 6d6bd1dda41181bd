"""Every fault at every request: `python -m tests.faults [EVERY]` tries each EVERYth case and counts.

A whole run, of every case, writes what it found into RESULTS.md.
"""

from __future__ import annotations

import sys

from tests.faults.whole import main

if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
