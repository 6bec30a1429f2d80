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
_NEAR = 0.15  # of temperatures: shipped vectors stand 0.3 apart at most
_SAMPLE = "import os\n\n\ndef main(path):\n    \"\"\"Read the file and print what is in it.\"\"\"\n"


def machine(pair: Pair) -> HardwareProfile:
    """A quick profile of this machine with `pair`, measured once (about a second for a small pair)."""
    if "profile" not in pair.measured:
        pair.measured["profile"] = measure_profile(pair, rounds=7, seconds=_QUICK_SECONDS)
    return pair.measured["profile"]


def acceptance_of(pair: Pair, policy: Policy, verifier: str = "sequoia") -> tuple[Acceptance, str]:
    """The pair's acceptance vector under `policy` and `verifier`, and where it is from: "recorded" where one counted under
    nearly the same is shipped with the pair, else "measured" now, once (about a second for a small pair)."""
    if policy.temperature == 0:
        policy, verifier = Policy(), "sequoia"  # all verifiers follow the most probable token, and top-p leaves it in
    if recorded := _recorded(pair, policy, verifier):
        return recorded, "recorded"
    key = "acceptance", policy.temperature, policy.top_p, verifier
    if key not in pair.measured:
        quick = Policy(policy.temperature, policy.top_p, _QUICK_TOKENS, ignore_eos=True)
        ranks = min(_QUICK_RANKS, pair.target.vocab)
        pair.measured[key] = count_acceptance(pair, [_SAMPLE], quick, ranks=ranks, verifier=verifier).acceptance
    return pair.measured[key], "measured"


def _recorded(pair: Pair, policy: Policy, verifier: str) -> Acceptance | None:
    """Shipped vectors are counted with the Sequoia verifier and without top-p."""
    if verifier != "sequoia" or policy.top_p < 1 or not pair.known:
        return None
    temperature, rates = min(pair.known, key=lambda known: abs(known[0] - policy.temperature))
    return rates if abs(temperature - policy.temperature) <= _NEAR else None


def default_plan(pair: Pair, policy: Policy, verifier: str = "sequoia") -> Plan:
    """The tree for this pair on this machine: the one with the most tokens a step among the fastest predicted."""
    return best_plan(acceptance_of(pair, policy, verifier)[0], machine(pair), MAX_NODES, MAX_LEVELS, SLACK)


def speculate(pair: Pair, prompt: str, policy: Policy, tree: Tree | None = None, verifier: str = "sequoia"
              ) -> Iterator[StepTrace]:
    """Decode `prompt` with a token tree at every step; one StepTrace a step. Without a `tree`, one is planned for this machine.

    The settings are checked at the call, before the first step; raises BadPrompt, BadTree or BadPolicy.
    """
    if tree is None:
        verifier_named(verifier)  # what can be refused is refused before anything is measured
        pair.encode(prompt)
        tree = default_plan(pair, policy, verifier).tree
    return run(Decoder(pair, prompt, policy, tree, verifier))
