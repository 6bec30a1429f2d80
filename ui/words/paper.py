"""Sentences of the Paper tab: what its simulations assume, and what they and the recorded
experiments say beside the paper's results."""

from __future__ import annotations

from collections.abc import Sequence

# follows the paper's title
INTRODUCTION = (
    " reports how fast decoding is with its trees on an A100, on an L40, and on an L40 with "
    "offloading. The paper’s tables are below. Where a table gives tokens per step, our "
    "simulated speed-up is beside the published one. The simulation takes the tokens per step "
    "from the paper, and the tree’s size if the paper states it. The step times are predicted "
    "by a simulated clock for the paper’s GPU. Sequoia and SpecInfer each have a rule for "
    "accepting tokens, and SpecInfer has trees of its own (“5 × 8”: 5 independent sequences of "
    "8 tokens). Top-k match is a third rule: the children "
    "are the draft’s most probable tokens, the target samples a token itself, and a child is "
    "kept only if it is that token. Traversal, a newer rule that tests whole paths, is "
    "compared below."
)
OF_SWEEPS = (
    "Green: the best in its table. Empty: not in the paper. Nothing is simulated here: "
    "a simulation needs the tokens per step, which these tables do not give."
)
OF_CLAIMS = (
    "The paper shows these results as curves. Each varies one thing: the tree’s shape, the "
    "verifier, the number of children, or the machine."
)
NOT_RECORDED = "No result recorded yet."


def graphs_words(
    plain_ms: float, speedups: Sequence[float], here_ms: Sequence[float], paper_ms: Sequence[float]
) -> str:
    """How Sequoia's speed-ups change if plain decoding uses CUDA graphs too. plain_ms: of a plain
    token, simulated with CUDA graphs. here_ms, paper_ms: of a token with Sequoia's trees, simulated
    and in the paper."""
    return (
        "The paper uses CUDA graphs for its trees, but not for plain decoding. An A100 simulated "
        f"with CUDA graphs for both needs {plain_ms:.1f} ms per plain token, and Sequoia’s "
        f"speed-ups shrink to {min(speedups):.2f}× to {max(speedups):.2f}×. That simulated "
        f"A100 is probably too fast: with Sequoia’s trees, it needs {min(here_ms):.1f} to "
        f"{max(here_ms):.1f} ms per token, while the paper’s A100 needs {min(paper_ms):.1f} to "
        f"{max(paper_ms):.1f} ms."
    )


def shape_words(nodes: int, best: float, rival: float) -> str:
    """The expected tokens per step of the best tree of `nodes` nodes, and of the best independent
    sequences, with the only acceptance vector that the paper prints."""
    return (
        "Predicted from the acceptance vector of the paper’s Appendix E, which is for Llama3-70B "
        f"with Llama3-8B, not for the pair of Figure 4: with {nodes} nodes, the best tree yields "
        f"{best:.2f} tokens per step, {best / rival - 1:.1%} more than the {rival:.2f} of the best "
        "independent sequences."
    )
