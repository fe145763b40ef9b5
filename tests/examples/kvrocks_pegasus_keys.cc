// Keys as Kvrocks and Pegasus write them into RocksDB. Those of Pegasus have a
// layout of rowbloom's; those of Kvrocks take a function.
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>

#include "tests/examples/layout_comparison.h"

using rocksdb::Status;
using rowbloom::KeyLayout;

namespace {

constexpr int kFiles = 8;

std::string BigEndian(uint64_t number, int bytes) {
  std::string text;
  while (bytes-- > 0) text += static_cast<char>(number >> (8 * bytes));
  return text;
}

// Kvrocks, column family of subkeys, without cluster mode: a byte with the
// length of the namespace, the namespace, four bytes with the length of the
// user's key, that key, a version of eight bytes, and the field or member. With
// cluster mode, two bytes with the slot follow the namespace.
std::string Subkey(const std::string& user_key, uint64_t version,
                   const std::string& field) {
  const std::string space = "__namespace";
  return BigEndian(space.size(), 1) + space + BigEndian(user_key.size(), 4) +
         user_key + BigEndian(version, 8) + field;
}

// The bytes up to and with the version: what all fields of a hash share, and no
// field of an earlier hash of this name. The lengths in front tell where it
// ends, whatever follows.
std::optional<size_t> RowOfSubkey(std::string_view key) {
  const auto byte = [&key](size_t at) {
    return uint64_t{static_cast<unsigned char>(key[at])};
  };
  if (key.empty()) return std::nullopt;
  const size_t at = 1 + byte(0);
  if (key.size() < at + 4) return std::nullopt;
  const uint64_t user_key =
      byte(at) << 24 | byte(at + 1) << 16 | byte(at + 2) << 8 | byte(at + 3);
  const uint64_t row = at + 4 + user_key + 8;
  if (key.size() < row) return std::nullopt;
  return row;
}

// Hashes of ten fields. Five of them were written with the hash and five later,
// into another file. Each fourth hash was deleted and made again: the fields of
// its first version are in a third file until compaction drops them.
Status Kvrocks() {
  constexpr int kHashes = 4'000;
  const auto name = [](int hash) {
    return "cart:" + std::to_string(100'000 + hash);
  };
  Files files(kFiles);
  Reads absent = {"HGET, absent field", {}};
  Reads present = {"HGET, present", {}};
  Reads all = {"HGETALL", {}, true};
  for (int hash = 0; hash < kHashes; ++hash) {
    const int file = hash / 4 % kFiles;
    for (int field = 0; field < 10; ++field) {
      const std::string text = "item" + std::to_string(field);
      files[(file + field / 5 * 3) % kFiles].push_back(
          Subkey(name(hash), 2, text));
      if (hash % 4 == 0) {
        files[(file + 5) % kFiles].push_back(Subkey(name(hash), 1, text));
      }
    }
    // The first and last hashes mark the ends of the files.
    if (hash < 4 * kFiles || hash >= kHashes - 4 * kFiles) continue;
    for (int field = 0; field < 5; ++field) {
      const std::string number = std::to_string(2 * field);
      absent.keys.push_back(Subkey(name(hash), 2, "item" + number + "x"));
      present.keys.push_back(Subkey(name(hash), 2, "item" + number));
    }
    all.keys.push_back(Subkey(name(hash), 2, ""));
  }
  const auto layout = KeyLayout::RegisterCustom("kvrocks.subkey", RowOfSubkey);
  if (!layout) return Status::InvalidArgument(layout.error());
  using Filter = Contender::Filter;
  return CompareLayouts(
      "kvrocks", files,
      {{"no filter"},
       {"stock Bloom, key", Filter::kStockBloom},
       {"stock Bloom, row + key", Filter::kStockBloom, {.key_layout = *layout}},
       {"rowbloom", Filter::kRowbloom, {.key_layout = *layout}},
       {"rowbloom, row_spread 0.25",
        Filter::kRowbloom,
        {.key_layout = *layout, .row_spread = 0.25}}},
      {absent, present, all});
}

// Pegasus: two bytes with the length of the hash key, the hash key, and the
// sort key.
std::string PegasusKey(const std::string& hash_key,
                       const std::string& sort_key) {
  return BigEndian(hash_key.size(), 2) + hash_key + sort_key;
}

// Hash keys with even numbers and five sort keys each, in one of the files.
Status Pegasus() {
  constexpr int kHashKeys = 8'000;
  const auto user = [](int number) {
    return "user_" + std::to_string(100'000 + number);
  };
  Files files(kFiles);
  Reads absent_hash_key = {"get, absent hash", {}};
  Reads absent_sort_key = {"get, absent sort", {}};
  Reads present = {"get, present", {}};
  Reads all = {"multi_get of a hash", {}, true};
  for (int i = 0; i < kHashKeys; ++i) {
    for (const char* sort_key : {"city", "mail", "name", "phone", "since"}) {
      files[i % kFiles].push_back(PegasusKey(user(2 * i), sort_key));
    }
    if (i < kFiles || i >= kHashKeys - kFiles) continue;
    absent_hash_key.keys.push_back(PegasusKey(user(2 * i + 1), "mail"));
    absent_sort_key.keys.push_back(PegasusKey(user(2 * i), "notes"));
    present.keys.push_back(PegasusKey(user(2 * i), "mail"));
    all.keys.push_back(PegasusKey(user(2 * i), ""));
  }
  using Filter = Contender::Filter;
  const KeyLayout layout = KeyLayout::LengthPrefixed();
  return CompareLayouts(
      "pegasus", files,
      {{"no filter"},
       {"stock Bloom, row + key", Filter::kStockBloom, {.key_layout = layout}},
       {"rowbloom", Filter::kRowbloom, {.key_layout = layout}}},
      {absent_hash_key, absent_sort_key, present, all});
}

}  // namespace

int main() {
  Status s = Kvrocks();
  std::cout << std::endl;
  if (s.ok()) s = Pegasus();
  if (!s.ok()) std::cerr << s.ToString() << "\n";
  return s.ok() ? 0 : 1;
}
