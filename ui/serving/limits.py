"""How much visitors may use: sizes, times, and how many of them wait. Checks nothing itself."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True)
class Limits:
    """What one visitor, and all visitors together, may use.

    tokens, nodes, prompt_chars: of one run. seconds: wall-clock time of decoding. waiting: visitors
    in the queue, the one being served included. sessions: how many are remembered. held: paused
    runs that keep their caches. runs, weight: finished runs stored for reload, and their nodes in
    total (one node of one step is about 100 bytes). models: whether a visitor may load other
    models, which includes downloading them. measures: whether a visitor may measure this machine,
    whose profile is the same for all. shares: whether other visitors may follow any run, read-only:
    on this machine or in a workshop everyone in the room may. Among strangers a prompt is private,
    so there a visitor is asked, and by default nobody follows.

    In bytes: request: of a request that uploads no file. upload: of an opened file.
    uploads_each, uploads: uploaded in `upload_seconds` from one address, and by all. kept: of the
    temporary files, uploads and files to download together; of those there are at most
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
    weight: int = 2_000_000
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
        """Requests of pages in Gradio's own queue: a page that opens has three at once. They must
        never be refused because many runs wait, so there is room for several per run."""
        return 8 * self.waiting

    @property
    def handlers(self) -> int:
        """Handlers that may be active at once. Each waiting run has one, and a second if its
        visitor follows the current run; both are awaited and hold no thread."""
        return 4 * self.waiting + 40

    def sizes(self) -> dict[str, str]:
        """The limits on what is sent, for --help."""
        within = f"in {self.upload_seconds / 60:g} minutes"
        found = {
            "an opened file": self.upload,
            "any other request": self.request,
            f"uploads from one address {within}": self.uploads_each,
            f"all uploads {within}": self.uploads,
            "temporary files": self.kept,
        }
        sizes = {what: f"{size // MIB} MiB" for what, size in found.items()}
        return {**sizes, "temporary files, their number": f"{self.kept_files:,}"}


LOCAL = Limits()
PUBLIC = Limits(
    tokens=512,
    nodes=256,
    prompt_chars=8_000,
    seconds=60.0,
    held=2,
    weight=1_000_000,
    upload=8 * MIB,
    uploads_each=64 * MIB,
    uploads=256 * MIB,
    kept=256 * MIB,
    kept_files=5_000,
    models=False,
    measures=False,
    shares=False,
)
