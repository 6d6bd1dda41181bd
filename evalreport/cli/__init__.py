"""Parse arguments, call `workflow`, print; nothing else."""


def main() -> None:
    """Run the command line."""
