"""All workloads, in the order of docs/performance.md."""

from __future__ import annotations

from ..workload import Workload
from . import (
    answers,
    batches,
    cancelling,
    connections,
    finished_jobs,
    idle,
    large_file,
    limited_host,
    nodes,
    postgres_submits,
    slow_downloads,
    small_files,
    submits,
    watchers,
    webhooks,
)  # fmt: skip

ALL: list[Workload] = [
    small_files.WORKLOAD,
    answers.POLLS,
    answers.LIVEZ,
    answers.LISTS,
    submits.WORKLOAD,
    batches.WORKLOAD,
    postgres_submits.WORKLOAD,
    large_file.WORKLOAD,
    connections.WORKLOAD,
    nodes.WORKLOAD,
    cancelling.WORKLOAD,
    finished_jobs.WORKLOAD,
    slow_downloads.WORKLOAD,
    limited_host.WORKLOAD,
    watchers.WORKLOAD,
    webhooks.WORKLOAD,
    idle.WORKLOAD,
]
