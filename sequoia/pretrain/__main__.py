"""The command that trains a pair: `python -m sequoia.pretrain --help`."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence

import torch

from ..errors import BadTraining, SequoiaError
from .flags import parser
from .recipe import TARGET_TOKENS, whole
from .steps import STEPS, decay_tokens

STOPPED = 130  # the usual exit status after Ctrl-C


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return the exit status. An expected error, such as a file that cannot be
    read, is printed in one line without a traceback. Raises SystemExit after --help, and for
    arguments that cannot be parsed."""
    try:
        return _main(parser(STEPS).parse_args(argv))
    except SequoiaError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    # Ctrl-C outside training and sampling, or a second one during them. No checkpoint is written.
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return STOPPED


def _main(args: Namespace) -> int:
    if args.threads is not None:
        torch.set_num_threads(whole("threads", args.threads, 1, 1024))
    args.device = device_of(args.device)
    if args.tokens is not None:
        whole("tokens", args.tokens, 1, 10**12)
    steps = {args.step: args.tokens} if args.step != "all" else _all(args.tokens or TARGET_TOKENS)
    for step, tokens in steps.items():
        is_done = STEPS[step](args, tokens)
        if not is_done:
            print(f"{step} stopped; continue with the same command and --resume")
            return STOPPED
    return 0


def _all(tokens: int) -> dict[str, int]:
    """The number of tokens for each step of `all`. tokens: how many the target trains on before
    the decay of its learning rate."""
    third = max(1, tokens // 3)
    return {
        "text": 0,
        "target": tokens,
        "target-decay": decay_tokens(tokens),
        "draft": third,
        "draft-decay": decay_tokens(third),
    }


def device_of(name: str) -> torch.device:
    """The device called auto, cpu or cuda. Raises BadTraining if it is unknown or missing."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name not in ("cpu", "cuda"):
        raise BadTraining(f"device {name[:40]!r} is not one of auto, cpu, cuda")
    if name == "cuda" and not torch.cuda.is_available():
        raise BadTraining("device 'cuda' does not exist on this machine; use --device cpu")
    return torch.device(name)


if __name__ == "__main__":
    sys.exit(main())
