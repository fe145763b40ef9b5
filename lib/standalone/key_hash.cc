#include "lib/standalone/key_hash.h"

#include "lib/block/hash.h"

namespace rowbloom {

Hash128 HashKey(const std::optional<FilterSecret>& secret,
                std::string_view key) {
  if (secret) return SipHash(*secret, key);
  const XXH128_hash_t hash = XXH3_128bits(key.data(), key.size());
  return {hash.low64, hash.high64};
}

}  // namespace rowbloom
