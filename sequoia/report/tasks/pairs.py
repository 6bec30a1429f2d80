"""Tasks with a pair of models, target and draft, that is on this machine's disk: loading the pair,
which includes a self-test, and timing it."""

from __future__ import annotations

from pathlib import Path

from sequoia.loading.load import load_pair
from sequoia.measuring.hardware import measure_profile
from sequoia.models.describe import dtype_name, place_of
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.report.folder import write_at_once
from sequoia.report.tasks.found import Found

PROFILE = "profile.json"


def pair(name: str) -> Found:
    """Load the pair `name` without downloads. Loading includes the self-test of both models. Raises
    SequoiaError if the pair is refused."""
    loaded = load_pair(name, online=False)
    figures = {
        role: f"{model.numbers}, {model.forward_name} on {place_of(model)}: {model.tested}"
        for role, model in (("target", loaded.target), ("draft", loaded.draft))
    }
    words = f"{dtype_name(loaded)}, {loaded.target.forward_name}: {loaded.target.tested}"
    return Found(words, figures)


def profile(seconds: str) -> Found:
    """Measure the hardware profile of the bundled pair in about `seconds` seconds, and write it to
    PROFILE."""
    measured = measure_profile(load_pair(online=False), seconds=float(seconds))
    name = f"{measured.device}, bundled pair"
    write_at_once(Path(PROFILE), {**measured.to_dict(), "name": name})
    return Found(curve(measured))


def curve(measured: HardwareProfile) -> str:
    """The profile in words: the target's time t(1) for one node, its times for more nodes as
    multiples of t(1), and the draft's time for one node."""
    one = measured.verify_seconds(1)
    largest = measured.target_seconds[-1][0]
    sizes = [n for n in (16, 64, 512) if n <= largest]
    ratios = ", ".join(f"{n} nodes {measured.verify_seconds(n) / one:.2f}x" for n in sizes)
    draft = 1e3 * measured.draft_seconds_at(1)
    return f"t(1) {1e3 * one:.2f} ms, {ratios}; draft {draft:.2f} ms"
