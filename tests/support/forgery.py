"""Forged model files, with valid checksums and wrong contents."""

import json
import zlib

from cwboost.model_file.container import MAGIC, PREFIX


def header_of(path):
    """Return the header of a model file and the bytes after it."""
    data = path.read_bytes()
    length = PREFIX.unpack_from(data)[2]
    return json.loads(data[PREFIX.size : PREFIX.size + length]), data[PREFIX.size + length :]


def forge(path, header, blobs, version=1):
    """Write a file with any header and valid checksums."""
    encoded = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(
        PREFIX.pack(MAGIC, version, len(encoded), zlib.crc32(encoded)) + encoded + blobs
    )
