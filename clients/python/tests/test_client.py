"""The package against a real service, over kills of it."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import datetime
import hashlib
import io
import json
import os
import re
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Any, Dict, List

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parent)]

import fetchd  # noqa: E402
from service import PROGRAM, Files, Service  # noqa: E402


class ClientTests(unittest.TestCase):
    service: Service
    files: Files

    @classmethod
    def setUpClass(cls) -> None:
        cls.service = Service()
        cls.files = Files()
        cls.files.files["/small.bin"] = b"small"

    @classmethod
    def tearDownClass(cls) -> None:
        cls.files.close()
        cls.service.close()

    def setUp(self) -> None:
        self.client = fetchd.Client(self.service.url)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def gated(self, name: str, size: int = 2_000_000) -> str:
        """A file whose second half comes when its gate is opened."""
        self.files.files[f"/{name}"] = os.urandom(size)
        self.files.gates[f"/{name}"] = threading.Event()
        return f"{self.files.url}/{name}"

    def restart_soon(self, after: float = 0.3) -> threading.Thread:
        def restart() -> None:
            time.sleep(after)
            self.service.kill()
            time.sleep(0.3)
            self.service.start()

        thread = threading.Thread(target=restart)
        thread.start()
        self.addCleanup(thread.join)
        return thread

    def test_downloads_to_a_file_and_into_a_folder(self) -> None:
        copy = self.client.download(f"{self.files.url}/small.bin", to=self.folder / "copy")
        self.assertEqual(Path(copy).read_bytes(), b"small")
        copy = self.client.download(f"{self.files.url}/small.bin", to=self.folder, destination={"filename": "named.bin"})
        self.assertEqual(copy, str(self.folder / "named.bin"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["copy", "named.bin"])
        job = self.client.download(f"{self.files.url}/small.bin", tags=["kept"])
        self.assertEqual(job.state, "succeeded")
        self.assertEqual([found.id for found in self.client.jobs(tag="kept")], [job.id])

    def test_says_why_a_download_failed(self) -> None:
        with self.assertRaises(fetchd.DownloadFailed) as failure:
            self.client.download(f"{self.files.url}/none")
        self.assertEqual(failure.exception.code, "bad_status")
        checksum = {"algorithm": "md5", "value": "0" * 32}
        with self.assertRaises(fetchd.DownloadFailed) as failure:
            self.client.download(f"{self.files.url}/small.bin", checksum=checksum)
        self.assertEqual(failure.exception.code, "checksum_mismatch")

    def test_says_what_is_wrong_with_a_request(self) -> None:
        with self.assertRaises(fetchd.FetchdError) as refusal:
            self.client.add("ftp://host/")
        self.assertEqual((refusal.exception.status, refusal.exception.pointer), (422, "/url"))
        self.assertEqual(refusal.exception.type, "/problems/invalid-value")
        with self.assertRaises(fetchd.FetchdError) as missing:
            self.client.job("job_none")
        self.assertEqual(missing.exception.status, 404)
        with self.assertRaises(ValueError):
            fetchd.Client("downloads")

    def test_gives_up_when_the_service_stays_away(self) -> None:
        begun = time.monotonic()
        with self.assertRaises(fetchd.ServiceUnavailable):
            fetchd.Client("http://127.0.0.1:1", patience=0.5).stats()
        self.assertLess(time.monotonic() - begun, 30)

    def test_waits_over_a_restart(self) -> None:
        job = self.client.add(self.gated("waited.bin"))
        restart = self.restart_soon()
        threading.Thread(target=lambda: (restart.join(), self.files.gates["/waited.bin"].set())).start()
        self.assertEqual(job.wait(60).state, "succeeded")
        self.assertEqual(job.document["file"]["sha256"], hashlib.sha256(self.files.files["/waited.bin"]).hexdigest())

    def test_watches_progress(self) -> None:
        job = self.client.add(self.gated("watched.bin"))
        seen: List[Dict[str, Any]] = []
        for document in job.watch():
            seen.append(document)
            if document["progress"]["bytes_received"] >= 1_000_000:
                self.files.gates["/watched.bin"].set()
        self.assertEqual(seen[-1]["state"], "succeeded")
        self.assertEqual(seen[-1]["progress"]["fraction"], 1)
        with self.assertRaises(TimeoutError):
            self.client.add(self.gated("late.bin")).wait(0.1)
        self.files.gates["/late.bin"].set()

    def test_acts_on_a_job(self) -> None:
        job = self.client.add(self.gated("acted.bin"))
        self.assertEqual(job.pause().state, "paused")
        self.assertEqual(job.change(priority="low").document["priority"], "low")
        self.assertEqual(job.cancel(produce_resume_data=True).state, "cancelled")
        with self.assertRaises(fetchd.DownloadFailed) as failure:
            job.wait()
        self.assertEqual(failure.exception.code, "cancelled")
        self.files.gates["/acted.bin"].set()
        job.retry().wait(60)
        job.delete(file="delete")
        with self.assertRaises(fetchd.FetchdError):
            job.refresh()

    def test_continues_a_copy_after_a_restart(self) -> None:
        self.files.files["/large.bin"] = os.urandom(64 << 20)
        job = self.client.download(f"{self.files.url}/large.bin")
        restarted: List[threading.Thread] = []
        original = fetchd.files.Transport.open

        def opened(transport: Any, *arguments: Any, **options: Any) -> Any:
            answer = original(transport, *arguments, **options)
            if not restarted and arguments[1].endswith("/file"):
                # The kernel has some of the file. The rest comes after the restart.
                restarted.append(self.restart_soon(0))
                restarted[0].join()
            return answer

        fetchd.files.Transport.open = opened  # type: ignore[method-assign]
        self.addCleanup(setattr, fetchd.files.Transport, "open", original)
        copy = job.save(self.folder / "large.bin")
        self.assertEqual(Path(copy).read_bytes(), self.files.files["/large.bin"])
        self.assertEqual(os.listdir(self.folder), ["large.bin"])

    def test_attaches_to_a_session_again(self) -> None:
        session = self.client.session("photos", max_concurrent_jobs=2)
        session.add_all([{"url": f"{self.files.url}/small.bin"}, {"url": f"{self.files.url}/none"}])
        finish = session.wait_for_finish(60, acknowledge=False)
        self.assertEqual((finish.batch, finish.outcome, finish.counts["failed"]), (1, "partly_failed", 1))
        self.assertEqual(finish.failures[0]["code"], "bad_status")
        # The program has ended before it acknowledged the finish.
        again = fetchd.Client(self.service.url).session("photos")
        self.assertEqual(again.document["configuration"]["max_concurrent_jobs"], 2)
        self.assertEqual(again.wait_for_finish(60).batch, 1)
        third = fetchd.Client(self.service.url).session("photos")
        with self.assertRaises(TimeoutError):
            third.wait_for_finish(0.5)
        third.add(f"{self.files.url}/small.bin")
        self.assertEqual(third.wait_for_finish(60).batch, 2)
        self.assertEqual(len(list(third.jobs())), 3)
        self.assertEqual(len(third.manifest().splitlines()), 2)

    def test_imports_a_list(self) -> None:
        path = self.folder / "list.tsv"
        path.write_text(f"url\n{self.files.url}/small.bin\n{self.files.url}/small.bin\n")
        self.assertEqual(self.client.import_list(path, "tsv")["created"], 2)
        self.assertEqual(self.client.import_list(path, "tsv")["created"], 2)
        path.write_text("url\nftp://host/\n")
        with self.assertRaises(fetchd.FetchdError) as refusal:
            self.client.import_list(path, "tsv")
        self.assertEqual(refusal.exception.problem["problems"][0]["line"], 2)

    def test_misses_no_event_over_restarts(self) -> None:
        start = self.client.last_event()
        seen: List[int] = []
        done = threading.Event()

        def read() -> None:
            for event in fetchd.Client(self.service.url).events(after=start):
                seen.append(event["id"])
                if event["type"] == "job.succeeded" and event["data"]["snapshot"]["tags"] == ["last"]:
                    done.set()
                    return

        reader = threading.Thread(target=read)
        reader.start()
        for number in range(3):
            self.client.download(f"{self.files.url}/small.bin", tags=["last"] if number == 2 else [])
            if number < 2:
                self.restart_soon(0).join()
        self.assertTrue(done.wait(60))
        reader.join()
        page = self.client._transport.request("GET", "events", query={"after": start, "limit": 1000})
        self.assertEqual(seen, [event["id"] for event in page["events"] if event["id"] <= seen[-1]])

    def test_begins_with_the_next_event(self) -> None:
        before = self.client.last_event()
        self.client.add(f"{self.files.url}/small.bin").wait(60)
        events = self.client.events()
        first: List[Dict[str, Any]] = []
        reader = threading.Thread(target=lambda: first.append(next(events)))
        reader.start()
        # The iterator begins at some time.
        while reader.is_alive():
            self.client.add(f"{self.files.url}/small.bin").wait(60)
            reader.join(0.5)
        self.assertGreater(first[0]["id"], before + 2)

    def test_shows_a_bar(self) -> None:
        try:
            import tqdm  # type: ignore[import-untyped,unused-ignore]  # noqa: F401
        except ImportError:
            self.skipTest("tqdm is not installed")
        shown = io.StringIO()
        with contextlib.redirect_stderr(shown):
            self.client.download(f"{self.files.url}/small.bin", progress=True)
        self.assertIn("small.bin", shown.getvalue())

    def test_works_with_coroutines(self) -> None:
        async def run() -> None:
            client = fetchd.AsyncClient(self.service.url)
            session = await client.session("coroutines")
            # Other tests may have left a download that ends now.
            events = client.events(after=self.client.last_event(), session="coroutines")
            first = asyncio.ensure_future(events.__anext__())
            copy = await client.download(f"{self.files.url}/small.bin", to=self.folder / "copy", session="coroutines")
            self.assertEqual(Path(copy).read_bytes(), b"small")
            self.assertEqual((await asyncio.wait_for(first, 60))["type"], "job.created")
            await events.aclose()  # type: ignore[attr-defined]
            await session.wait_for_finish(60)
            jobs = await asyncio.gather(*(session.add(f"{self.files.url}/small.bin") for _ in range(5)))
            self.assertEqual((await session.wait_for_finish(60)).counts["succeeded"], 5)
            self.assertEqual((await jobs[0].refresh()).state, "succeeded")
            with self.assertRaises(fetchd.DownloadFailed):
                await client.download(f"{self.files.url}/none")
            self.assertEqual(len([job async for job in client.jobs(session="coroutines")]), 6)

        asyncio.run(run())

    def test_has_the_version_of_the_service(self) -> None:
        import subprocess

        version = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(re.search(r"\d+\.\d+\.\d+", version)[0], fetchd.__version__)  # type: ignore[index]


class WebhookTests(unittest.TestCase):
    secret = "whsec_" + base64.b64encode(b"0123456789abcdef01234567").decode()
    body = b'{"type":"webhook.test","data":{}}'

    def headers(self, secret: str = "", age: float = 0, identifier: str = "msg_1") -> Dict[str, str]:
        try:
            from standardwebhooks import Webhook
        except ImportError:
            self.skipTest("standardwebhooks is not installed")
        time_of_request = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=age)
        signature = Webhook(secret or self.secret).sign(identifier, time_of_request, self.body.decode())
        return {
            "Webhook-Id": identifier,
            "webhook-timestamp": str(int(time_of_request.timestamp())),
            "webhook-signature": signature,
        }

    def test_accepts_what_others_sign(self) -> None:
        self.assertEqual(fetchd.verify_webhook(self.headers(), self.body, self.secret), json.loads(self.body))
        self.assertEqual(fetchd.verify_webhook(self.headers(), self.body.decode(), self.secret)["type"], "webhook.test")
        other = "whsec_" + base64.b64encode(b"another").decode()
        self.assertEqual(fetchd.verify_webhook(self.headers(), self.body, [other, self.secret])["type"], "webhook.test")

    def test_refuses_everything_else(self) -> None:
        other = "whsec_" + base64.b64encode(b"another").decode()
        good = self.headers()
        for headers, body, secret in [
            (good, self.body + b" ", self.secret),
            (good, self.body, other),
            (self.headers(age=400), self.body, self.secret),
            (self.headers(age=-400), self.body, self.secret),
            ({**good, "Webhook-Id": "msg_2"}, self.body, self.secret),
            ({**good, "webhook-signature": "v1,é"}, self.body, self.secret),
            ({**good, "webhook-timestamp": "soon"}, self.body, self.secret),
            ({}, self.body, self.secret),
            (good, self.body, "whsec_!"),
        ]:
            with self.assertRaises(fetchd.WebhookError):
                fetchd.verify_webhook(headers, body, secret)


if __name__ == "__main__":
    unittest.main()
