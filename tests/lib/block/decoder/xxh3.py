"""XXH3-64 in plain Python, after the specification of xxHash 0.8 (the section
"XXH3 Algorithm Overview" of doc/xxhash_spec.md in github.com/Cyan4973/xxHash).

xxh3(data, seed) is a number below 2^64.
"""

import struct

MASK = (1 << 64) - 1

PRIME32_1 = 0x9E3779B1
PRIME32_2 = 0x85EBCA77
PRIME32_3 = 0xC2B2AE3D
PRIME64_1 = 0x9E3779B185EBCA87
PRIME64_2 = 0xC2B2AE3D27D4EB4F
PRIME64_3 = 0x165667B19E3779F9
PRIME64_4 = 0x85EBCA77C2B2AE63
PRIME64_5 = 0x27D4EB2F165667C5
PRIME_MX1 = 0x165667919E3779F9
PRIME_MX2 = 0x9FB21C651E98DF25

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")

STRIPE = 64
STRIPES_PER_BLOCK = (len(SECRET) - STRIPE) // 8


def word32(data, at):
    return int.from_bytes(data[at:at + 4], "little")


def word64(data, at):
    return int.from_bytes(data[at:at + 8], "little")


def rotate_left(x, bits):
    return (x << bits | x >> (64 - bits)) & MASK


def swap_bytes(x, size):
    return int.from_bytes(x.to_bytes(size, "little"), "big")


def fold(a, b):
    """Both halves of the product of two words, combined."""
    product = a * b
    return (product & MASK) ^ (product >> 64)


def avalanche(x):
    x ^= x >> 37
    x = x * PRIME_MX1 & MASK
    return x ^ x >> 32


def avalanche_xxh64(x):
    x ^= x >> 33
    x = x * PRIME64_2 & MASK
    x ^= x >> 29
    x = x * PRIME64_3 & MASK
    return x ^ x >> 32


def hash_1_to_3(data, seed):
    size = len(data)
    combined = data[-1] | size << 8 | data[0] << 16 | data[size >> 1] << 24
    secret = word32(SECRET, 0) ^ word32(SECRET, 4)
    return avalanche_xxh64((secret + seed & MASK) ^ combined)


def hash_4_to_8(data, seed):
    seed ^= swap_bytes(seed & 0xFFFFFFFF, 4) << 32
    combined = word32(data, len(data) - 4) | word32(data, 0) << 32
    x = (word64(SECRET, 8) ^ word64(SECRET, 16)) - seed & MASK
    x ^= combined
    x ^= rotate_left(x, 49) ^ rotate_left(x, 24)
    x = x * PRIME_MX2 & MASK
    x ^= (x >> 35) + len(data)
    x = x * PRIME_MX2 & MASK
    return x ^ x >> 28


def hash_9_to_16(data, seed):
    low = (word64(SECRET, 24) ^ word64(SECRET, 32)) + seed & MASK
    low ^= word64(data, 0)
    high = (word64(SECRET, 40) ^ word64(SECRET, 48)) - seed & MASK
    high ^= word64(data, len(data) - 8)
    mixed = len(data) + swap_bytes(low, 8) + high + fold(low, high)
    return avalanche(mixed & MASK)


def mix_16(data, at, secret_at, seed):
    return fold(
        word64(data, at) ^ (word64(SECRET, secret_at) + seed & MASK),
        word64(data, at + 8) ^ (word64(SECRET, secret_at + 8) - seed & MASK))


def hash_17_to_128(data, seed):
    size = len(data)
    total = size * PRIME64_1
    for i in range((size - 1 >> 5) + 1):
        total += mix_16(data, 16 * i, 32 * i, seed)
        total += mix_16(data, size - 16 * i - 16, 32 * i + 16, seed)
    return avalanche(total & MASK)


def hash_129_to_240(data, seed):
    size = len(data)
    total = size * PRIME64_1
    for i in range(8):
        total += mix_16(data, 16 * i, 16 * i, seed)
    total = avalanche(total & MASK)
    for i in range(8, size >> 4):
        total += mix_16(data, 16 * i, 16 * (i - 8) + 3, seed)
    total += mix_16(data, size - 16, 119, seed)
    return avalanche(total & MASK)


def derived_secret(seed):
    """The secret of a long input with a seed."""
    words = list(struct.unpack("<24Q", SECRET))
    for i in range(0, 24, 2):
        words[i] = words[i] + seed & MASK
        words[i + 1] = words[i + 1] - seed & MASK
    return struct.pack("<24Q", *words)


def accumulate(lanes, stripe, secret):
    """Adds 64 bytes of input to the lanes."""
    for i, (lane, key) in enumerate(
            zip(struct.unpack("<8Q", stripe), struct.unpack("<8Q", secret))):
        value = lane ^ key
        lanes[i ^ 1] += lane
        lanes[i] += (value & 0xFFFFFFFF) * (value >> 32)


def scramble(lanes, secret):
    for i, key in enumerate(struct.unpack("<8Q", secret)):
        lane = lanes[i] & MASK
        lanes[i] = (lane ^ lane >> 47 ^ key) * PRIME32_1 & MASK


def hash_over_240(data, seed):
    secret = derived_secret(seed)
    lanes = [
        PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2,
        PRIME64_5, PRIME32_1
    ]
    # The last stripe ends with the input and may overlap the one before.
    for n in range((len(data) - 1) // STRIPE):
        in_block = n % STRIPES_PER_BLOCK
        accumulate(lanes, data[STRIPE * n:STRIPE * (n + 1)],
                   secret[8 * in_block:8 * in_block + STRIPE])
        if in_block == STRIPES_PER_BLOCK - 1:
            scramble(lanes, secret[-STRIPE:])
    at = len(secret) - 71
    accumulate(lanes, data[-STRIPE:], secret[at:at + STRIPE])
    result = len(data) * PRIME64_1
    for i in range(0, 8, 2):
        result += fold((lanes[i] & MASK) ^ word64(secret, 11 + 8 * i),
                       (lanes[i + 1] & MASK) ^ word64(secret, 19 + 8 * i))
    return avalanche(result & MASK)


def xxh3(data, seed=0):
    size = len(data)
    if size == 0:
        return avalanche_xxh64(seed ^ word64(SECRET, 56) ^ word64(SECRET, 64))
    if size <= 3:
        return hash_1_to_3(data, seed)
    if size <= 8:
        return hash_4_to_8(data, seed)
    if size <= 16:
        return hash_9_to_16(data, seed)
    if size <= 128:
        return hash_17_to_128(data, seed)
    if size <= 240:
        return hash_129_to_240(data, seed)
    return hash_over_240(data, seed)
