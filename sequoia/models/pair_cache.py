"""What was found out about a pair on this machine, so that it is found out once."""

from __future__ import annotations

from dataclasses import dataclass, field

from sequoia.algorithm.acceptance import Acceptance
from sequoia.planning.hardware_profile import HardwareProfile


@dataclass
class PairCache:
    """Filled by auto.py, and by whoever times the machine better; all of it may still be missing.

    profile: times of this machine with the pair. acceptances: by temperature, top-p and verifier.
    kind: of the texts that were asked about last. chats: the same where every prompt is a chat
    message, which has another acceptance on the same machine.
    """

    profile: HardwareProfile | None = None
    acceptances: dict[tuple[float, float, str], Acceptance] = field(default_factory=dict)
    kind: tuple[tuple[str, ...], str] | None = None
    chats: PairCache | None = None

    def as_chat(self) -> PairCache:
        """Those of chats, always the same ones, with the newest profile."""
        self.chats = self.chats or PairCache()
        self.chats.profile = self.profile or self.chats.profile
        return self.chats
