"""The commands in this folder call handlers by their names. Guards against names that the page no
longer has: the commands would measure nothing."""

from __future__ import annotations

from others import HANDLER
from room_findings import JOBS
from room_visitors import STATE

from sequoia import load_pair
from ui.page import page
from ui.serving.limits import LOCAL
from ui.serving.model_host import ModelHost


def test_the_page_has_the_handlers_that_are_called() -> None:
    names = {fn.api_name for fn in page(ModelHost(load_pair, 1), LOCAL).fns.values()}
    assert {*JOBS, HANDLER, STATE} <= names
