"""What a pair does on this machine, measured once and written down: `python -m sequoia.survey --out acceptance.json`.

Acceptance by rank at several temperatures, with counts, intervals and how repetitive the text was.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from tqdm import tqdm

from .errors import SequoiaError
from .hub import ASSETS, load_pair
from .measure import Counted, count_acceptance, dtype_name, versions
from .pair import Pair
from .policy import Policy


def survey(pair: Pair, prompts: Sequence[str], temperatures: Sequence[float], tokens: int, ranks: int) -> dict[str, Any]:
    """One entry a temperature: rates, counts, 95 % intervals of the first rank, repetition."""
    measured = []
    for temperature in temperatures:
        with tqdm(total=len(prompts), desc=f"T={temperature:g}", leave=False) as bar:
            policy = Policy(temperature=temperature, max_new_tokens=tokens, ignore_eos=True)
            counted = count_acceptance(pair, prompts, policy, ranks=ranks, progress=lambda share, bar=bar: _advance(bar, share))
        measured.append({"temperature": temperature, **_entry(counted)})
    return {"format": "sequoia-acceptances", "version": 1, "date": date.today().isoformat(), "target": pair.target.name,
            "draft": pair.draft.name, "dtype": dtype_name(pair), "prompts": len(prompts), "tokens_per_prompt": tokens,
            "versions": dict(versions()), "measured": measured}


def _advance(bar: tqdm, share: float) -> None:
    bar.update(round(share * bar.total) - bar.n)


def _entry(counted: Counted) -> dict[str, Any]:
    rates = counted.acceptance.rates
    return {"visited": counted.visited, "accepted": counted.accepted, "rates": list(rates),
            "first_rank_interval": [round(bound, 4) for bound in counted.intervals[0]],
            "repetition": round(counted.repetition, 4)}


def preset_prompts() -> list[str]:
    """The texts the page offers that are code: what the bundled pair was trained for."""
    data = json.loads((ASSETS / "prompts.json").read_text(encoding="utf-8"))
    return [prompt["text"] for prompt in data["prompts"] if prompt["name"] != "prose"]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m sequoia.survey", description=str(__doc__).split("\n")[0],
                                     formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("--target", help="folder or Hugging Face id (default: the bundled pair)")
    parser.add_argument("--draft", help="folder or Hugging Face id")
    parser.add_argument("--temperature", nargs="+", type=float, default=[0.0, 0.3, 0.6, 0.8, 1.0])
    parser.add_argument("--tokens", type=int, default=256, help="new tokens a prompt")
    parser.add_argument("--ranks", type=int, default=32, help="children drafted at every node")
    parser.add_argument("--out", type=Path, help="file to write (default: print)")
    options = parser.parse_args(argv)
    try:
        pair = load_pair(target=options.target, draft=options.draft)
        found = survey(pair, preset_prompts(), options.temperature, options.tokens, options.ranks)
    except SequoiaError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    text = json.dumps(found, indent=1)
    print(text) if options.out is None else options.out.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
