"""Where data come from: files, MLflow runs, and the sweeps that others ran."""
