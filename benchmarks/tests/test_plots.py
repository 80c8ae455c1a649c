"""The plots, and the stored results that they are drawn from."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

from fetchd_benchmarks.plots import Axis, svg
from fetchd_benchmarks.results import Metric, Plot, Result, Sample, Table, load


class AxisTests(unittest.TestCase):
    def test_ticks(self) -> None:
        cases = (
            ([10, 1000], [10, 100, 1000]),
            ([3, 4000], [1, 10, 100, 1000, 10_000]),
            ([10, 90], [10, 20, 50, 100]),
            ([10, 10], [10, 20, 50, 100]),
        )
        for values, expected in cases:
            with self.subTest(values=values):
                self.assertEqual(Axis([float(value) for value in values], 0, 100).ticks, expected)

    def test_a_position_is_between_the_ends(self) -> None:
        axis = Axis([10.0, 1000.0], 100, 300)
        self.assertEqual([axis.position(value) for value in (10, 100, 1000)], [100, 200, 300])


class PlotTests(unittest.TestCase):
    def test_the_plot_is_well_formed_and_names_its_curves(self) -> None:
        plot = Plot("name", "A < B", "jobs", "seconds", {"a & b": [(10, 1), (100, 5)], "zero": [(10, 0), (100, 0)]})
        texts = [element.text for element in ElementTree.fromstring(svg(plot)).iter() if element.text]
        self.assertIn("A < B", texts)
        self.assertIn("a & b", texts)

    def test_results_are_read_as_they_were_stored(self) -> None:
        table = Table("Table", [Metric("wall", "wall, s")], {"fetchd": [Sample(wall=1.5)]})
        plot = Plot("plot", "Plot", "jobs", "s", {"fetchd": [(10, 1.5)]})
        with tempfile.TemporaryDirectory() as folder:
            Result("name", "Title", "machine", "notes", [table], [plot]).save(Path(folder))
            found = load(Path(folder) / "name.json")
        self.assertEqual(found.tables, [table])
        self.assertEqual(found.plots[0].curves, {"fetchd": [[10, 1.5]]})


if __name__ == "__main__":
    unittest.main()
