"""Where a payload goes: into an MLflow run, or into a folder."""
