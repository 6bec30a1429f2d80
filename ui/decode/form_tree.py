"""The tree that a form asks for, for the small picture beside its field. No model runs for it, so
it is planned for the usual kind of text, whatever the prompt is.

Every page of a room asks for the same few trees, and anybody may ask for large ones while runs are
timed. So the last trees are remembered, and one is planned at a time.
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
from ui.decode import clocks
from ui.serving.limits import Limits
from ui.serving.loaded_pair import pair_now
from ui.serving.model_host import ModelHost
from ui.shared.call_modules import connect
from ui.shared.layout import server_function
from ui.shared.message_text import message_text
from ui.shared.tree_request import TreeRequest

# Reads the tree of a form from its values by name, which nobody has checked.
Reader = Callable[[Mapping[str, Any], Limits], TreeRequest]
_REMEMBERED = 64  # trees of each form


class LastTrees:
    """The trees that were asked for last, by what they depend on."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._trees: OrderedDict[Hashable, Tree | None] = OrderedDict()

    def get(self, key: Hashable, plan: Callable[[], Tree | None]) -> Tree | None:
        """The tree for `key`, by `plan` if it is not remembered. Plans one at a time."""
        with self._lock:
            if key not in self._trees:
                self._trees[key] = plan()
            self._trees.move_to_end(key)
            if len(self._trees) > _REMEMBERED:
                self._trees.popitem(last=False)
            return self._trees[key]


@dataclass(frozen=True)
class FormTrees:
    """Answers which tree the fields of a form give."""

    model_host: ModelHost
    limits: Limits
    requested: Reader
    last: LastTrees = field(default_factory=LastTrees)

    def get_tree(self, asked: Any) -> str:
        """asked: values of the form by name, from the browser. The answer has the `parents` of the
        tree, None where a field is invalid or the tree is not known, and `waits`: whether models
        are loading, after which it may be known."""
        try:
            tree = self.tree(asked if isinstance(asked, Mapping) else {})
        except SequoiaError:  # the message comes at Run, at the field it is about
            tree = None
        parents = list(tree.parents) if tree and len(tree) > 1 else None
        return message_text({"parents": parents, "waits": not self.model_host.settled})

    def tree(self, form: Mapping[str, Any]) -> Tree | None:
        """The tree, if it is known. Raises a SequoiaError about an invalid field."""
        request = self.requested(form, self.limits)
        params = SamplingParams.parse({name: form.get(name) for name in ("temperature", "top_p")})
        verifier: Any = form.get("verifier")
        verifier_named(verifier)
        key = form.get("clock", clocks.HERE)
        clock = clocks.checked_clock(key)
        clocks.require_timeable(clock, request.kind)
        pair = pair_now(self.model_host)
        return self.last.get(
            (request, params, verifier, key, self.model_host.version, _known_of(pair)),
            lambda: request.known_tree(pair, params, verifier, clocks.simulated_clock(clock)),
        )


def _known_of(pair: Pair | None) -> Hashable:
    """What trees for a pair depend on and what may be measured at any time."""
    return pair and (pair.measured.profile, len(pair.measured.acceptances))


def tree_picture(tab: str, trees: FormTrees, lane: str = "") -> gr.HTML:
    """The picture, which the browser draws for the values that the form of `tab` has at the moment.
    lane: the number of the lane whose tree it is."""
    picture = f'<div class="sq-form-tree" data-tab="{tab}" data-lane="{lane}" hidden></div>'
    return gr.HTML(
        html_template=picture,
        apply_default_css=False,
        elem_id=f"{tab}-tree-picture{lane and '-'}{lane}",
        elem_classes="pg-form-tree",
        server_functions=[server_function(trees.get_tree)],
        js_on_load=connect("shared/form_tree", server=True),
    )
