"""The adapters with the real libraries: `make test-frameworks`, in an environment of its own."""
