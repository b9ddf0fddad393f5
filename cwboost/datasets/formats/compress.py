"""Decompression of ``.Z`` files, which the Unix program compress writes."""

from __future__ import annotations

__all__ = ["uncompress"]

CLEAR = 256


def uncompress(content: bytes) -> bytes:
    """Decode the Lempel-Ziv-Welch coding of compress.

    Codes are 9 bits wide at first. The width grows by one bit whenever the table of strings is
    full, up to the width in the header. Codes come in groups of eight; a change of width or a
    CLEAR code ends a group early. Each code after the first adds one string: the string of the
    previous code followed by the first byte of the present one.

    Parameters
    ----------
    content : bytes
        Content of the file.

    Raises
    ------
    ValueError
        If `content` is not a ``.Z`` file, or is damaged.
    """
    if len(content) < 3 or content[:2] != b"\x1f\x9d":
        raise ValueError("not a .Z file of compress")
    max_width, has_clear = content[2] & 31, bool(content[2] & 128)
    if not 10 <= max_width <= 16:
        raise ValueError(f"the largest code width must be 10 to 16 bits, got {max_width}")
    table = _first_table(has_clear)
    out, previous = [], None
    width, position = 9, 24
    group = position
    end = 8 * len(content)
    while True:
        if len(table) >= 1 << width and width < max_width:
            position = group = _group_end(position, group, width)
            width += 1
        if position + width > end:
            return b"".join(out)
        start = position >> 3
        code = int.from_bytes(content[start : start + 4], "little") >> (position & 7)
        code &= (1 << width) - 1
        position += width
        if code == CLEAR and has_clear:
            position = group = _group_end(position, group, width)
            table, previous, width = _first_table(True), None, 9
            continue
        if code < len(table):
            string = table[code]
        elif code == len(table) and previous is not None:
            string = previous + previous[:1]
        else:
            raise ValueError(f"damaged: code {code} occurs before its string is defined")
        if previous is not None and len(table) < 1 << max_width:
            table.append(previous + string[:1])
        out.append(string)
        previous = string


def _first_table(has_clear):
    return [bytes([byte]) for byte in range(256)] + [b""] * has_clear


def _group_end(position, group, width):
    """Return the end of the group of eight codes of `width` bits that contains bit `position`."""
    size = 8 * width
    return group + -(-(position - group) // size) * size
