"""A client for fetchd, a service that downloads files in the background.

    import fetchd

    client = fetchd.Client()
    client.download("https://example.org/image.iso", to="image.iso")

The service is the one at ``FETCHD_URL``, or http://127.0.0.1:8080, and ``FETCHD_TOKEN`` is its token. Waits and events outlast
restarts of the service. The package needs the standard library only.
"""

from .asynchronous import AsyncClient
from .client import Client, Finish, Job, Session
from .errors import DownloadFailed, EventsPruned, FetchdError, ServiceUnavailable, WebhookError
from .webhooks import verify_webhook

__version__ = "0.2.0"

__all__ = [
    "AsyncClient",
    "Client",
    "DownloadFailed",
    "EventsPruned",
    "FetchdError",
    "Finish",
    "Job",
    "ServiceUnavailable",
    "Session",
    "WebhookError",
    "verify_webhook",
]
