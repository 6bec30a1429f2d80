"""Runs of the Decode view on a real GPU."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from visits import run_request, wait

from sequoia import Pair, load_pair
from ui.run.decode_job import DecodeJob
from ui.run.recordings import RunStore
from ui.serving.limits import LOCAL
from ui.serving.model_host import ModelHost

WORDS = (
    "The graphics card stopped working (CUDA error: device-side assert triggered). Start the "
    "program again."
)


@pytest.fixture(scope="module")
def pair() -> Pair:
    return load_pair(dtype="float32", online=False)


@pytest.fixture
def make(pair: Pair) -> Callable[[], DecodeJob]:
    host = ModelHost(lambda: pair, 4)
    host.open()
    wait(lambda: host.settled, 120)
    return lambda: DecodeJob(
        run_request(prompt="def mean(values):\n", max_new_tokens=48, temperature=0),
        host,
        LOCAL,
        RunStore(8, 10**6),
    )


def emitted(job: DecodeJob) -> list[int]:
    return [token for step in job.recording.log().lanes[0].run.steps for token in step.emitted]


@pytest.mark.gpu
def test_a_run_that_begins_is_not_disturbed_by_another_that_is_stopped(
    make: Callable[[], DecodeJob],
) -> None:
    """After a run was stopped, releasing it frees unused GPU memory. Meanwhile the other run may be
    capturing CUDA graphs."""
    alone = make()
    alone.start(None)
    list(alone.messages())
    for _ in range(5):
        stopped, job = make(), make()
        stopped.start(None)
        job.start(None)
        stopped.halt()
        stopped.release()
        list(job.messages())
        assert emitted(job) == emitted(alone)


@pytest.mark.gpu
def test_after_a_gpu_failure_the_run_ends_and_later_runs_report_it() -> None:
    script = Path(__file__).with_name("gpu_failure.py")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    run = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=240
    )
    assert run.stdout.splitlines() == [WORDS, WORDS, f"failed {WORDS}"], run.stderr[-2000:]
