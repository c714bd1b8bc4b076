"""A lock on an open file that the system lets go of when the program ends, however it ends."""

from __future__ import annotations

import sys
from typing import BinaryIO

if sys.platform == "win32":
    import msvcrt

    _FAR = 1 << 62

    def lock(file: BinaryIO) -> None:
        """Lock a file for this program; `BlockingIOError` if another one has it."""
        place = file.tell()
        file.seek(_FAR)  # a byte that is never written: a locked one could not be read by others
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise BlockingIOError(str(error)) from None
        finally:
            file.seek(place)

else:
    import fcntl

    def lock(file: BinaryIO) -> None:
        """Lock a file for this program; `BlockingIOError` if another one has it."""
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
