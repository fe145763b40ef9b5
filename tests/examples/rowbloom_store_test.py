#!/usr/bin/env python3
"""Bytes are bytes; a scan is as of its call; one that its store cut short is an error."""

import ctypes

import tempfile

from rowbloom_store import Store


def expect_error(error, act):
    try:
        act()
    except error:
        return
    raise AssertionError(f"no {error.__name__}")


def fill(store):
    for number in range(3):
        store.put(b"row%d" % number, "f", b"q", b"value")


def leave_in_the_middle(path):
    with Store(path, "f") as store:
        fill(store)
        rows = store.scan()
        next(rows)
        raise ArithmeticError


with tempfile.TemporaryDirectory() as directory:
    expect_error(ArithmeticError,
                 lambda: leave_in_the_middle(directory + "/one"))
    with Store(directory + "/other", "f") as other:
        fill(other)
        begun, not_begun = other.scan(), other.scan()
        other.put(b"a", "f", b"q", b"later")
        assert next(begun)[0] == b"row0"
        assert len(list(other.scan(limit=2))) == 2
        other.put(b"\0r\0", "f", b"\0q", b"\0v\0")
        assert other.get(b"\0r\0", "f", b"\0q") == b"\0v\0"
        assert next(other.scan()) == (b"\0r\0", [("f", b"\0q", b"\0v\0")])
        for row, qualifier, value in (("r", b"q", b"v"), (b"r", "q", b"v"),
                                      (b"r", b"q", "v")):
            expect_error(ctypes.ArgumentError,
                         lambda: other.put(row, "f", qualifier, value))
        expect_error(ctypes.ArgumentError, lambda: other.get("r", "f", b"q"))
        expect_error(TypeError, lambda: other.scan(prefix="r"))
        assert len(list(other.scan())) == 5
        expect_error(ValueError, lambda: other.get(b"row0", "f\0g", b"q"))
        expect_error(ValueError, lambda: Store(directory + "/\0", "f"))
    expect_error(ValueError, lambda: list(begun))
    expect_error(ValueError, lambda: list(not_begun))
    expect_error(ValueError, lambda: other.get(b"row0", "f", b"q"))
