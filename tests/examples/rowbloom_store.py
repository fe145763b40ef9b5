"""rowbloom_store.py: the store of rowbloom/c.h, with the standard library alone."""

import ctypes
import json
from ctypes import POINTER, byref, c_char_p, c_size_t, c_uint64, c_void_p

LIBRARY = ctypes.CDLL("librowbloom.so.0")
# Any bytes, and how many. c_void_p would take a str as well, as wide characters.
BYTES = (c_char_p, c_size_t)


class ReadOptions(ctypes.Structure):
    """rowbloom_read_options_t; members that are not given are 0."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("columns", c_void_p), ("column_count", c_size_t),
        ("start_row", c_char_p), ("start_row_size", c_size_t),
        ("stop_row", c_char_p), ("stop_row_size", c_size_t),
        ("row_prefix", c_char_p), ("row_prefix_size", c_size_t),
        ("limit", c_uint64), ("begin_ms", c_uint64), ("end_ms", c_uint64),
        ("max_versions", ctypes.c_uint32), ("reverse", ctypes.c_bool),
    ]


class Cell(ctypes.Structure):
    """rowbloom_cell_t"""

    _fields_ = [
        ("family", c_char_p),
        ("qualifier", c_void_p), ("qualifier_size", c_size_t),
        ("value", c_void_p), ("value_size", c_size_t),
        ("timestamp_ms", c_uint64),
    ]


class Row(ctypes.Structure):
    """rowbloom_row_t"""

    _fields_ = [("row", c_void_p), ("row_size", c_size_t),
                ("cells", POINTER(Cell)), ("cell_count", c_size_t)]


def function(name, result, *arguments):
    """A function of rowbloom/c.h, which raises its error."""
    raw = getattr(LIBRARY, "rowbloom_" + name)
    raw.restype, raw.argtypes = result, (*arguments, POINTER(c_void_p))

    def call(*values):
        error = c_void_p()
        answer = raw(*values, byref(error))
        if error:
            raise RuntimeError(taken(error.value).decode())
        return answer

    return call


def taken(memory, size=None):
    """The bytes of what the library returned, which are released."""
    data = ctypes.string_at(memory) if size is None else ctypes.string_at(
        memory, size)
    free(memory)
    return data


free = LIBRARY.rowbloom_free
free.restype, free.argtypes = None, (c_void_p,)
close = LIBRARY.rowbloom_store_close
close.restype, close.argtypes = None, (c_void_p,)
rows_destroy = LIBRARY.rowbloom_rows_destroy
rows_destroy.restype, rows_destroy.argtypes = None, (c_void_p,)
store_open = function("store_open", c_void_p, c_char_p, POINTER(c_char_p),
                      c_size_t, c_void_p)
store_put = function("store_put", ctypes.c_bool, c_void_p, *BYTES, c_char_p,
                     *BYTES, *BYTES)
store_get = function("store_get", c_void_p, c_void_p, *BYTES, c_char_p,
                     *BYTES, POINTER(c_size_t))
store_scan = function("store_scan", c_void_p, c_void_p, POINTER(ReadOptions))
store_flush = function("store_flush", ctypes.c_bool, c_void_p)
store_stats = function("store_stats", c_void_p, c_void_p)
rows_next = function("rows_next", ctypes.c_bool, c_void_p, POINTER(Row))


def text(string):
    """A string as C has them."""
    if "\0" in string:
        raise ValueError(f"{string!r} has a character 0")
    return string.encode()


class Store:
    """Rows, qualifiers and values are bytes. Use it with `with`, and by one
    thread at a time."""

    def __init__(self, path, *families):
        texts = (c_char_p * len(families))(*map(text, families))
        self._handle = store_open(text(path), texts, len(families), None)
        self.scans = set()  # those that have not come to their end

    @property
    def handle(self):
        if self._handle is None:
            raise ValueError("the store is closed")
        return self._handle

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Ends its scans, and closes it."""
        while self.scans:
            rows_destroy(self.scans.pop())
        close(self._handle)
        self._handle = None

    def put(self, row, family, qualifier, value):
        store_put(self.handle, row, len(row), text(family), qualifier,
                  len(qualifier), value, len(value))

    def get(self, row, family, qualifier):
        """The newest value of a cell, or None."""
        size = c_size_t()
        value = store_get(self.handle, row, len(row), text(family), qualifier,
                          len(qualifier), byref(size))
        return None if value is None else taken(value, size.value)

    def scan(self, prefix=b"", limit=0):
        """Yields each row, as of now, with its cells: (family, qualifier, value)."""
        rows = self._rows(prefix, limit)
        next(rows)  # a generator does nothing before that
        return rows

    def _rows(self, prefix, limit):
        options = ReadOptions(struct_size=ctypes.sizeof(ReadOptions),
                              row_prefix=prefix, row_prefix_size=len(prefix),
                              limit=limit)
        rows = store_scan(self.handle, byref(options))
        self.scans.add(rows)
        try:
            yield None  # the scan has begun
            row = Row()
            while self.has_row(rows, row):
                yield (ctypes.string_at(row.row, row.row_size), [
                    (cell.family.decode(),
                     ctypes.string_at(cell.qualifier, cell.qualifier_size),
                     ctypes.string_at(cell.value, cell.value_size))
                    for cell in row.cells[:row.cell_count]])
        finally:
            if rows in self.scans:
                self.scans.remove(rows)
                rows_destroy(rows)

    def has_row(self, rows, row):
        """Moves a scan to its next row. ValueError: the store was closed."""
        if rows not in self.scans:
            raise ValueError("the store was closed before the scan's end")
        return rows_next(rows, byref(row))

    def flush(self):
        store_flush(self.handle)

    def stats(self):
        return json.loads(taken(store_stats(self.handle)))
