"""The name of the default measure, and how names that a user chose are shown."""

from __future__ import annotations

import unicodedata

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
