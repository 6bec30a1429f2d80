"""Runs the measurements that a machine new to the program needs, one after another:
`python -m sequoia.bench --stages OUT`.

Each stage is a command in a process of its own, so that a crash ends only that stage. What it
prints and writes goes to the folder OUT/NAME. A stage that succeeded is not run again, so the same
command continues where it was stopped. The tests of a GPU are `pytest -m gpu`.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import torch

from sequoia.bench.command import write_json
from sequoia.errors import SequoiaError
from sequoia.loading.load import load_pair
from sequoia.loading.model_checks import checked_device
from sequoia.measuring.hardware import measure_profile
from sequoia.models.describe import describe, versions
from sequoia.this_machine.dtypes import narrowest_dtype
from sequoia.this_machine.step_timer import synchronize

# name -> arguments of Python, from the most valuable stage to the least
STAGES: Mapping[str, tuple[str, ...]] = {
    "environment": ("-m", "sequoia.bench.stages", "environment"),
    "bench": ("-m", "sequoia.bench", "--assistant-tokens", "3", "5", "--json", "bench.json"),
    "profile": ("-m", "sequoia.bench.stages", "profile"),
    **{
        f"shape-{name}{kind}": ("-m", "sequoia.shapes", name, "--out", ".", *options)
        for kind, options in (("", ()), ("-eager", ("--no-graphs",)))
        for name in ("llama-2-7b", "qwen3-8b", "qwen3-32b-0.6b", "qwen3-32b-offloaded")
        if not (kind and "offloaded" in name)  # graphs have no effect on streamed layers
    },
    "run": ("-m", "ui.record", "run", "run", "--tokens", "64", "--out", "."),
    "race": ("-m", "ui.record", "race", "race", "--tokens", "64", "--out", "."),
    "opening": ("-m", "ui.record", "opening", "--rounds", "3", "--out", "."),
}
_ROOT = Path(__file__).resolve().parents[2]
_DONE = "done"
_COPIED = 2**30  # bytes of one timed copy on CUDA; elsewhere a sixteenth of it
_COPIES = 20
_LINK_BYTES = 2**28


def run_stages(out: Path, stages: Mapping[str, tuple[str, ...]] = STAGES) -> None:
    """Run the stages that have not succeeded yet, and print a line for each. Raises SequoiaError if
    any has still not succeeded."""
    failed = [name for name in stages if not _has_succeeded(out / name, stages[name])]
    if failed:
        raise SequoiaError(f"failed: {', '.join(failed)}; see the output.txt in its folder")


def _has_succeeded(folder: Path, arguments: tuple[str, ...]) -> bool:
    """Run one stage in `folder` unless it has succeeded already."""
    if (folder / _DONE).exists():
        print(f"{folder.name}: done before")
        return True
    folder.mkdir(parents=True, exist_ok=True)
    print(f"{folder.name}: {' '.join(arguments)}", flush=True)
    start = time.monotonic()
    with (folder / "output.txt").open("w", encoding="utf-8") as output:
        status = subprocess.run(
            [sys.executable, *arguments],
            cwd=folder,
            env=_environment(),
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        ).returncode
    seconds = time.monotonic() - start
    print(f"  {f'failed with status {status}' if status else 'done'} in {seconds:.0f} s")
    if not status:
        (folder / _DONE).write_text(f"{datetime.now().isoformat(timespec='seconds')}\n", "utf-8")
    return not status


def _environment() -> dict[str, str]:
    """The environment of a stage: this program is found from any folder."""
    return {**os.environ, "PYTHONPATH": str(_ROOT)}


def environment() -> None:
    """Write the machine, the versions and the bandwidths of memory, in bytes per second, to
    environment.json. A copy counts the bytes it reads and those it writes; the link to a GPU counts
    one direction."""
    device = checked_device("auto")
    figures = {
        "machine": describe(device),
        "versions": dict(versions()),
        "dtype": str(narrowest_dtype(device)).removeprefix("torch."),
        "cpu capability": torch.backends.cpu.get_cpu_capability(),
        "threads": torch.get_num_threads(),
        "CUDA": torch.version.cuda,
        "bytes per second, host memory": copy_bandwidth(torch.device("cpu")),
    }
    if device.type == "cuda":
        figures["bytes per second, GPU memory"] = copy_bandwidth(device)
        host = torch.ones(_LINK_BYTES, dtype=torch.uint8, pin_memory=True)
        figures["bytes per second, pinned memory to GPU"] = _copied_per_second(host, device)
    write_json(Path("environment.json"), figures)


def copy_bandwidth(device: torch.device) -> float:
    """The bytes that a copy on `device` reads plus those that it writes, per second."""
    count = _COPIED if device.type == "cuda" else _COPIED // 16
    return 2 * _copied_per_second(torch.ones(count, dtype=torch.uint8, device=device), device)


def _copied_per_second(source: torch.Tensor, device: torch.device) -> float:
    """The bytes of `source` that are copied to `device` per second. The median of several
    copies."""
    target = torch.empty(len(source), dtype=source.dtype, device=device)

    def seconds() -> float:
        synchronize(device)
        start = time.perf_counter()
        target.copy_(source, non_blocking=True)
        synchronize(device)
        return time.perf_counter() - start

    return len(source) / statistics.median(seconds() for _ in range(_COPIES))


def profile() -> None:
    """Measure the profile of the bundled pair, and write it to profile.json."""
    measured = measure_profile(load_pair(online=False), seconds=25.0)
    name = f"{measured.device}, bundled pair"
    write_json(Path("profile.json"), {**measured.to_dict(), "name": name})


if __name__ == "__main__":
    {"environment": environment, "profile": profile}[sys.argv[1]]()
