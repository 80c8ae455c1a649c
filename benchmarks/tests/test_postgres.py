"""The PostgreSQL server of the benchmarks: a real one."""

from __future__ import annotations

import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from fetchd_benchmarks.environment import ENVIRONMENT
from fetchd_benchmarks.postgres import postgres, program
from fetchd_benchmarks.processes import cpu_seconds, family


class PostgresTests(unittest.TestCase):
    def test_the_server_is_durable_and_ends_with_its_processes(self) -> None:
        with tempfile.TemporaryDirectory() as folder, postgres(Path(folder)) as server:
            for setting in ("fsync", "synchronous_commit", "full_page_writes"):
                self.assertEqual(answer(server.url, f"SHOW {setting}"), "on", setting)
            processes = family(server.pid)
            self.assertGreater(len(processes), 1)
        self.assertEqual([pid for pid in processes if Path(f"/proc/{pid}").exists()], [])

    def test_the_cpu_seconds_include_connections_that_have_ended(self) -> None:
        with tempfile.TemporaryDirectory() as folder, postgres(Path(folder)) as server:
            before = cpu_seconds(server.pid)
            answer(server.url, "SELECT count(*) FROM generate_series(1, 1000000)")
            # The server counts the process of a connection when it has waited for it, a moment after the answer.
            end = time.monotonic() + 60
            while cpu_seconds(server.pid) - before <= 0.02:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.01)


def answer(url: str, query: str) -> str:
    command = [program("psql"), "--no-psqlrc", "--tuples-only", "--no-align", "--command", query, url]
    return subprocess.check_output(command, env=ENVIRONMENT, text=True).strip()


if __name__ == "__main__":
    unittest.main()
