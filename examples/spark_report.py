"""The report of a table of Spark, made where its rows are, and logged into a finished run.

On Databricks, EMR or in a notebook the session is there already; here it is begun on two cores. Needs
`pip install 'evalreport[spark]'` and Java 17: `python examples/spark_report.py`.
"""

from __future__ import annotations

from pathlib import Path

import mlflow
from pyspark.sql import SparkSession

import evalreport as er

DATA = Path(__file__).parent / "data" / "ai4i_failure" / "oof_scores.parquet"


def main() -> er.Evaluation:
    """Evaluate, write the page, and log numbers and page into the run that made the scores."""
    spark = SparkSession.builder.appName("report").getOrCreate()
    scores = spark.read.parquet(str(DATA))  # a table: spark.table("main.risk.scores")

    with mlflow.start_run(run_name="random-forest", tags={"evalreport.table": str(DATA)}) as run:
        pass  # where the model is trained, and its scores are written to the table

    ev = er.evaluate_spark(
        scores, truth="y_true", score="score_rf", slices="product_type", threshold="cost:10"
    )
    print(er.report(ev, "spark_report.html", force=True), ev["roc_auc"])
    logged = er.log(
        ev, run.info.run_id
    )  # or later: evalreport log --run-id …, which finds the table by its tag
    print(logged.state)
    return ev


if __name__ == "__main__":
    main()
