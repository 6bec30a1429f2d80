"""The names in `TOOLTIPS["..."]` and the "button ..." names in scripts are in tooltips.json."""

from __future__ import annotations

import json
import re

from sequoia.assets_folder import ASSETS
from ui.shared.join_modules import UI, modules

TOOLTIPS = json.loads((ASSETS / "tooltips.json").read_text(encoding="utf-8"))
FILES = [*modules(), *UI.glob("*/*.py")]
SCRIPTS = "\n".join(path.read_text(encoding="utf-8") for path in FILES)
BY_NAME = re.compile(r'TOOLTIPS\["([^"]+)"\]|: "(button [^"]+)"|report\.term\([^,]+, "([^"]+)"')


def test_every_requested_name_is_explained() -> None:
    asked = {name for pair in BY_NAME.findall(SCRIPTS) for name in pair if name}
    assert len(asked) > 20
    assert asked <= set(TOOLTIPS)
