"""Untrusted text: secrets removed, control characters made visible, names made safe for files.

Small pure functions, used wherever a name, a URI or a library's message reaches a person or a file.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
import unicodedata
from collections.abc import Iterator, Mapping
from urllib.parse import quote, urlsplit

HIDDEN = "***"
"""Replacement of a secret."""
_URI = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s'\"<>|`{}]*")
_AUTHORIZATION = re.compile(r"(?i)(authorization\W{1,4}(?:(?:basic|bearer)\s+)?)[^\s'\",;}]+")
_BASIC = re.compile(r"(?i)\b(basic|bearer)\s+[A-Za-z0-9+/=._~-]{8,}")
_SECRET_NAME = re.compile(r"^AWS_|_(TOKEN|PASSWORD|KEY|SECRET)$|^MLFLOW_TRACKING_USERNAME$")
_PASSWORD = re.compile(r"://[^/@\s:]*:([^/@\s]+)@")
_SHORTEST_SECRET = 6
"""Shorter values of the environment are not secrets but common words, and stay."""
_KEPT: set[str] = set()
"""Secrets that are not in the environment: of an address, of MLflow's file of credentials, of ``.netrc``."""
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_RESERVED = re.compile(r"(?i)^(con|prn|aux|nul|com\d|lpt\d)(\.|$)")
_LINKED = re.compile(r"(?<=@)(?=\S)|(?<=:)(?=//)|(?<=www)(?=\.)|(?<=#)(?=\d)|(?<=\bGH-)(?=\d)", re.IGNORECASE)
_LONGEST_SLUG = 80
"""Characters of a file name that is made of a run's: endings and a number are added to it, of 255 in all."""
LONGEST_NAME = 100
"""Characters of a label as it is shown; it may have ten thousand."""


def redact_uri(uri: str) -> str:
    """Return a URI as it may be shown: scheme and host, or the path where there is no host.

    User information, query and fragment never survive; with a host, neither does the path.

    Examples
    --------
    >>> redact_uri("https://ada:pw@mlflow.example.org:5000/team?token=abc#x")
    'https://mlflow.example.org:5000'
    >>> redact_uri("sqlite:///runs/mlflow.db?password=abc")
    'sqlite:///runs/mlflow.db'
    >>> redact_uri("mlruns")
    'mlruns'
    """
    scheme, separator, rest = uri.partition("://")
    if not separator:
        return uri
    try:
        netloc = urlsplit(uri).netloc
    except ValueError:
        return f"{scheme}://{HIDDEN}"
    if netloc:
        return f"{scheme}://{netloc.rpartition('@')[2]}"
    return f"{scheme}://{re.split('[?#]', rest, maxsplit=1)[0]}"


def redact(text: str, environ: Mapping[str, str] | None = None) -> str:
    """Return text without secrets of URIs and of the environment.

    Parameters
    ----------
    text : str
        Anything that is about to be shown or stored, most of all the messages of other libraries.
    environ : mapping, optional
        The environment; values of ``AWS_*``, ``*_TOKEN``, ``*_PASSWORD``, ``*_KEY``, ``*_SECRET`` and
        MLflow's user name, and passwords in addresses, with six or more characters are hidden. The
        process's own by default.

    Examples
    --------
    >>> redact("cannot reach http://ada:pw@host/x?token=abc: refused", {})
    'cannot reach http://host: refused'
    >>> redact("Authorization: Bearer abcdef123", {})
    'Authorization: Bearer ***'
    >>> redact("sent hunter22 to the server", {"MLFLOW_TRACKING_PASSWORD": "hunter22"})
    'sent *** to the server'
    """
    known = os.environ if environ is None else environ
    secrets = [value for name, value in known.items() if _SECRET_NAME.search(name.upper())]
    secrets += [password for value in known.values() for password in _PASSWORD.findall(value)]
    forms = {form for secret in (*secrets, *_KEPT) for form in _secret_forms(secret)}
    text = _URI.sub(_uri_in_text, text)
    text = _AUTHORIZATION.sub(rf"\g<1>{HIDDEN}", text)
    text = _BASIC.sub(rf"\g<1> {HIDDEN}", text)
    for form in sorted(forms, key=len, reverse=True):
        text = text.replace(form, HIDDEN)
    return text


