"""Medians, ratios and tables."""

from __future__ import annotations

import unittest

from fetchd_benchmarks.results import Metric, Sample, Table, compared
from fetchd_benchmarks.summaries import Summary, percentile, ratios
from fetchd_benchmarks.tables import markdown


class SummaryTests(unittest.TestCase):
    def test_summary_has_the_median_and_the_range(self) -> None:
        for values, expected in (([3.0, 1.0, 2.0], (2, 1, 3)), ([4.0], (4, 4, 4)), ([1.0, 2.0], (1.5, 1, 2))):
            summary = Summary.of(values)
            self.assertEqual((summary.median, summary.low, summary.high), expected)

    def test_percentile(self) -> None:
        values = [float(number) for number in range(100, 0, -1)]
        for share, expected in ((0, 1), (0.5, 51), (0.99, 100), (1, 100)):
            self.assertEqual(percentile(values, share), expected)

    def test_ratios_compare_the_runs_of_one_round(self) -> None:
        first = [Sample(wall=2), Sample(wall=9), Sample(wall=1)]
        other = [Sample(wall=1), Sample(wall=3), Sample(wall=0)]
        self.assertEqual(ratios(first, other, "wall"), [2, 3])
        self.assertEqual(ratios(first, other, "cpu"), [])


class TableTests(unittest.TestCase):
    metrics = [Metric("wall", "wall, s", 1, is_compared=True, has_range=True), Metric("peak", "peak, MiB", 0)]

    def test_the_first_row_is_compared_with_the_others(self) -> None:
        rows = {"a": [Sample(wall=2, peak=5), Sample(wall=4, peak=7)], "b": [Sample(wall=1), Sample(wall=1)]}
        lines = markdown(Table("Title", self.metrics, rows)).splitlines()
        self.assertEqual(lines[2], "|  | wall, s | peak, MiB | ratio: wall |")
        self.assertEqual(lines[4], "| a | 3.0 (2.0 to 4.0) | 6 |  |")
        self.assertEqual(lines[5], "| b | 1.0 |  | 3.00 (2.00 to 4.00) |")

    def test_a_comparison_leaves_out_other_variants(self) -> None:
        rows = {name: [Sample(wall=1)] for name in ("peer", "fetchd, one", "fetchd, two")}
        table = compared("Title", self.metrics, rows, "fetchd, two", "fetchd, one")
        self.assertEqual(list(table.rows), ["fetchd, two", "peer"])


if __name__ == "__main__":
    unittest.main()
