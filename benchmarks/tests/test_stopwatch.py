"""The CPU seconds and the memory of several processes."""

from __future__ import annotations

import subprocess
import sys
import unittest

from fetchd_benchmarks.stopwatch import Stopwatch

# Waits for a line, computes, answers, and waits for the end of its input.
PROGRAM = "input(); sum(range(3_000_000)); print(flush=True); input()"


class StopwatchTests(unittest.TestCase):
    def test_a_sample_has_the_sums_of_all_processes(self) -> None:
        processes = [self.start(), self.start()]
        watches = [Stopwatch(process.pid) for process in processes] + [Stopwatch(*(it.pid for it in processes))]
        for process in processes:
            self.compute(process)
        first, second, both = [watch.stop() for watch in watches]
        for metric in ("cpu", "peak"):
            self.assertGreater(min(first[metric], second[metric]), 0, metric)
            self.assertAlmostEqual(both[metric], first[metric] + second[metric], delta=0.01, msg=metric)

    def start(self) -> subprocess.Popen:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.addCleanup(process.communicate, "\n")
        return process

    def compute(self, process: subprocess.Popen) -> None:
        assert process.stdin and process.stdout
        process.stdin.write("\n")
        process.stdin.flush()
        process.stdout.readline()


if __name__ == "__main__":
    unittest.main()
