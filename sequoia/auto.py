"""The tree for this machine when none is given: what is known or quickly measured of a pair goes to the planner."""

from __future__ import annotations

from collections.abc import Iterator

from .acceptance import Acceptance
from .engine import Decoder, run, verifier_named
from .hardware import HardwareProfile
from .measure import count_acceptance, measure_profile
from .pair import Pair
from .plan import Plan, best_plan
from .policy import Policy
from .trace import StepTrace
from .tree import Tree

MAX_NODES, MAX_LEVELS = 128, 16
SLACK = 0.05  # about what a quick profile is uncertain by
_QUICK_SECONDS, _QUICK_TOKENS, _QUICK_RANKS = 0.8, 48, 8
_SAMPLE = "import os\n\n\ndef main(path):\n    \"\"\"Read the file and print what is in it.\"\"\"\n"


def machine(pair: Pair) -> HardwareProfile:
    """A quick profile of this machine with `pair`, measured once (about a second for a small pair)."""
    if "profile" not in pair.measured:
        pair.measured["profile"] = measure_profile(pair, rounds=7, seconds=_QUICK_SECONDS)
    return pair.measured["profile"]


def acceptance_of(pair: Pair, policy: Policy, prompt: str = _SAMPLE) -> tuple[Acceptance, str]:
    """The pair's acceptance vector for `policy`, and "recorded" (shipped, at the nearest temperature) or "measured"."""
    if pair.known:
        return min(pair.known, key=lambda known: abs(known[0] - policy.temperature))[1], "recorded"
    key = "acceptance", policy.temperature, policy.top_p
    if key not in pair.measured:
        quick = Policy(policy.temperature, policy.top_p, _QUICK_TOKENS, ignore_eos=True)
        pair.measured[key] = count_acceptance(pair, [prompt], quick, ranks=min(_QUICK_RANKS, pair.target.vocab)).acceptance
    return pair.measured[key], "measured"


def default_plan(pair: Pair, policy: Policy) -> Plan:
    """The tree for this pair on this machine: the one with the most tokens a step among the fastest predicted."""
    return best_plan(acceptance_of(pair, policy)[0], machine(pair), MAX_NODES, MAX_LEVELS, SLACK)


def speculate(pair: Pair, prompt: str, policy: Policy, tree: Tree | None = None, verifier: str = "sequoia"
              ) -> Iterator[StepTrace]:
    """Decode `prompt` with a token tree at every step; one StepTrace a step. Without a `tree`, one is planned for this machine.

    The settings are checked at the call, before the first step; raises BadPrompt, BadTree or BadPolicy.
    """
    if tree is None:
        verifier_named(verifier)  # what can be refused is refused before anything is measured
        pair.encode(prompt)
        tree = default_plan(pair, policy).tree
    return run(Decoder(pair, prompt, policy, tree, verifier))
