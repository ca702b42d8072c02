"""The name of the default measure, and how numbers and the names that a user chose are shown."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

DEFAULT_MEASURE = "uds-chance"


def printable(name: object) -> str:
    r"""Return a name with control characters spelled out, so that it cannot steer a terminal.

    Examples
    --------
    >>> print(printable("naïve\x1b[31m"))
    naïve\x1b[31m

    """
    return "".join(
        repr(char)[1:-1] if unicodedata.category(char) in ("Cc", "Cf", "Cs") else char
        for char in str(name)
    )


def told_apart(values: Sequence[object]) -> list[str]:
    """Return values as text, numbers with five digits or as many as tell them apart.

    Examples
    --------
    >>> told_apart([0.123456, 7.0]), told_apart([1013300.0, 1013301.0])
    (['0.12346', '7'], ['1013300', '1013301'])

    """
    texts: list[str] = []
    for digits in range(5, 18):
        texts = [f"{v:.{digits}g}" if isinstance(v, float) else str(v) for v in values]
        if len(set(texts)) == len(set(values)):
            break
    return texts


def shown(number: float) -> str:
    """Return a score or a p-value with as many digits as matter.

    Examples
    --------
    >>> shown(0.56789), shown(0.0000123), shown(0.0)
    ('0.5679', '1.2e-05', '0.0000')

    """
    return f"{number:.4f}" if abs(number) >= 0.001 or number == 0.0 else f"{number:.1e}"
