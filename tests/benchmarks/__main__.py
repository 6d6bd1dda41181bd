"""Every benchmark of this folder, one after the other: ``make bench``."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path


def main() -> int:
    """Run each ``bench_*.py`` in a process of its own, and end with a table of what each took."""
    taken = []
    for path in sorted(Path(__file__).parent.glob("bench_*.py")):
        print(f"\n== {path.stem}", flush=True)
        start = time.perf_counter()
        done = subprocess.run([sys.executable, "-m", f"tests.benchmarks.{path.stem}"], check=False)
        taken.append((path.stem, time.perf_counter() - start, done.returncode))
    print(f"\n{'benchmark':<24}{'seconds':>9}  outcome")
    for name, seconds, code in taken:
        print(f"{name:<24}{seconds:>9.1f}  {'ok' if code == 0 else f'failed ({code})'}")
    return max(code for _, _, code in taken)


if __name__ == "__main__":
    sys.exit(main())
