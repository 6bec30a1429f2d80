"""A small picture of the tree that a lane of the form asks for, shown below the lane's fields. No
model runs for the picture, so a planned tree is planned for typical text, not for the prompt.

Many visitors, for example in a class, may ask for the same few trees, and planning a large tree
slows down a run that is being timed. So the server caches recent trees for all visitors together,
and plans only one tree at a time.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import gradio as gr

from sequoia import Pair, SamplingParams, SequoiaError, Tree
from sequoia.algorithm.verifiers import verifier_named
from sequoia.validate_input import json_text
from ui.run import clocks
from ui.run.request import lane_tree
from ui.serving.limits import Limits
from ui.serving.model_host import ModelHost
from ui.shared.layout import server_function
from ui.shared.serve_modules import connect

_REMEMBERED = 64  # maximum number of trees cached


class LastTrees:
    """A cache of the most recently requested trees. A key contains all that its tree depends on."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._trees: OrderedDict[Hashable, Tree | None] = OrderedDict()

    def get(self, key: Hashable, plan: Callable[[], Tree | None]) -> Tree | None:
        """The tree for `key`; calls `plan` if it is not cached. Only one `plan` runs at a time."""
        with self._lock:
            if key not in self._trees:
                self._trees[key] = plan()
            self._trees.move_to_end(key)
            if len(self._trees) > _REMEMBERED:
                self._trees.popitem(last=False)
            return self._trees[key]


@dataclass(frozen=True)
class FormTrees:
    """Computes the tree that the fields of a lane ask for."""

    model_host: ModelHost
    limits: Limits
    last: LastTrees = field(default_factory=LastTrees)

    def get_tree(self, asked: Any) -> str:
        """Called by the browser with the lane's and the form's values by name (`asked`). Returns
        JSON with two fields. `parents`: the parent of each node; null if a field is invalid, the
        tree is unknown, or it has only one node. `waits`: whether models are loading, so that the
        tree may be known later."""
        try:
            tree = self.tree(asked if isinstance(asked, Mapping) else {})
        except SequoiaError:  # the visitor sees the message after pressing Run
            tree = None
        parents = list(tree.parents) if tree and len(tree) > 1 else None
        return json_text({"parents": parents, "waits": not self.model_host.settled})

    def tree(self, form: Mapping[str, Any]) -> Tree | None:
        """The tree; None if it is not known without running a model. Raises a SequoiaError that
        names an invalid field."""
        request = lane_tree(form, self.limits)
        params = SamplingParams.parse({name: form.get(name) for name in ("temperature", "top_p")})
        verifier: Any = form.get("verifier")
        verifier_named(verifier)
        clock = clocks.checked_clock(form.get("clock", clocks.HERE), form.get("profiles"))
        clocks.require_timeable(clock, request.kind)
        pair = self.model_host.pair_now
        if pair and pair.template and form.get("chat") is True:
            pair = pair.as_chat()
        return self.last.get(
            (request, params, verifier, clock, self.model_host.version, _known_of(pair)),
            lambda: request.known_tree(pair, params, verifier, clocks.simulated_clock(clock)),
        )


def _known_of(pair: Pair | None) -> Hashable:
    """A value that changes with each measurement from which trees are planned. It is different for
    chat messages, because acceptance is measured separately for them."""
    return pair and (pair.chats, pair.measured.profile, len(pair.measured.acceptances))


def tree_picture(trees: FormTrees, lane: int) -> gr.HTML:
    """The picture of the tree that a lane of the form asks for. The browser redraws it after each
    change of the form. lane: its number."""
    picture = f'<div class="sq-form-tree" data-lane="{lane}" hidden></div>'
    return gr.HTML(
        html_template=picture,
        apply_default_css=False,
        elem_id=f"pg-tree-picture-{lane}",
        elem_classes="pg-form-tree",
        server_functions=[server_function(trees.get_tree)],
        js_on_load=connect("shared/form_tree", server=True),
    )
