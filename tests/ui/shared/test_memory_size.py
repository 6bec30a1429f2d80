"""The size of an opened race depends on the memory that it takes, not only on its nodes."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from ui.decode.recordings import RunStore
from ui.race.recordings import opened
from ui.serving.limits import LOCAL
from ui.shared.memory_size import memory_size

RACE = Path(__file__).resolve().parents[2] / "saved" / "races" / "greedy.json"


class Holder:
    def __init__(self, held: Any) -> None:
        self.held = held


@pytest.mark.parametrize(
    "make",
    [
        lambda: [str(i) for i in range(10_000)],
        lambda: [float(i) for i in range(10_000)],
        lambda: {str(i): [i + 1000] for i in range(5_000)},
        lambda: Holder([Holder((i + 1000.0,)) for i in range(5_000)]),
    ],
)
def test_memory_size_is_close_to_what_python_allocates(make: Any) -> None:
    """It differs by at most 60% from the bytes that tracemalloc counts."""
    tracemalloc.start()
    value = make()
    allocated = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert memory_size(value) == pytest.approx(allocated, rel=0.6)


def test_a_race_of_few_nodes_and_long_texts_is_heavy(tmp_path: Path) -> None:
    """Guards against files of few nodes whose texts fill the memory. For example, a file of 6.7 MB
    took 35 MB of memory."""
    data = json.loads(RACE.read_text(encoding="utf-8"))
    light = opened(str(RACE), LOCAL.upload)
    pieces = data["lanes"][0]["run"]["pieces"]
    pieces |= {str(10**6 + i): "a" * 900 for i in range(1000)}
    path = tmp_path / "heavy.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    heavy = opened(str(path), LOCAL.upload)
    assert heavy.node_count >= light.node_count + 900_000 // 100
    store: RunStore[Any] = RunStore(8, heavy.node_count * 2)
    for _ in range(4):
        store.put(opened(str(path), LOCAL.upload))
    assert len(store._kept) <= 2
