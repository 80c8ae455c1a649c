"""Downloads by one, two and three nodes that share a PostgreSQL database."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from .. import files
from ..bench import Bench
from ..cluster import cluster
from ..fetchd import Fetchd, fetchd
from ..nginx import MODERATE_KIB, nginx
from ..postgres import postgres
from ..processes import cpu_seconds
from ..results import Metric, Plot, Sample, Table
from ..stopwatch import Stopwatch
from ..summaries import Summary, values
from ..workload import Measured, Workload
from .small_files import AT_A_TIME, BATCH
from .small_files import KIB as SMALL_KIB

NODES = {"three nodes": 3, "two nodes": 2, "one node": 1}
SLOTS = 25  # of each node, for files from the origin with a limit
FILE_KIB = MODERATE_KIB * 5 // 2
METRICS = [
    Metric("rate", "files/s", 1, is_compared=True, has_range=True),
    Metric("wall", "wall, s", 1, has_range=True),
    Metric("least", "files of the node with fewest", 0),
    Metric("cpu", "CPU of all nodes, s", 2),
    Metric("cpu_each", "CPU a file, ms", 2, is_compared=True),
    Metric("database_each", "PostgreSQL CPU a file, ms", 2),
    Metric("peak", "peak RSS of all nodes, MiB", 0),
]


def measure(bench: Bench) -> Measured:
    limited, small = bench.amount(1000, 100), bench.amount(10_000, 1000)
    sizes = {f"moderate/file-{number:07d}.bin": FILE_KIB << 10 for number in range(limited)}
    tables = {
        FILE_KIB: measure_files(
            bench, f"{limited:,} files of {FILE_KIB} KiB, {MODERATE_KIB} KiB/s over each connection", sizes, SLOTS
        ),
        SMALL_KIB: measure_files(
            bench, f"{small:,} files of {SMALL_KIB} KiB", files.small_files(small, SMALL_KIB), AT_A_TIME
        ),
    }
    return list(tables.values()), [cost(tables)]


def cost(tables: dict[int, Table]) -> Plot:
    """What a file costs all nodes together. `tables` are by the size of the files."""
    curves: dict[str, list[tuple[float, float]]] = {}
    for kib, table in tables.items():
        for name, nodes in sorted(NODES.items(), key=lambda item: item[1]):
            median = Summary.of(values(table.rows[f"fetchd, {name}"], "cpu_each")).median
            curves.setdefault(f"files of {kib} KiB", []).append((nodes, median))
    return Plot("nodes", "CPU time of a file, on all nodes", "nodes", "milliseconds", curves)


def measure_files(bench: Bench, title: str, sizes: dict[str, int], slots: int) -> Table:
    bench.require_space(sum(sizes.values()) / (1 << 20) * 2.2)
    with bench.folder() as folder:
        digests = files.make_files(folder / "files", sizes)
        with nginx(folder / "origin", folder / "files") as origin:
            urls = [f"{origin.url}/{path}" for path in sizes]
            contenders = {}
            for name, nodes in NODES.items():
                run = partial(run_nodes, bench, urls, digests, nodes, slots)
                contenders |= bench.fetchds(run, f", {name}")
            contenders |= bench.fetchds(partial(run_on_sqlite, urls, digests, slots), ", one on SQLite")
            samples = bench.take_turns(title, contenders, "rate", rounds=min(bench.pairs, 3))
    return Table(f"{title}, {slots} at a time on each node", METRICS, samples)


def run_nodes(
    bench: Bench, urls: list[str], digests: dict[str, bytes], nodes: int, slots: int, program: Path, folder: Path
) -> Sample:
    with bench.folder() as own, postgres(own) as database:
        with cluster(program, folder, database, nodes=nodes, jobs=slots, connections=nodes * slots) as services:
            before = cpu_seconds(database.pid)
            sample = download(services, urls)
            used = cpu_seconds(database.pid) - before
        return checked(Sample(sample, database_each=used * 1000 / len(urls)), services, digests)


def run_on_sqlite(urls: list[str], digests: dict[str, bytes], slots: int, program: Path, folder: Path) -> Sample:
    with fetchd(program, folder, jobs=slots) as service:
        sample = download([service], urls)
    return checked(sample, [service], digests)


def download(services: list[Fetchd], urls: list[str]) -> Sample:
    """The first node gets all submissions, and is asked for the progress."""
    watch = Stopwatch(*(service.pid for service in services))
    services[0].submit([{"url": url} for url in urls], BATCH)
    services[0].wait_for("succeeded", len(urls), watch)
    return watch.stop()


def checked(sample: Sample, services: list[Fetchd], digests: dict[str, bytes]) -> Sample:
    folders = [service.downloads for service in services]
    files.verify_all(folders, digests)
    return Sample(
        sample, rate=len(digests) / sample["wall"], cpu_each=sample["cpu"] * 1000 / len(digests),
        least=min(len(list(folder.glob("*.bin"))) for folder in folders),
    )  # fmt: skip


NOTES = """\
The jobs are submitted to one node. nginx, all nodes and PostgreSQL share one machine. In the first table, the limit of the
origin and the slots of the nodes set the time, as with machines of their own. The small files of the second table have no
limit: there the cores and the disk of the one machine set the time, so it shows what it costs that nodes share the jobs,
and not what more machines bring. PostgreSQL syncs its commits. Each run has a server of its own, with an empty database,
256 MiB of shared buffers and otherwise the default settings. No file was downloaded by two nodes. At most three rounds."""

WORKLOAD = Workload("nodes", "Nodes", NOTES, measure)
