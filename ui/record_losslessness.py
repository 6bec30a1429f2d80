"""Record the results that the Lossless tab opens with: `python -m ui.record_losslessness`.

There are two tests: one of the correct decoder and one of a broken decoder. Both use the toy model
that the tab's form starts with. The results are written to assets/losslessness.json, or to the file
given by `--out`, with the machine and the date. The seed is fixed, so the counts are the same on
every machine.
"""

from __future__ import annotations

import argparse
import json
from datetime import date
from pathlib import Path
from typing import Any

import torch

from sequoia.assets_folder import ASSETS
from sequoia.exactness.losslessness.losslessness_test import LosslessnessTest
from sequoia.exactness.losslessness.settings import CORRECT, PRESETS
from sequoia.models.describe import describe
from sequoia.text_files import write_text
from ui.lossless.lossless_job import Sampled
from ui.lossless.messages import test_fields

FILE = ASSETS / "losslessness.json"
BROKEN_WITH = "draft-noise"
# the fields of a test that the page shows
_SHOWN = ("decoder", "broken", "kind", "draws", "distance", "floor", "p_value", "rows")


def record() -> dict[str, Any]:
    """Both tests, with the machine and the date."""
    return {
        "machine": describe(torch.device("cpu")),
        "date": date.today().isoformat(),
        "tests": [_made(CORRECT), _made(BROKEN_WITH)],
    }


def _made(key: str) -> dict[str, Any]:
    test = LosslessnessTest(PRESETS[key])
    *_, last = test.comparisons(1000)
    fields = test_fields(Sampled(test, (), last, None), going=False)
    return {name: fields[name] for name in _SHOWN}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m ui.record_losslessness", description=str(__doc__).splitlines()[0]
    )
    parser.add_argument("--out", type=Path, default=FILE, help="file to write")
    path = parser.parse_args().out
    write_text(path, json.dumps(record(), indent=1, ensure_ascii=False) + "\n")
    print(path)


if __name__ == "__main__":
    main()
