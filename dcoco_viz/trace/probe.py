"""Does the Parquet library survive this file? Run as a program, in a process of its own.

A damaged footer can make the library abort the whole process, and a small file can unpack to more than the
machine has. Both then end this process and not a server. Exit 0: survived, whatever the file is worth.
"""

import resource
import subprocess
import sys
from pathlib import Path

MAX_MEMORY = 4 * 2**30  # bytes of address space
MAX_SECONDS = 60


def survives(path: Path) -> bool:
    """True when reading the file in a child process ended normally, even with an error."""
    command = [sys.executable, "-I", __file__, str(path.resolve())]
    try:
        return subprocess.run(command, capture_output=True, timeout=MAX_SECONDS).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def _read_all(path: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        layout = pq.read_metadata(path)
        for group in range(layout.num_row_groups):
            for column in range(layout.num_columns):
                layout.row_group(group).column(column).to_dict()
        pq.ParquetFile(path, page_checksum_verification=True).read(use_threads=False).validate(full=True)
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, ValueError):
        pass  # an error that the reader proper will see and word


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _read_all(sys.argv[1])
