"""The sizes of a run."""

from __future__ import annotations

import unittest
from pathlib import Path

from fetchd_benchmarks.bench import Bench


def bench(largest: int | None = None, is_quick: bool = False) -> Bench:
    return Bench({"fetchd": Path("fetchd")}, Path("/tmp"), 5, 10, is_quick, largest)


class SizeTests(unittest.TestCase):
    def test_sizes(self) -> None:
        cases = (
            (bench(), [10, 100, 1000]),
            (bench(is_quick=True), [10, 100]),
            (bench(largest=500), [10, 100, 500]),
            (bench(largest=10_000), [10, 100, 1000, 10_000]),
            (bench(largest=1_000_000), [10, 100, 1000, 10_000]),
            (bench(largest=10_000, is_quick=True), [10, 100]),
            (bench(largest=1), [10]),
        )
        for number, (given, expected) in enumerate(cases):
            with self.subTest(case=number):
                self.assertEqual(given.sizes(1000, quick=100, most=10_000), expected)

    def test_without_a_maximum_the_default_is_the_last(self) -> None:
        self.assertEqual(bench(largest=5000).sizes(1000, quick=10), [10, 100, 1000])
        self.assertEqual(bench().sizes(100, quick=10, first=1), [1, 10, 100])


if __name__ == "__main__":
    unittest.main()
