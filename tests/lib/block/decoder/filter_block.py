"""A reader of filter blocks, written from lib/block/FORMAT.md alone: it shares
nothing with the library but that page.

    block = FilterBlock(contents)
    block.may_match(b"user_1001:mail")
"""

from xxh3 import xxh3

MASK = (1 << 64) - 1

HEAD = b"ROWBLOOM"
TAIL = bytes.fromhex("9c5257424c")
TRAILER_BYTES = 14
ENTRY_BYTES = 24
ROW, ROWCOL, ROWPREFIX = 1, 2, 3
BLOOM, RIBBON = 1, 2
WHOLE_KEYS_TAG = 3


class Damaged(Exception):
    """Bytes that are not as FORMAT.md says."""


def expect(condition, problem):
    if not condition:
        raise Damaged(problem)


def number(data, at, size):
    expect(at + size <= len(data), "a number beyond the end")
    return int.from_bytes(data[at:at + size], "little")


# Each function splits keys of one layout: it returns the number of row bytes, or
# None for a key outside the layout.


def escaped(key):
    at = 0
    while True:
        at = key.find(0, at)
        if at < 0 or at + 1 == len(key):
            return None
        if key[at + 1] == 0x01:
            return at + 2
        if key[at + 1] != 0xFF:
            return None
        at += 2


def length_prefixed(key):
    if len(key) < 2:
        return None
    row_bytes = 2 + int.from_bytes(key[:2], "big")
    return row_bytes if row_bytes <= len(key) else None


def fixed(row_bytes):
    return lambda key: row_bytes if row_bytes <= len(key) else None


def delimited(delimiter):
    return lambda key: key.find(delimiter) + 1 or None


def splitter_of(layout_id, custom):
    """The function of a layout id; `custom` has those of custom layouts."""
    kind, _, parameter = layout_id.partition(":")
    if layout_id == "escaped":
        return escaped
    if layout_id == "u16":
        return length_prefixed
    if kind == "fixed":
        return fixed(int(parameter))
    if kind == "delimited":
        if len(parameter) == 4 and parameter.startswith("0x"):
            return delimited(int(parameter[2:], 16))
        return delimited(ord(parameter))
    if kind == "custom" and parameter in custom:
        return custom[parameter]
    raise Damaged("unknown layout " + layout_id)


