"""Three examples for the help of each command: the plainest first."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, str, str]] = {
    "group": (
        "report predictions.csv",
        "log --run-id 3f9c1e --positive malignant",
        "compare old.csv new.csv -o compare.html",
    ),
    "sweep": (
        "sweep thresholds predictions.csv --objective f1",
        "sweep optuna --study sqlite:///study.db",
        "sweep runs --run-id 3f9c1e --metric val_f1 --direction maximize",
    ),
    "log": (
        "log --run-id 3f9c1e --positive malignant",
        'log --experiment "bank-*" --latest 10 --out reports',
        "log --run-id 3f9c1e --threshold max-f1 --tune-on validation.parquet --dry-run",
    ),
    "report": (
        "report predictions.csv",
        "report predictions.csv --truth y --score p --label-names 1=failure,0=fine -o report.html",
        "report predictions.csv --summary md",
    ),
    "compare": (
        "compare old.csv new.csv -o compare.html",
        "compare --experiment banking --by params.model --sort-by accuracy",
        'compare old.csv new.csv --require "recall drops <= 0.02"',
    ),
    "site": (
        "site --experiment banking77 -o site",
        "site --experiment banking77 -o site --sort-by f1_macro --columns model,features,candidate",
        'site --experiment "bank-*" --champion deployed --max-runs 200 -o site',
    ),
    "thresholds": (
        "sweep thresholds predictions.csv --objective f1",
        'sweep thresholds predictions.csv --objective "recall >= 0.95" --hold 0.95',
        "sweep thresholds predictions.csv --cost 10 -o thresholds.html",
    ),
    "optuna": (
        "sweep optuna --study sqlite:///study.db",
        "sweep optuna --study sqlite:///study.db --examples 400",
        "sweep optuna --study journal.log --out sweep",
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
        "plan predictions.csv --metric roc_auc --detect 0.01",
        "plan --run-id 3f9c1e --metric accuracy --half-width 1%",
    ),
    "metrics": ("metrics", "metrics mcc", "metrics roc_auc --coverage"),
    "config": ("config", "config --json", "config --config evalreport.toml"),
    "completion": ("completion bash", "completion zsh", "completion fish"),
}
"""By the last word of the command; of all commands together under ``group``."""
