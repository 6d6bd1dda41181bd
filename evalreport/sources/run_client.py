"""MLflow's client, with the files of a run fetched from the run's own store alone.

MLflow's own `list_artifacts` and `download_artifacts` also look for the files of logged models. Servers
before 3.0 know no such models and answer 404, and every failure of a download becomes "no such artifact".
Here a request is one request, and its failure is what it was.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

from evalreport.errors import DataError, ServerError
from evalreport.sources.places import artifact_root
from evalreport.sources.readers.limits import MAX_FILE
from evalreport.stages import stage

_CHUNK = 1024 * 1024
"""Bytes of a download that are held at a time."""


class RunClient:
    """A tracking client whose requests for files go to the place that the run names, and nowhere else.

    Everything else is the `mlflow.MlflowClient` itself.

    Parameters
    ----------
    client : mlflow.MlflowClient
    uri : str
        Tracking URI.
    """

    def __init__(self, client: Any, uri: str) -> None:
        self._client = client
        self._uri = uri

    def __getattr__(self, name: str) -> Any:
        """Return what `MlflowClient` has of this name."""
        return getattr(self._client, name)

    @cached_property
    def _stores(self) -> dict[str, Any]:
        return {}

    @cached_property
    def _places(self) -> dict[str, str]:
        """Where the files of runs lie, as the runs said when they were asked for."""
        return {}

    def get_run(self, run_id: str) -> Any:
        """Return a run.

        Raises
        ------
        ServerError
            The answer is of no run, or of another one: something answers in the server's place.
        """
        run = self._client.get_run(run_id)
        if run.info.run_id != run_id:
            raise _other_than("run", run_id[:8])
        self._places[run_id] = run.info.artifact_uri
        return run

    def search_runs(self, *asked: Any, **named: Any) -> Any:
        """Return runs, and remember where their files lie, which else takes a request for each."""
        found = self._client.search_runs(*asked, **named)
        self._places.update((run.info.run_id, run.info.artifact_uri) for run in found)
        return found

    def get_experiment(self, experiment_id: str) -> Any:
        """Return an experiment.

        Raises
        ------
        ServerError
            As of `get_run`.
        """
        experiment = self._client.get_experiment(experiment_id)
        if experiment.experiment_id != experiment_id:
            raise _other_than("experiment", experiment_id)
        return experiment

    def list_artifacts(self, run_id: str, path: str | None = None) -> list[Any]:
        """Return what lies directly in a folder of a run.

        That a run holds nothing at all is believed at the second time: so answers whoever says nothing.
        """
        store = self._store_of(run_id)
        entries = list(store.list_artifacts(path))
        if not entries and not path:
            self.get_run(run_id)
            entries = list(store.list_artifacts(path))
        return entries

    def log_artifacts(self, run_id: str, local_dir: str, artifact_path: str | None = None) -> None:
        """Put the files of a folder, and of those in it, into a folder of a run."""
        self._store_of(run_id).log_artifacts(local_dir, artifact_path)

    def download_artifacts(self, run_id: str, path: str, dst_path: str) -> str:
        """Fetch one file of a run into a folder, and return where it is.

        Raises
        ------
        DataError
            More than 2 GB came.
        ServerError
            A redirect, or another answer that is no file.
        """
        place = Path(dst_path, path)
        place.parent.mkdir(parents=True, exist_ok=True)
        store = self._store_of(run_id)
        if store.artifact_uri.startswith(("http:", "https:")):
            _stream(store.artifact_uri, path, place)
        else:
            store._download_file(path, str(place))  # what every kind of artifact store has to have
        return str(place)

    def _store_of(self, run_id: str) -> Any:
        if run_id not in self._stores:
            place = self._places.get(run_id) or self.get_run(run_id).info.artifact_uri
            self._stores[run_id] = _artifact_store(place, self._uri, run_id)
        return self._stores[run_id]


def _other_than(kind: str, wanted: str) -> ServerError:
    return ServerError(
        f"the server answers without the {kind} {wanted} that was asked for",
        fix="look for a proxy that answers in the server's place, and try again",
    )


def _artifact_store(place: str, uri: str, run_id: str) -> Any:
    """Return MLflow's `ArtifactRepository` of a run, once its address has been judged.

    ``mlflow-artifacts:`` is resolved against this tracking server: MLflow 2 resolves it against a global one.
    """
    from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository
    from mlflow.store.artifact.mlflow_artifacts_repo import MlflowArtifactsRepository
    from mlflow.utils.uri import add_databricks_profile_info_to_artifact_uri

    artifact_root(place, uri, f"run {run_id[:8]}")
    if place.startswith("mlflow-artifacts:"):
        place = MlflowArtifactsRepository.resolve_uri(place, uri)
    return get_artifact_repository(add_databricks_profile_info_to_artifact_uri(place, uri))


def _stream(address: str, path: str, place: Path) -> None:
    """Fetch a file through the tracking server; anything but the file itself is an error."""
    from mlflow.utils.credentials import get_default_host_creds
    from mlflow.utils.rest_utils import augmented_raise_for_status, http_request

    with http_request(get_default_host_creds(address), f"/{path}", "GET", stream=True) as answer:
        augmented_raise_for_status(answer)
        if answer.status_code != 200:
            raise ServerError(
                f"the server answers {answer.status_code} where a file was asked for",
                fix="pass the server's own address as --tracking-uri; redirects are not followed",
            )
        came, size = 0, int(answer.headers.get("Content-Length", 0))
        with place.open("wb") as file:
            for chunk in answer.iter_content(_CHUNK):
                came += len(chunk)
                stage("downloading kB", came // 1000, size // 1000)
                if came > MAX_FILE:
                    raise DataError("the artifact is larger than 2 GB", fix="log a sample, or write Parquet")
                file.write(chunk)
