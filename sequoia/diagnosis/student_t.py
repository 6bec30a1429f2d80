"""Student's t with a whole number of degrees of freedom: p-values and quantiles, without scipy.

The distribution function is a finite sum (Abramowitz and Stegun, 26.7.3 and 26.7.4).
"""

from __future__ import annotations

import math
from functools import cache

_LARGEST = 1e6  # larger than any quantile that is needed


def two_sided_p(t: float, freedom: int) -> float:
    """The probability that |T| is at least |t|."""
    angle = math.atan(abs(t) / math.sqrt(freedom))
    return max(0.0, 1.0 - _within(angle, freedom))


@cache
def critical_value(level: float, freedom: int) -> float:
    """The t whose two-sided p-value is `level`, found by bisection."""
    low = 0.0
    high = _LARGEST
    while high - low > 1e-9 * max(1.0, low):
        middle = (low + high) / 2
        if two_sided_p(middle, freedom) > level:
            low = middle
        else:
            high = middle
    return high


def _within(angle: float, freedom: int) -> float:
    """The probability that |T| is less than sqrt(freedom) tan(angle)."""
    sine = math.sin(angle)
    cosine = math.cos(angle)
    if freedom == 1:
        return 2 * angle / math.pi
    odd = freedom % 2
    term = cosine if odd else 1.0
    total = term
    for k in range(2 + odd, freedom - 1, 2):
        term *= cosine**2 * (k - 1) / k
        total += term
    return 2 / math.pi * (angle + sine * total) if odd else sine * total
