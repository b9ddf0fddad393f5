"""Model files taken apart, and put together with right checksums and wrong contents."""

import json
import zlib

from cwboost.model_file.container import MAGIC, PREFIX


def header_of(path):
    """The header of a model file, and the bytes behind it."""
    data = path.read_bytes()
    length = PREFIX.unpack_from(data)[2]
    return json.loads(data[PREFIX.size : PREFIX.size + length]), data[PREFIX.size + length :]


def forge(path, header, blobs, version=1):
    """A file whose checksums are right and whose header says what we like."""
    encoded = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(
        PREFIX.pack(MAGIC, version, len(encoded), zlib.crc32(encoded)) + encoded + blobs
    )
