"""A script that makes the GPU fail in the middle of a run. Afterwards the process can no longer use
the GPU. The script prints the error of that run, the error of the next run, and what the page's
header says."""

from __future__ import annotations

import json
from typing import Any

import torch
from visits import run_request, wait

from sequoia import Decoder, load_pair
from ui.run.decode_job import DecodeJob
from ui.run.recordings import RunStore
from ui.serving.limits import LOCAL
from ui.serving.model_host import ModelHost


def main() -> None:
    host = ModelHost(lambda: load_pair(online=False), 4)
    host.open()
    wait(lambda: host.settled, 120)
    Decoder.step = _breaking_step
    for _ in range(2):
        job = DecodeJob(run_request(max_new_tokens=8), host, LOCAL, RunStore(8, 10**6))
        job.start(None)
        print(json.loads(list(job.messages())[-1])["error"])
    print(host.status.stage, host.status.words)


def _breaking_step(_: Decoder) -> Any:
    """Index a tensor out of bounds. PyTorch's kernel checks the index and aborts."""
    beyond = torch.tensor([9], device="cuda")
    torch.zeros(1, device="cuda")[beyond].sum().item()


if __name__ == "__main__":
    main()
