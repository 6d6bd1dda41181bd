"""Images for MLflow's image grid, in the form that its `log_image` writes, at step 0.

`log_image` itself gives every image a new name, so that a second logging would show two of each. Here the
name follows from the key and the run, and a changed image replaces the one before.
"""

from __future__ import annotations

import io
import uuid
from collections.abc import Mapping

IMAGES_TAG = "mlflow.loggedImages"
FOLDER = "images"
THUMBNAIL = 256
"""Pixels of the longer side of the preview beside each image."""


def image_files(images: Mapping[str, bytes], timestamp: int) -> dict[str, bytes]:
    """Return the files of images: each PNG, and its small WebP preview.

    Parameters
    ----------
    images : mapping from key to PNG
    timestamp : int
        Milliseconds, the same at every logging of the run.

    Examples
    --------
    >>> from PIL import Image
    >>> png = io.BytesIO()
    >>> Image.new("RGB", (8, 4)).save(png, "PNG")
    >>> [name.partition("+timestamp")[0] for name in image_files({"eval/roc": png.getvalue()}, 0)]
    ['images/eval~roc+step+0', 'images/eval~roc+step+0']
    """
    files: dict[str, bytes] = {}
    for key, png in images.items():
        name = uuid.uuid5(uuid.NAMESPACE_URL, f"evalreport:{key}")
        stem = f"{FOLDER}/{key.replace('/', '~')}+step+0+timestamp+{timestamp}+{name}"
        files[f"{stem}.png"] = png
        files[f"{stem}+compressed.webp"] = thumbnail(png)
    return files


def thumbnail(png: bytes) -> bytes:
    """Return an image as WebP, its longer side at most 256 pixels."""
    from PIL import Image

    stream = io.BytesIO()
    with Image.open(io.BytesIO(png)) as image:
        image.thumbnail((THUMBNAIL, THUMBNAIL))
        image.save(stream, "WEBP")
    return stream.getvalue()
