"""Real MLflow servers of several releases, each in an environment of its own: `make test-servers`."""
