"""Historical bugs, reproduced on purpose to show that the losslessness test finds them.

bug.py defines Bug. Each of the other files has the bugs of one kind. BUGS has all bugs, by key.
Only the losslessness test can use them.
"""

from __future__ import annotations

from sequoia.exactness.losslessness.broken.bug import BROKEN, Bug
from sequoia.exactness.losslessness.broken.dropped_children import DROPPED_CHILDREN
from sequoia.exactness.losslessness.broken.float16_noise import FLOAT16_NOISE
from sequoia.exactness.losslessness.broken.last_token_from_p import LAST_TOKEN_FROM_P
from sequoia.exactness.losslessness.broken.reused_noise import REUSED_DRAFT_NOISE, REUSED_U

__all__ = ["BROKEN", "BUGS", "Bug"]

BUGS = {
    bug.key: bug
    for bug in (
        FLOAT16_NOISE,
        REUSED_DRAFT_NOISE,
        REUSED_U,
        DROPPED_CHILDREN,
        LAST_TOKEN_FROM_P,
    )
}
