import unittest

from fetchd_interop.check import Check
from fetchd_interop.matrix import Matrix
from fetchd_interop.outcomes import Cell, Failure, NotOffered


def raising(error: Exception) -> Check:
    def run() -> None:
        raise error

    return Check("check", run)


class CheckTests(unittest.TestCase):
    def test_every_outcome_becomes_a_cell(self) -> None:
        self.assertEqual(Check("check", lambda: None).cell(), Cell("passed"))
        self.assertEqual(Check("check", lambda: "a note").cell(), Cell("passed", "a note"))
        self.assertEqual(raising(Failure("other bytes")).cell(), Cell("failed", "other bytes"))
        self.assertEqual(raising(NotOffered("no digest")).cell(), Cell("not offered", "no digest"))
        self.assertEqual(raising(TimeoutError("late")).cell(), Cell("failed", "TimeoutError: late"))


class MatrixTests(unittest.TestCase):
    def setUp(self) -> None:
        self.matrix = Matrix("Downloads from", ["whole file", "digest"])
        self.matrix.add("nginx", "whole file", Cell("passed", "HTTP/1.1"))
        self.matrix.add("nginx", "digest", Cell("not offered", "no module"))
        self.matrix.add("Caddy", "whole file", Cell("passed", "HTTP/1.1"))

    def test_one_failed_cell_fails_the_run(self) -> None:
        self.assertFalse(self.matrix.has_failed)
        self.matrix.add("Caddy", "digest", Cell("failed", "other bytes\nand a log"))
        self.assertTrue(self.matrix.has_failed)

    def test_markdown_has_a_column_for_each_server(self) -> None:
        self.assertEqual(
            self.matrix.markdown(),
            "|  | nginx | Caddy |\n| --- | :---: | :---: |\n| whole file | ✓ | ✓ |\n| digest | – |  |\n",
        )

    def test_reasons_name_all_servers_that_have_them(self) -> None:
        self.assertEqual(
            self.matrix.reasons(),
            "- whole file, passed (nginx; Caddy): HTTP/1.1\n- digest, not offered (nginx): no module\n",
        )


if __name__ == "__main__":
    unittest.main()