def _secret_forms(secret: str) -> Iterator[str]:
    """Yield a secret as texts, addresses, pages and JSON write it."""
    if len(secret) >= _SHORTEST_SECRET:
        yield from (secret, quote(secret, safe=""), html.escape(secret), json.dumps(secret)[1:-1])


def keep_login(user: str, password: str) -> None:
    """Have `redact` hide a password from now on, and the login as HTTP sends it, which a server may repeat.

    Without a password the user is a token.

    Examples
    --------
    >>> keep_login("ali", "open sesame")
    >>> redact("no such login: YWxpOm9wZW4gc2VzYW1l, nor open%20sesame", {})
    'no such login: ***, nor ***'
    """
    _KEPT.add(password or user)
    for encoding in ("utf-8", "latin-1"):
        login = f"{user}:{password}".encode(encoding, "replace")
        _KEPT.add(base64.b64encode(login).decode().rstrip("="))
        _KEPT.add(base64.urlsafe_b64encode(login).decode().rstrip("="))


def _uri_in_text(match: re.Match[str]) -> str:
    uri = match.group()
    body = uri.rstrip(".,:;)]!")
    return redact_uri(body) + uri[len(body) :]


def printable(text: str) -> str:
    r"""Return text in which control, bidirectional and line-breaking characters are written as escapes.

    What comes back is one line and leaves a terminal, a log and a diff as they were.

    Examples
    --------
    >>> print(printable("a\x1b]8;;b\r\u202ec"))
    a\x1b]8;;b\r\u202ec
    >>> printable("naïve 模型 👩‍🔬")
    'naïve 模型 👩‍🔬'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape_char(char) if _disturbs(char) else char for char in text)


def _disturbs(char: str) -> bool:
    return char in _BIDI or unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}


def _escape_char(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def break_links(text: str) -> str:
    r"""Return text of which Markdown on a web host makes no link and no mention without a mark.

    Addresses (``http://``, ``www.``, e-mail), names after ``@`` and numbers of issues are broken by a space
    of no width: a host finds them in what it shows, so that escapes of characters do not prevent it.

    Examples
    --------
    >>> break_links("www.x.org ada@x.org http://x #12 GH-7").replace("\u200b", "|")
    'www|.x.org ada@|x.org http:|//x #|12 GH-|7'
    """
    return _LINKED.sub("\u200b", text)


def truncate_with_digest(name: str) -> str:
    """Return a name of at most a hundred characters.

    A longer one ends in a mark made from the whole of it, so that it is the same in every run and two that
    begin alike stay two.

    Examples
    --------
    >>> truncate_with_digest("spam"), truncate_with_digest("spam " * 1000)[-20:]
    ('spam', 'spam spam sp…-bb2945')
    """
    if len(name) <= LONGEST_NAME:
        return name
    mark = "…-" + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return name[: LONGEST_NAME - len(mark)] + mark


def slug(name: str) -> str:
    r"""Return a name as one safe path component: word characters, dots and dashes, at most 80 of them.

    Never empty, never hidden, never a name that Windows reserves, never a path.

    Examples
    --------
    >>> slug("../../etc/passwd"), slug("calm heron (2)"), slug("CON"), slug("\x00")
    ('etc-passwd', 'calm-heron-2', 'CON-run', 'run')
    """
    plain = unicodedata.normalize("NFKC", name)
    clean = re.sub(r"[^\w.-]+|\.{2,}", "-", plain)
    clean = re.sub(r"-{2,}", "-", clean).strip("-._")[:_LONGEST_SLUG].rstrip("-._")
    if not clean:
        return "run"
    return f"{clean}-run" if _RESERVED.match(clean) else clean
