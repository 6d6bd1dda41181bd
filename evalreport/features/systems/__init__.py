"""Systems of several runs each."""
