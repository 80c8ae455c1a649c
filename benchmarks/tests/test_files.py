"""The comparison of downloaded files with those of the origin."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from fetchd_benchmarks import files

SIZES = {"small/a.bin": 10, "small/b.bin": 20}


class VerifyTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.origin = Path(folder.name) / "origin"
        self.digests = files.make_files(self.origin, SIZES)
        self.nodes = [Path(folder.name) / name for name in ("one", "two")]
        for node in self.nodes:
            node.mkdir()
        self.copy("a.bin", self.nodes[0])
        self.copy("b.bin", self.nodes[1])

    def copy(self, name: str, node: Path) -> None:
        (node / name).write_bytes((self.origin / "small" / name).read_bytes())

    def test_the_files_of_two_folders_are_those_of_the_origin(self) -> None:
        files.verify_all(self.nodes, self.digests)
        self.copy("b.bin", self.nodes[0])
        files.verify(self.nodes[0], self.digests)

    def test_a_missing_file(self) -> None:
        with self.assertRaisesRegex(SystemExit, "missing: .*b.bin"):
            files.verify(self.nodes[0], self.digests)

    def test_a_file_that_is_not_of_the_origin(self) -> None:
        (self.nodes[1] / "c.bin").touch()
        with self.assertRaisesRegex(SystemExit, "not asked for: .*c.bin"):
            files.verify_all(self.nodes, self.digests)

    def test_a_wrong_byte(self) -> None:
        (self.nodes[1] / "b.bin").write_bytes(bytes(20))
        with self.assertRaisesRegex(SystemExit, "b.bin differs"):
            files.verify_all(self.nodes, self.digests)

    def test_a_file_in_both_folders(self) -> None:
        self.copy("a.bin", self.nodes[1])
        with self.assertRaisesRegex(SystemExit, "1 files were downloaded twice"):
            files.verify_all(self.nodes, self.digests)


if __name__ == "__main__":
    unittest.main()
