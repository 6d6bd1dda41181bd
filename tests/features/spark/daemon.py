"""Starts the Python workers of Spark as its own module does, without a collection of garbage after each task.

The objects of all imported modules are walked each time: 40 to 70 ms, most of what a task of a test costs.
"""

import gc

vars(gc)["collect"] = lambda *_: 0

if __name__ == "__main__":
    from pyspark.daemon import manager

    manager()
