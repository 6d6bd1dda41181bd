"""`python -m evalreport` is the command `evalreport`."""

from evalreport.cli import main

if __name__ == "__main__":
    main()