class Bloom:

    def __init__(self, payload, probes, keys):
        expect(len(payload) % 64 == 0, "a part of a block of 64 bytes")
        expect((keys == 0) == (not payload), "keys without blocks")
        expect(1 <= probes <= 16, "number of probes")
        self.payload = payload
        self.probes = probes

    def may_contain(self, h):
        if not self.payload:
            return False
        block = h * (len(self.payload) // 64) >> 64
        word = h & 0xFFFFFFFF
        for _ in range(self.probes):
            position = word >> 23
            byte = self.payload[64 * block + position // 8]
            if not byte >> position % 8 & 1:
                return False
            word = word * 0x9E3779B9 & 0xFFFFFFFF
        return True


def mix(x, salt):
    x = x + salt * 0x9E3779B97F4A7C15 & MASK
    for _ in range(2):
        x = (x ^ x >> 32) * 0x0E9846AF9B1A615D & MASK
    return x ^ x >> 28


class Layer:
    """A system of equations of a ribbon section."""

    BUCKET = 128
    THRESHOLDS = (0, 21, 51, 128)

    def __init__(self, columns, blocks, first_wide):
        expect(blocks >= 1, "a layer without blocks")
        expect(first_wide <= blocks, "wide blocks beyond the last")
        self.columns = columns
        self.blocks = blocks
        self.first_wide = first_wide
        words = blocks * columns + (blocks - first_wide)
        self.solution_bytes = 8 * words
        buckets = (blocks + 1) // 2
        self.limit_bytes = (buckets + 3) // 4
        self.solution = b""
        self.limits = None  # of the last layer

    def columns_of(self, block):
        return self.columns + (block >= self.first_wide)

    def word(self, block, column):
        """The unknowns of the slots of a block in a column."""
        at = self.columns * block + max(0, block - self.first_wide) + column
        return number(self.solution, 8 * at, 8)

    def slot(self, h):
        return h * (64 * self.blocks - 63) >> 64

    def bumps(self, slot):
        """Whether keys that start in this slot are in a later layer."""
        bucket, place = divmod(slot, self.BUCKET)
        limit = self.limits[bucket // 4] >> 2 * (bucket % 4) & 3
        return place < self.THRESHOLDS[limit]

    def holds(self, h, slot):
        p = h * 0x9E3779B97F4A7C15 & MASK
        coefficients = p ^ p >> 32 | 1
        fingerprint = ((h ^ h >> 29) * 0xD6E8FEB86659FD93 & MASK) >> 40
        block, place = divmod(slot, 64)
        for column in range(self.columns_of(block)):
            unknowns = self.word(block, column) >> place
            if place > 0:
                unknowns |= self.word(block + 1, column) << 64 - place
            parity = bin(unknowns & coefficients).count("1") & 1
            if parity != fingerprint >> column & 1:
                return False
        return True


class Ribbon:

    def __init__(self, payload):
        columns = number(payload, 0, 1)
        layers = number(payload, 1, 1)
        self.seed = number(payload, 2, 1)
        expect(1 <= columns <= 23, "columns of a ribbon")
        expect(1 <= layers <= 6, "layers of a ribbon")
        self.layers = [
            Layer(columns, number(payload, 4 + 8 * i, 4),
                  number(payload, 8 + 8 * i, 4)) for i in range(layers)
        ]
        at = 4 + 8 * layers
        for i, layer in enumerate(self.layers):
            layer.solution = payload[at:at + layer.solution_bytes]
            at += layer.solution_bytes
            if i + 1 < layers:
                layer.limits = payload[at:at + layer.limit_bytes]
                at += layer.limit_bytes
        expect(at == len(payload), "size of a ribbon")

    def may_contain(self, h):
        for layer in self.layers[:-1]:
            slot = layer.slot(h)
            if not layer.bumps(slot):
                return layer.holds(h, slot)
            h = mix(h, 256)
        last = self.layers[-1]
        if self.seed:
            h = mix(h, self.seed)
        return last.holds(h, last.slot(h))


class Section:

    def __init__(self, block, entry, end):
        self.type = entry[0]
        self.kind = entry[1]
        self.scope = number(entry, 4, 4)
        offset = number(entry, 8, 4)
        size = number(entry, 12, 4)
        self.keys = number(entry, 16, 4)
        expect(8 <= offset and offset + size <= end, "a payload outside")
        payload = block[offset:offset + size]
        expect(
            xxh3(payload) & 0xFFFFFFFF == number(entry, 20, 4),
            "checksum of a payload")
        if self.kind == BLOOM:
            self.filter = Bloom(payload, entry[2], self.keys)
        elif self.kind == RIBBON:
            expect(entry[2] == 0, "probes of a ribbon")
            self.filter = Ribbon(payload)
        else:
            raise Damaged("unknown kind of section")

    def may_contain(self, h):
        return self.filter.may_contain(h)


class FilterBlock:

    def __init__(self, block, custom=()):
        expect(block.startswith(HEAD), "head")
        expect(block.endswith(TAIL), "tail")
        trailer = len(block) - len(TAIL) - TRAILER_BYTES
        expect(number(block, trailer + 13, 1) == 1, "version")
        layout_bytes = number(block, trailer + 8, 2)
        attribute_bytes = number(block, trailer + 10, 2)
        entries = number(block, trailer + 12, 1)
        directory = (trailer - ENTRY_BYTES * entries - attribute_bytes -
                     layout_bytes)
        expect(directory >= len(HEAD), "start of the directory")
        expect(
            xxh3(block[directory:trailer], xxh3(block[trailer + 8:])) ==
            number(block, trailer, 8), "checksum of the directory")
        self.layout_id = block[trailer - layout_bytes:trailer].decode("ascii")
        self.row_bytes = splitter_of(self.layout_id, custom)
        attributes = directory + ENTRY_BYTES * entries
        self.attributes = self.read_attributes(
            block[attributes:attributes + attribute_bytes])
        self.whole_keys = self.attributes.get(WHOLE_KEYS_TAG, b"\0")[0]
        self.sections = {}
        for i in range(entries):
            at = directory + ENTRY_BYTES * i
            section = Section(block, block[at:at + ENTRY_BYTES], directory)
            expect(section.type not in self.sections, "a section type twice")
            self.sections[section.type] = section

    @staticmethod
    def read_attributes(data):
        attributes = {}
        at = 0
        while at + 2 <= len(data) and at + 2 + data[at + 1] <= len(data):
            attributes[data[at]] = data[at + 2:at + 2 + data[at + 1]]
            at += 2 + data[at + 1]
        return attributes

    def row_answer(self, row):
        """Of ROW or ROWPREFIX; None without either."""
        if ROW in self.sections:
            return self.sections[ROW].may_contain(xxh3(row))
        if ROWPREFIX in self.sections:
            section = self.sections[ROWPREFIX]
            length_bytes = 2 if self.layout_id == "u16" else 0
            prefix = row[:length_bytes + section.scope]
            return section.may_contain(xxh3(prefix))
        return None

    def cell_answer(self, row, qualifier):
        """Of ROWCOL; None without."""
        if ROWCOL not in self.sections:
            return None
        return self.sections[ROWCOL].may_contain(xxh3(qualifier, xxh3(row)))

    def answers(self, key):
        """(row_answer, cell_answer) of a key of the layout; None for another.
        A bare row has no cell."""
        row_bytes = self.row_bytes(key)
        if row_bytes is None:
            return None
        row, qualifier = key[:row_bytes], key[row_bytes:]
        return (self.row_answer(row),
                self.cell_answer(row, qualifier) if qualifier else None)

    def may_match(self, key):
        answers = self.answers(key)
        if answers is not None:
            return False not in answers
        if self.whole_keys not in self.sections:
            return True
        if self.whole_keys == ROWCOL:
            if not key:
                return True
            h = xxh3(key, xxh3(b""))
        else:
            h = xxh3(key)
        return self.sections[self.whole_keys].may_contain(h)
