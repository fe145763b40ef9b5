#!/usr/bin/env python3
"""decoder_test.py FORMAT_MD GOLDEN_DIR WRITE_BLOCKS...: a reader of filter blocks
that shares no code with the library gives the answers of the library, for the
blocks that it writes today, and finds the keys of those that it wrote once."""

import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

from filter_block import (BLOOM, RIBBON, ROW, ROWCOL, ROWPREFIX, Damaged,
                          FilterBlock)
from xxh3 import MASK, xxh3

PRIME32 = 2654435761
PRIME64 = 11400714785074694797

# xxHash's own, of xsum_sanity_check.c in its version 0.8: length, then the hash
# of seed 0 and of seed PRIME64. Each takes another branch.
VECTORS = (
    (0, 0x2D06800538D394C2, 0xA8A6B918B2F0364A),
    (1, 0xC44BDFF4074EECDB, 0x032BE332DD766EF8),
    (6, 0x27B56A84CD2D7325, 0x84589C116AB59AB9),
    (12, 0xA713DAF0DFBB77E7, 0xE7303E1B2336DE0E),
    (24, 0xA3FE70BF9D3510EB, 0x850E80FC35BDD690),
    (48, 0x397DA259ECBA1F11, 0xADC2CBAA44ACC616),
    (80, 0xBCDEFBBB2C47C90A, 0xC6DD0CB699532E73),
    (195, 0xCD94217EE362EC3A, 0xBA68003D370CB3D9),
    (403, 0xCDEB804D65C6DEA4, 0x6259F6ECFD6443FD),
    (512, 0x617E49599013CB6B, 0x3CE457DE14C27708),
    (2048, 0xDD59E2C3A5F038E0, 0x66F81670669ABABC),
    (2240, 0x6E73A90539CF2948, 0x757BA8487D1B5247),
    (2367, 0xCB37AEB9E5D361ED, 0xD2DB3415B942B42A),
)

CUSTOM = {
    "up_to": lambda key: key.find(b"#") + 1 or None,
    "golden": lambda key: 5 if len(key) >= 5 else None,
}


def from_hex(text):
    return b"" if text == "-" else bytes.fromhex(text)


def sanity_buffer(size):
    """What xxHash's vectors are the hashes of."""
    data = bytearray()
    state = PRIME32
    for _ in range(size):
        data.append(state >> 56)
        state = state * PRIME64 & MASK
    return bytes(data)


def documented_example(page):
    """The bytes of the block in FORMAT.md."""
    lines = page.read_text().split("```hex\n")[1].split("```")[0].splitlines()
    return b"".join(
        bytes.fromhex(line.split(";")[0].split(None, 1)[1]) for line in lines)


def differences(block, answers):
    """The lines of `answers` that are not those of `block`."""
    text = {True: "1", False: "0", None: "-"}
    found = []
    for line in answers:
        _, key, present, may_match, row, cell = line.split()
        key = from_hex(key)
        own = (text[block.may_match(key)],
               *(text[answer] for answer in block.answers(key) or (None, None)))
        if own != (may_match, row, cell) or present > own[0]:
            found.append(f"{line}: here {' '.join(own)}")
    return found


class Hash(unittest.TestCase):

    def test_has_the_published_values(self):
        data = sanity_buffer(VECTORS[-1][0])
        for size, plain, seeded in VECTORS:
            self.assertEqual(xxh3(data[:size]), plain, size)
            self.assertEqual(xxh3(data[:size], PRIME64), seeded, size)


class Decoder(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as directory:
            said = subprocess.run([*WRITE_BLOCKS, directory],
                                  check=True,
                                  stdout=subprocess.PIPE,
                                  text=True)
            cls.seed = said.stdout.strip()
            folder = pathlib.Path(directory)
            cls.written = [(path.read_bytes(), path.with_suffix(
                ".answers").read_text().splitlines())
                           for path in sorted(folder.glob("*.block"))]

    def test_answers_as_the_library_does(self):
        sections, layouts, counts = set(), set(), {"0": 0, "1": 0}
        most_layers = 0
        for contents, answers in self.written:
            block = FilterBlock(contents, CUSTOM)
            layouts.add(block.layout_id)
            for section in block.sections.values():
                sections.add((section.type, section.kind))
                if section.kind == RIBBON:
                    most_layers = max(most_layers, len(section.filter.layers))
            for line in answers:
                counts[line.split()[3]] += 1
            self.assertEqual(differences(block, answers), [], self.seed)
        # The comparison covered these sections, layouts and answers.
        self.assertEqual(
            sections, {(section, kind) for section in (ROW, ROWCOL, ROWPREFIX)
                       for kind in (BLOOM, RIBBON)})
        self.assertEqual(len(layouts), 6)
        self.assertGreater(most_layers, 2)
        self.assertGreater(min(counts.values()), 5000)

    def test_notices_a_wrong_answer(self):
        contents, answers = self.written[0]
        words = answers[0].split()
        words[3] = "0" if words[3] == "1" else "1"
        block = FilterBlock(contents, CUSTOM)
        self.assertEqual(len(differences(block, [" ".join(words)])), 1)

    def test_finds_every_flipped_byte(self):
        contents, _ = self.written[1]
        size = len(contents)
        for at in [*range(0, size, 7), *range(size - 80, size)]:
            damaged = bytearray(contents)
            damaged[at] ^= 0x10
            with self.assertRaises(Damaged, msg=at):
                FilterBlock(bytes(damaged), CUSTOM)


class Documents(unittest.TestCase):

    def test_the_example_has_its_keys(self):
        block = FilterBlock(documented_example(FORMAT_MD))
        self.assertEqual(block.layout_id, "delimited::")
        self.assertEqual(block.attributes, {1: b"users", 2: b"\3", 3: b"\2"})
        for key in (b"a:", b"b:", b"a:x", b"a:y", b"b:x"):
            self.assertTrue(block.may_match(key), key)
        for key in (b"c:", b"b:y", b"c:x", b"a"):
            self.assertFalse(block.may_match(key), key)


class Golden(unittest.TestCase):

    def test_blocks_of_earlier_states_have_their_keys(self):
        folders = sorted(GOLDEN_DIR.glob("*/filter_blocks"))
        self.assertTrue(folders)
        for folder in folders:
            blocks, keys = {}, {}
            for line in (folder / "blocks.keys.txt").read_text().splitlines():
                words = line.split()
                if words[0] == "block":
                    blocks[words[1]] = words[2]
                else:
                    keys.setdefault(words[1], []).append(from_hex(words[2]))
            self.assertTrue(blocks, folder)
            with tarfile.open(folder / "blocks.tar.gz") as archive:
                for name, layout in blocks.items():
                    block = FilterBlock(
                        archive.extractfile("blocks/" + name).read(), CUSTOM)
                    self.assertEqual(block.layout_id, layout)
                    empty = name.endswith("-empty")
                    for key in keys[layout]:
                        self.assertEqual(block.may_match(key), not empty, name)


if __name__ == "__main__":
    FORMAT_MD, GOLDEN_DIR = map(pathlib.Path, sys.argv[1:3])
    WRITE_BLOCKS = sys.argv[3:]
    unittest.main(argv=sys.argv[:1])
