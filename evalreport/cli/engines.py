"""The options of what counts the rows: an engine, what it may take, and where a table of Spark is."""

from __future__ import annotations

from evalreport.cli.options import FLAG, data, evaluate, together
from evalreport.cli.parameters import Bytes

engine = together(
    data(
        "--table",
        "NAME",
        "A table of Spark (catalog.schema.name), or a Parquet or Delta path that Spark reads.",
    ),
    evaluate(
        "--engine",
        ("auto", "memory", "stream", "spark"),
        "stream: batch by batch, for more rows than memory holds; spark: where a table is; "
        "auto: by the size of the file.",
        default="auto",
    ),
    evaluate(
        "--approximate",
        FLAG,
        "Count the scores of two labels in bins: fixed memory, areas with proven bounds.",
    ),
    evaluate(
        "--memory",
        "SIZE",
        "Memory limit of a stream: the process, 200MB or more; beyond it scores go to temporary files "
        "(TMPDIR). With Spark: of the scores in its task.",
        type=Bytes(),
        default="1GB",
    ),
    evaluate(
        "--spark-master",
        "URL",
        "Begin a session of Spark there, such as local[4], or sc://HOST:15002 of Spark Connect; "
        "without it the active one, or Spark's own settings.",
    ),
)
