"""The limits on what visitors may use: sizes, times, and the length of the queue."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True)
class Limits:
    """The most that one visitor, or all visitors together, may use."""

    tokens: int = 4096  # of one run
    nodes: int = 1024  # of one tree, with its root
    prompt_chars: int = 20_000
    seconds: float = 1800.0  # of one run; counted anew when a paused run is resumed
    waiting: int = 60  # visitors in the queue, including the one being served
    per_address: int | None = None  # waiting or running runs of one network address
    # the next four apply to each view (a tab of the page) separately
    sessions: int = 64  # visitors whose runs are remembered
    held: int = 4  # paused runs that keep their KV caches
    runs: int = 32  # runs stored for reload
    stored_nodes: int = 2_000_000  # in all stored runs; one node of one step is about 100 bytes
    # the next four are in bytes
    request: int = 4 * MIB  # one request that uploads no file
    upload: int = 32 * MIB  # the files in one request
    uploads_each: int = 256 * MIB  # from one address within `upload_seconds`
    uploads: int = 512 * MIB  # from all addresses within `upload_seconds`
    upload_seconds: float = 600.0
    kept: int = 512 * MIB  # bytes of all temporary files: uploads and files to download
    kept_files: int = 10_000  # the number of temporary files
    models: bool = True  # whether visitors may load other models, and download them
    measures: bool = True  # whether visitors may measure this machine
    # Whether everyone may follow any run, read-only. If not, a run can be followed only if its
    # visitor allows it, because a prompt is private among strangers.
    shares: bool = True

    @property
    def requests(self) -> int:
        """The capacity of Gradio's own queue. A page that opens sends three requests at once. These
        must not be refused when many runs wait, so there is room for several requests per run."""
        return 8 * self.waiting

    @property
    def handlers(self) -> int:
        """The number of handlers that may be active at once, which Gradio calls `max_threads`. Each
        waiting run has one handler, and a second one if its visitor follows the current run. Both
        are coroutines and occupy no thread."""
        return 4 * self.waiting + 40


LOCAL = Limits()
PUBLIC = Limits(
    tokens=512,
    nodes=256,
    prompt_chars=8_000,
    seconds=60.0,
    held=2,
    stored_nodes=1_000_000,
    upload=8 * MIB,
    uploads_each=64 * MIB,
    uploads=256 * MIB,
    kept=256 * MIB,
    kept_files=5_000,
    models=False,
    measures=False,
    shares=False,
)
