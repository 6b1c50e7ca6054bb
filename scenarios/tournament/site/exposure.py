"""Addresses at which a site may listen."""

from __future__ import annotations

import ipaddress
import ssl
from pathlib import Path

from metrics.columns import refuse


def parsed_address(text: str) -> tuple[str, int]:
    """Host and port of an address such as ``127.0.0.1:8000`` or ``[::1]:8000``.

    Raises
    ------
    ValueError
        If it is no such address.
    """
    host, colon, port = text.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    refuse(
        not colon or not port.isdecimal() or int(port) > 65535 or not host or (":" in host and not bracketed),
        f"--address must be HOST:PORT such as 127.0.0.1:8000 or [::1]:8000, got {text!r}",
    )
    return host.removeprefix("[").removesuffix("]"), int(port)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host name or address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_exposure(host: str, *, proxy: str | None, certificate: Path | None, key: Path | None) -> None:
    """Refuse an address that others can reach unless visitors come by TLS.

    Raises
    ------
    ValueError
        If passwords would cross the network without encryption, or the files for TLS do not fit.
    """
    refuse((certificate is None) != (key is None), "TLS needs both --tls-certificate and --tls-key")
    refuse(
        certificate is not None and proxy is not None,
        "use either --trust-proxy, if a proxy does TLS, or --tls-certificate with --tls-key",
    )
    refuse(
        certificate is None and proxy is None and not is_loopback(host),
        f"{host} can be reached by others, and passwords would cross the network unencrypted; use --tls-certificate "
        "with --tls-key, or --trust-proxy behind a proxy that does TLS, or 127.0.0.1",
    )
    if certificate is not None and key is not None:
        try:
            ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(certificate, key)
        except (OSError, ssl.SSLError) as error:
            raise ValueError(f"{certificate} and {key}: cannot be used for TLS ({error})") from None
