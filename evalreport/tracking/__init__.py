"""MLflow: client, selecting runs, finding predictions, logging, verifying."""
