"""Verifiers: rules for accepting drafted tokens. Each rule has a file, and RULES lists them all.

sequoia (with `walk`, the descent that specinfer shares), specinfer, top_k_match, traversal (the
rules), verifier (the interface of a rule, and the result of one step).

A verifier is chosen by its key. The engine works with any of them, so a new rule is one file here
and one entry in RULES."""

from __future__ import annotations

from sequoia.algorithm.verifiers.sequoia import SEQUOIA
from sequoia.algorithm.verifiers.specinfer import SPECINFER
from sequoia.algorithm.verifiers.top_k_match import TOP_K_MATCH
from sequoia.algorithm.verifiers.traversal import TRAVERSAL
from sequoia.algorithm.verifiers.verifier import Verifier
from sequoia.errors import BadSamplingParams
from sequoia.validate_input import shown

RULES = (SEQUOIA, SPECINFER, TOP_K_MATCH, TRAVERSAL)
VERIFIERS = {verifier.key: verifier for verifier in RULES}
DEFAULT_VERIFIER = SEQUOIA.key


def verifier_named(name: str) -> Verifier:
    """The verifier with the key `name`. Raises BadSamplingParams for an unknown key; the message
    lists the known ones."""
    if not isinstance(name, str) or name not in VERIFIERS:
        raise BadSamplingParams(f"unknown verifier {shown(name)}; known: {', '.join(VERIFIERS)}")
    return VERIFIERS[name]
