"""Texts of the help: three examples for each command, and the topics of `evalreport help`."""

from __future__ import annotations

MORE = "More: --help-all, or `evalreport help data|statistics|large|page|safety`."

EXAMPLES: dict[str, tuple[str, str, str]] = {
    "group": (
        "report predictions.csv",
        "log --run-id 3f9c1e --positive malignant",
        "compare old.csv new.csv",
    ),
    "sweep": (
        "sweep thresholds predictions.csv --objective f1",
        "sweep optuna --study sqlite:///study.db",
        "sweep runs --run-id 3f9c1e --metric val_f1 --direction maximize",
    ),
    "log": (
        "log --run-id 3f9c1e --positive malignant",
        'log --experiment "bank-*" --latest 10 -o reports/',
        "log --run-id 3f9c1e --threshold max-f1 --tune-on validation.parquet --dry-run",
    ),
    "verify": ("verify --run-id 3f9c1e", "verify --run-id 3f9c1e --repair", "verify --experiment banking77"),
    "report": (
        "report predictions.csv",
        "report predictions.csv --truth y --score p --positive 1 -o page.html",
        "report predictions.csv --markdown -",
    ),
    "compare": (
        "compare old.csv new.csv",
        "compare --experiment banking --by params.model --sort-by accuracy",
        'compare old.csv new.csv --require "recall drops <= 0.02"',
    ),
    "site": (
        "site --experiment banking77 -o site",
        "site --experiment banking77 -o site --sort-by f1_macro --set columns=model,features",
        'site --experiment "bank-*" -o site --set champion=deployed --set max_runs=200',
    ),
    "thresholds": (
        "sweep thresholds predictions.csv --objective f1",
        'sweep thresholds predictions.csv --objective "recall >= 0.95"',
        "sweep thresholds predictions.csv --cost 10 -o thresholds.html",
    ),
    "optuna": (
        "sweep optuna --study sqlite:///study.db",
        "sweep optuna --study sqlite:///study.db --examples 400",
        "sweep optuna --study journal.log -o sweep/",
    ),
    "runs": (
        "sweep runs --run-id 3f9c1e --metric val_f1 --direction maximize",
        "sweep runs --run-id 3f9c1e --metric val_f1 --direction maximize --examples 400",
        "sweep runs --run-id 3f9c1e --metric val_f1 --direction maximize --log",
    ),
    "check": (
        "check predictions.csv",
        'check predictions.csv --require "recall >= 0.9"',
        'check new.csv --baseline old.csv --require "f1 drops <= 0.02"',
    ),
    "plan": (
        "plan predictions.csv --metric recall --half-width 0.02",
        "plan predictions.csv --metric roc_auc --min-difference 0.01",
        "plan --run-id 3f9c1e --metric accuracy --half-width 1%",
    ),
    "demo": ("demo", "demo -o try-it", "demo --open"),
    "init": ("init predictions.csv", "init predictions.csv -o pyproject.toml", "init --run-id 3f9c1e"),
    "metrics": ("metrics", "metrics binary", "metrics mcc --coverage"),
    "config": ("config", "config --json", "config --set seed=7"),
    "completion": ("completion bash", "completion zsh", "completion fish"),
    "help": ("help data", "help statistics", "help safety"),
}
"""By the last word of the command; those of `evalreport --help` under ``group``."""

TOPICS: dict[str, tuple[str, str]] = {
    "data": (
        "Data",
        "Columns with a common name (y_true, label, y_pred, score, proba_<label>, …) are found "
        "automatically. Every "
        "command prints the columns that it uses. An option names a column where the name is unusual or "
        "two columns "
        "are possible.",
    ),
    "statistics": (
        "Statistics",
        "Intervals are 95% confidence intervals. A threshold that is chosen on the evaluated rows is "
        "cross-fitted. Rows of one cluster (patient, user, document) need --set group=COL, or the "
        "intervals are too "
        "narrow.",
    ),
    "large": (
        "Large data",
        "A file that does not fit into memory is read in batches automatically. Name the parts of one "
        "table by "
        "their folder or a quoted pattern. Several runs are evaluated in parallel.",
    ),
    "page": (
        "Page",
        "The page is one HTML file without links to other servers. It is named after its input: fair.csv "
        "makes "
        "fair.html. A page of another input is not replaced.",
    ),
    "safety": (
        "Output",
        "evalreport replaces only files and artifacts that it wrote; --force replaces others. --dry-run "
        "writes "
        "nothing. A settings file in the working directory cannot choose a server, code to run, or a "
        "place outside "
        "its folder, unless it is named with --config or EVALREPORT_TRUST_CONFIG=1 is set. A saved model "
        "is loaded, "
        "which runs its code, only with --predict-on.",
    ),
}
"""Topic to the section of the help whose options and settings it lists, and its introduction."""
