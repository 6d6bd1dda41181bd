"""The example is a package of its own: it is on the path of the processes that try it, not of these tests."""

collect_ignore = ["example"]
