"""A task that times a pair of models with real shapes and random weights."""

from __future__ import annotations

from pathlib import Path

from sequoia.bench.random_weights import measured_shape, shape_file
from sequoia.loading.model_checks import checked_device
from sequoia.report.folder import write_at_once
from sequoia.report.tasks.found import Found
from sequoia.report.tasks.pairs import PROFILE, curve


def shape(name: str, seconds: str, graphs: str) -> Found:
    """Measure the pair of models with the shapes called `name` in about `seconds` seconds, and
    write its profile to PROFILE. graphs: "graphs", or "eager" for passes without CUDA graphs.
    Raises OutOfMemory if the pair does not fit into memory."""
    device = checked_device("auto")
    has_graphs = graphs == "graphs"
    profile, figures = measured_shape(name, device, seconds=float(seconds), graphs=has_graphs)
    write_at_once(Path(PROFILE), shape_file(name, profile, figures, has_graphs))
    reading = figures["64-node pass over reading the weights"]
    words = f"{curve(profile)}; 64 nodes take {reading:.2f}x the time to read the weights"
    return Found(words, figures)
