// SipHash-2-4 with 128 bits of output: the hash of filters with a secret.
#pragma once

#include <string_view>

#include "lib/standalone/key_hash.h"
#include "rowbloom/filter_secret.h"

namespace rowbloom {

// low holds bytes 0 to 7 of the published output, high bytes 8 to 15, each
// little-endian.
Hash128 SipHash(const FilterSecret& secret, std::string_view bytes);

}  // namespace rowbloom
