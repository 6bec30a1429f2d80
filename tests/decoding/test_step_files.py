"""How many of the program's files one decoding step enters: what somebody has to open to follow it.

`python tests/decoding/test_step_files.py` lists them with their numbers of calls.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from sequoia import Decoder, SamplingParams, Tree, load_pair  # noqa: E402

MOST = 10  # with a draft in int8, which has a file of its own


def files_entered(work: Callable[[], object]) -> Counter[str]:
    """Calls into each of the program's files during `work`."""
    entered = Counter[str]()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(ROOT / "sequoia")):
            entered[str(Path(frame.f_code.co_filename).relative_to(ROOT))] += 1

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return entered


def files_of_a_step() -> Counter[str]:
    """Those of the third step of a run at a temperature above 0."""
    params = SamplingParams(temperature=0.6, max_new_tokens=60, ignore_eos=True)
    tree = Tree.from_branching([4, 2, 1, 1])
    decoder = Decoder(load_pair(device="cpu"), "Once upon a time", params, tree)
    decoder.prefill()
    for _ in range(2):
        decoder.step()
    return files_entered(decoder.step)


def test_a_step_enters_few_files() -> None:
    entered = files_of_a_step()
    assert "sequoia/decoding/engine.py" in entered
    assert len(entered) <= MOST, entered


if __name__ == "__main__":
    found = files_of_a_step()
    print(len(found), *(f"{calls:5} {file}" for file, calls in found.most_common()), sep="\n")
