#!/usr/bin/env python3
"""A store that is closed ends its scans, and is no store any more."""

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
        assert next(begun)[0] == b"row0"
        assert len(list(other.scan())) == 3
        expect_error(ValueError, lambda: other.get(b"row0", "f\0g", b"q"))
        expect_error(ValueError, lambda: Store(directory + "/\0", "f"))
    assert not list(begun)
    expect_error(ValueError, lambda: next(not_begun))
    expect_error(ValueError, lambda: other.get(b"row0", "f", b"q"))
