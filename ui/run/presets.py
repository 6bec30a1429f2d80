"""The ready-made comparisons: the values that each button fills into the form.
Independent of Gradio."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sequoia.algorithm.verifiers import DEFAULT_VERIFIER, VERIFIERS
from sequoia.saved_files.race_file import MOST_LANES
from ui.run.clocks import HERE
from ui.run.plan import FAMILIAR_CLOCK
from ui.shared.prompts import TEMPERATURE, presets

FormLane = tuple[str, str, str]  # kind, numbers as text, verifier


@dataclass(frozen=True)
class RunPreset:
    """One preset. name: the label of its button. shows: one or two sentences on it. lanes:
    the ways to decode. clock: the key of the clock that times them. prompt: if not given, the form
    keeps its own. second_prompt: empty for a run on one prompt."""

    key: str
    name: str
    shows: str
    lanes: tuple[FormLane, ...]
    clock: str = HERE
    prompt: str = ""
    second_prompt: str = ""
    temperature: float = TEMPERATURE

    @property
    def about(self) -> str:
        """The text below the buttons, as Markdown; it begins with the preset's name."""
        return f"**{self.name}:** {self.shows}"


def _lane(kind: str, numbers: str = "", verifier: str = DEFAULT_VERIFIER) -> FormLane:
    return kind, numbers, verifier


def _prompt(name: str) -> str:
    return next(prompt.text for prompt in presets() if prompt.name == name)


_USUAL = (_lane("plain"), _lane("tuned_chain"), _lane("planned"))

PRESETS = (
    RunPreset(
        "tree",
        "plain vs. tree",
        "Is the tree, planned for this machine, faster than plain decoding?",
        (_lane("planned"), _lane("plain")),
    ),
    RunPreset(
        "chain",
        "chain vs. tree",
        "The best chain against the best tree, both planned for this machine: what does branching "
        "add?",
        (_lane("tuned_chain"), _lane("planned")),
    ),
    RunPreset(
        "drafts",
        "ways to draft",
        "The small model's best tree and its best chain, guesses looked up in the text so far, and "
        "no guesses: which pays on this text?",
        (_lane("planned"), _lane("tuned_chain"), _lane("lookup"), _lane("plain")),
    ),
    RunPreset(
        "shapes",
        "shapes",
        "Four shapes of 15 nodes each: which gives the most tokens per step?",
        (
            _lane("chain", "15"),
            _lane("sequences", "2, 7"),
            _lane("kary", "2, 4"),
            _lane("best", "15, 8"),
        ),
    ),
    RunPreset(
        "verifiers",
        "verifiers",
        "One tree of 15 nodes with each verifier, at temperature 1, where the verifiers differ.",
        tuple(_lane("kary", "2, 4", verifier) for verifier in [*VERIFIERS][:MOST_LANES]),
        temperature=1.0,
    ),
    RunPreset(
        "prose",
        "code vs. prose",
        "The same two lanes on code and on prose, which is harder to draft. Each tree is compared "
        "with plain decoding of the same prompt, and then the two speed-ups with each other.",
        (_lane("plain"), _lane("planned")),
        prompt=_prompt("function"),
        second_prompt=_prompt("prose"),
    ),
    RunPreset(
        "a100",
        "on an A100",
        "The models run here, but the clock gives each step the time it would take on an A100 "
        "(simulated), and the tree is planned for an A100. Compare with the same run on this "
        "machine.",
        _USUAL,
        clock=FAMILIAR_CLOCK,
    ),
)


def preset_named(name: Any) -> RunPreset | None:
    """The preset whose button is called `name`; None for any other value."""
    return next((preset for preset in PRESETS if preset.name == name), None)
