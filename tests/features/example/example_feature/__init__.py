"""A package of its own that adds to evalreport; only the table is imported before something is used."""

TABLE = {
    "metrics": {"false omission rate": "example_feature.parts:METRICS"},
    "own_metrics": {"wrong_rate": "example_feature.parts:wrong_rate"},
    "readers": {"pairs": "example_feature.parts:READERS"},
    "sections": {"row count": "example_feature.parts:row_count_section"},
    "findings": {"even rows": "example_feature.parts:EVEN_ROWS"},
    "commands": {"rows": ("example_feature.command:command", "Count the rows of a file.")},
    "options": {"compare --shout": "example_feature.command:SHOUT"},
}
