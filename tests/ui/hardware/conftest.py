"""The Machine view in a Gradio layout, with a tiny pair."""

from __future__ import annotations

import pytest
from visits import laid_out

from ui.hardware.tab import HardwareTab
from ui.run.tab import RunTab
from ui.serving.limits import LOCAL
from ui.serving.model_host import ModelHost


@pytest.fixture
def tab(model_host: ModelHost) -> HardwareTab:
    tab = HardwareTab(model_host, LOCAL, RunTab(model_host, LOCAL, None))
    with laid_out():
        tab.build()
    return tab
