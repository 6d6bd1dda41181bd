"""A site that stands in its folder, into a run."""

from __future__ import annotations

from evalreport.panels.site import board_headline
from evalreport.report.site import site_payload
from evalreport.sinks.folder import MANIFESTS
from evalreport.sinks.mlflow import MlflowSink, check_run
from evalreport.sinks.sink import Logged
from evalreport.sources.mlflow_client import Store
from evalreport.sources.runs import find_run
from evalreport.workflow.request import Destination
from evalreport.workflow.site import MadeSite


def log_site(done: MadeSite, store: Store, run_id: str | None, where: Destination) -> Logged:
    """Put a site into a run: the one that is named, else the champion, else the best.

    What `.evalreport` keeps stays in the folder.

    Raises
    ------
    EvalreportError
        The run is not there or has not ended, or holds others' files of these names.
    """
    chosen = done.board.champion or done.board.best
    home = find_run(store, run_id).run_id if run_id else chosen.run_id
    check_run(store, home, allow_running=where.allow_running)
    paths = (path for path in done.paths if not path.startswith(MANIFESTS))
    files = {path: (done.folder / path).read_bytes() for path in paths}
    payload = site_payload(files, board_headline(done.board).text)
    return MlflowSink(store, home, where.force, where.allow_running).log(payload)
