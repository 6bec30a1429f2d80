"""The limits on what visitors may use: sizes, times, and the length of the queue. Other modules
check them."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True)
class Limits:
    """The most that one visitor, or all visitors together, may use.

    tokens, prompt_chars: of one run. nodes: of one tree, with its root. seconds: decoding time of
    one run, or of a race with its analysis (wall clock); it is counted anew when a paused run is
    resumed. waiting: visitors in the queue, including the one being served.

    In each view separately: sessions: visitors whose runs are remembered. held: paused runs that
    keep their KV caches. runs, stored_nodes: number of runs stored for reload, and the number of
    nodes in all of them (one node of one step is about 100 bytes).

    models: whether visitors may load other models, which includes downloading them. measures:
    whether visitors may measure this machine; all visitors share its profile. shares: whether
    everyone may follow any run, read-only. That suits one machine or a workshop. Among strangers a
    prompt is private: without `shares`, a run can be followed only if its visitor allows it.

    In bytes: request: size of a request that uploads no file. upload: size of the files in one
    request. uploads_each, uploads: uploads within `upload_seconds`, from one address and in total.
    kept: all temporary files (uploads and files to download), of which there are at most
    `kept_files`.
    """

    tokens: int = 4096
    nodes: int = 1024
    prompt_chars: int = 20_000
    seconds: float = 1800.0
    waiting: int = 60
    sessions: int = 64
    held: int = 4
    runs: int = 32
    stored_nodes: int = 2_000_000
    request: int = 4 * MIB
    upload: int = 32 * MIB
    uploads_each: int = 256 * MIB
    uploads: int = 512 * MIB
    upload_seconds: float = 600.0
    kept: int = 512 * MIB
    kept_files: int = 10_000
    models: bool = True
    measures: bool = True
    shares: bool = True

    @property
    def requests(self) -> int:
        """The capacity of Gradio's own queue. A page that opens sends three requests at once. These
        must not be refused when many runs wait, so there is room for several requests per run."""
        return 8 * self.waiting

    @property
    def handlers(self) -> int:
        """The number of handlers that may be active at once. Each waiting run has one, and a second
        one if its visitor follows the current run. Both are coroutines and occupy no thread."""
        return 4 * self.waiting + 40

    def sizes(self) -> dict[str, str]:
        """The limits on uploads and files, each with its size in words, for --help."""
        within = f"in {self.upload_seconds / 60:g} minutes"
        found = {
            "an upload": self.upload,
            "any other request": self.request,
            f"uploads from one address {within}": self.uploads_each,
            f"all uploads {within}": self.uploads,
            "all temporary files": self.kept,
        }
        sizes = {what: f"{size // MIB} MiB" for what, size in found.items()}
        return {**sizes, "number of temporary files": f"{self.kept_files:,}"}


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
