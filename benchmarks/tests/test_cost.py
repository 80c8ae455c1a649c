"""The judgement of scripts/check cost."""

from __future__ import annotations

import unittest

from fetchd_benchmarks.cost.command import excesses, judgement, lower


class CostTests(unittest.TestCase):
    def test_judgement(self) -> None:
        cases = (
            ("instructions", 1075, 1000, ""),
            ("instructions", 1100, 1000, "more than 8% above"),
            ("instructions", 900, 1000, "less: --update stores it"),
            ("instructions", 110, 100, ""),  # ten more are never reported
            ("syncs", 1290, 1000, ""),
            ("syncs", 1310, 1000, "more than 30% above"),
            ("commits", 20, 0, "more than 30% above"),
            ("allocations", 5, None, "no stored value"),
        )
        for what, count, stored, expected in cases:
            with self.subTest(what=what, count=count):
                self.assertEqual(judgement(what, count, stored), expected)

    def test_a_loss_of_a_tenth_is_an_excess(self) -> None:
        stored = {"polls": {"instructions": 1e9, "allocations": 5e5}}
        self.assertEqual(excesses({"polls": {"instructions": 1.1e9, "allocations": 5e5}}, stored), 1)
        self.assertEqual(excesses({"polls": {"instructions": 1.0e9}}, stored), 0)

    def test_the_lower_count_of_two_runs(self) -> None:
        one, other = {"polls": {"syncs": 3.0, "allocations": 9.0}}, {"polls": {"syncs": 4.0}}
        self.assertEqual(lower(one, other), {"polls": {"syncs": 3.0, "allocations": 9.0}})
        self.assertEqual(lower(other, one), {"polls": {"syncs": 3.0}})


if __name__ == "__main__":
    unittest.main()
