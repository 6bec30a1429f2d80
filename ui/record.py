"""Record a run as the page would make it: `python -m ui.record welcome --preset class --temperature 0.6`.

The file goes to assets/runs/; the page opens on the one called "welcome".
"""

from __future__ import annotations

import argparse
import sys

from sequoia import Policy, SequoiaError, load_pair

from . import recordings
from .engine_room import EngineRoom
from .live import LiveRun
from .order import Order
from .presets import presets
from .recordings import Shelf
from .session import LOCAL
from .trees import SHAPES, Wish


def record(order: Order, room: EngineRoom) -> str:
    """Carry out `order` and give back the text of its file. Raises SequoiaError where the run fails."""
    run = LiveRun(order, room, LOCAL, Shelf(1, LOCAL.weight))
    run.start(None)
    for _ in run.messages():
        pass
    if run.error or run.recording is None:
        raise SequoiaError(run.error or "the run did not begin")
    return recordings.played(run.recording.run()).file


def main() -> None:
    known = {preset.name: preset for preset in presets()}
    parser = argparse.ArgumentParser(prog="python -m ui.record", description=str(__doc__).splitlines()[0])
    parser.add_argument("name", help="name of the file, without .json")
    parser.add_argument("--preset", default=presets()[0].name, choices=known, help="the prompt")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tree", default="planned", choices=[k for k, s in SHAPES.items() if not s.fields or k == "best"])
    parser.add_argument("--nodes", type=int, default=64, help="for --tree best")
    parser.add_argument("--levels", type=int, default=8, help="for --tree best")
    asked = parser.parse_args()
    policy = Policy(temperature=asked.temperature, max_new_tokens=asked.tokens, seed=asked.seed)
    room = EngineRoom(load_pair, 1)
    room.open()
    text = record(Order(known[asked.preset].text, policy, Wish(asked.tree, (asked.nodes, asked.levels))), room)
    recordings.RUNS.mkdir(parents=True, exist_ok=True)
    path = recordings.RUNS / f"{asked.name}.json"
    path.write_text(text, encoding="utf-8")
    print(f"{path}: {len(text) / 1e3:.0f} kB")


if __name__ == "__main__":
    try:
        main()
    except SequoiaError as problem:
        sys.exit(str(problem))
