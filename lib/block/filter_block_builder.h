// FilterBlockBuilder turns the keys of a file into one filter block. FORMAT.md
// has the format.
//
//   FilterBlockBuilder builder({.key_layout = layout});
//   builder.AddKey(key);                    // for each key, in key order
//   const std::string bytes = builder.Finish();
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/block/hash.h"
#include "lib/block/hash_list.h"
#include "lib/block/memory_fit.h"
#include "lib/layout/row_rule.h"
#include "lib/plan/section_split.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/filter_block.h"
#include "rowbloom/key_layout.h"

namespace rowbloom {

// The settings of one block.
struct FilterBlockOptions {
  // REQUIRES a type other than kNone, which has no block.
  BloomType bloom_type = BloomType::kRowCol;
  KeyLayout key_layout = KeyLayout::Escaped();
  FilterKind kind = FilterKind::kBloom;
  // Bits for each distinct entry of each section, clamped to [kMinBitsPerKey,
  // kMaxBitsPerKey]. REQUIRES a number. kRibbon takes fewer: as many as it
  // needs for the rate of kBloom with this many.
  double bits_per_key = 10.0;
  // Slots for each key of a kRibbon section, clamped to [0.9, 2]. REQUIRES a
  // number. Below 1, keys that find no slot go to smaller systems.
  double ribbon_slots_per_key = kRibbonSlotsPerKey;
  // If set, these bits are split over ROW and ROWCOL by AdaptiveSplit of
  // section_split.h; nullopt: by the equal split. REQUIRES IsRowSpread. Both
  // give the same size of the block, or, with kRibbon, about the same.
  std::optional<double> row_spread;
  // Bytes of the row that kRowPrefixFixedLength indexes; shorter rows are
  // indexed whole. REQUIRES > 0 with that type, and 0 with others.
  uint32_t row_prefix_length = 0;
  FileOrigin origin;
  // Changes the size of the block to fit the allocator; null: never.
  std::shared_ptr<MemoryFit> memory_fit;
  // Keeps the hashes of a finished block until FilterBlockBuilder::Verify.
  bool verify = false;
};

// Legal calls: (AddKey* Finish)*. Finish leaves the builder empty, ready for
// the next partition. Not thread-safe. Calls may throw std::bad_alloc, and the
// exceptions of a custom layout. A key may be missing then, and the block must
// not be used; Reset makes the builder as new.
class FilterBlockBuilder {
 public:
  explicit FilterBlockBuilder(const FilterBlockOptions& options);
  FilterBlockBuilder(const FilterBlockBuilder&) = delete;
  FilterBlockBuilder& operator=(const FilterBlockBuilder&) = delete;

  // Adds a whole key, or a bare row. Repeated rows are recognised only if they
  // are adjacent: with keys out of order the block is larger, but still
  // correct. A key outside the layout is an entry as a whole: in ROWCOL, or, if
  // the block has none, in ROW or ROWPREFIX.
  void AddKey(std::string_view key);

  // Adds most keys as AddKey does, but in a few instructions and without a
  // call: a flush or compaction tries it for each key. False: nothing was
  // added, and the key needs AddKey.
  [[gnu::always_inline]] bool TryAddKey(std::string_view key) {
    if (!hashes_.rows.HasRoom()) return false;
    const size_t row_bytes =
        RowBytesOf(plain_kind_, plain_parameter_, key.data(), key.size());
    if (row_bytes > kInlineHashBytes) return false;
    const size_t column_bytes = has_cells_ ? key.size() - row_bytes : 0;
    if (column_bytes > 0 &&
        (column_bytes > kInlineHashBytes || !hashes_.cells.HasRoom())) {
      return false;
    }
    const uint64_t row_hash = HashRow({key.data(), row_bytes});
    hashes_.rows.AddToRoom(row_hash);
    if (column_bytes > 0) {
      hashes_.cells.AddToRoom(
          HashRowCol(row_hash, {key.data() + row_bytes, column_bytes}));
    }
    return true;
  }

  // Adds the prefix that a prefix extractor returned for the last key, as a key
  // of its own. Equal prefixes of adjacent keys count once.
  void AddPrefix(std::string_view prefix);

  // Distinct entries over all sections; 0 if and only if nothing was added.
  size_t EstimateEntries() const {
    return hashes_.rows.size() + hashes_.cells.size();
  }

  // The finished block, some 50 bytes at least.
  std::string Finish();

  // Checks `block`, which the last Finish made: the hashes are still those of
  // the keys added, the block is whole, and every hash is found in it. Returns
  // "", or the problem as one sentence. This detects memory corruption since
  // AddKey. Frees the hashes, so call it once per Finish. REQUIRES
  // FilterBlockOptions::verify.
  std::string Verify(std::string_view block);

  // The sections of the block that Finish made last; its next call changes
  // them.
  const std::vector<FilterSection>& finished_sections() const {
    return finished_sections_;
  }

  // Forgets all keys.
  void Reset();

  // Bytes allocated for hashes.
  size_t MemoryBytes() const {
    return hashes_.MemoryBytes() + finished_.MemoryBytes();
  }

  // About how many entries fit a block of `block_bytes` bytes; at least 1.
  size_t EntriesThatFit(size_t block_bytes) const noexcept;

  // About the bytes of a block of `entries` entries.
  size_t SpaceFor(size_t entries) const noexcept;

  // About the false positive rate of `entries` entries in a block of
  // `block_bytes` bytes.
  double RateOf(size_t entries, size_t block_bytes) const noexcept;

 private:
  struct Hashes {
    HashList rows;   // for ROW, or for ROWPREFIX
    HashList cells;  // for ROWCOL

    size_t MemoryBytes() const {
      return rows.MemoryBytes() + cells.MemoryBytes();
    }
  };
  struct Section {
    SectionType type;
    const HashList* hashes;
  };

  std::vector<Section> SectionsOf(const Hashes& hashes) const;
  std::vector<SectionSize> SizesOf(const std::vector<Section>& sections) const;
  void FitMemory(std::span<SectionSize> sizes) const;
  size_t BlockBytes(std::span<const SectionSize> sizes) const;
  double BitsPerEntry() const;
  bool AppendRibbonOf(const Section& section, const SectionSize& size,
                      std::string* block) const;
  FilterSection AppendSection(const Section& section, const SectionSize& size,
                              std::string* block) const;

  FilterBlockOptions options_;
  BloomSetting setting_;  // kBloom with this many bits per key
  std::string layout_id_;
  std::string origin_;  // its attributes, encoded
  const bool has_cells_;
  // The layout, if TryAddKey can add its keys; else kCustom.
  const KeyLayout::Kind plain_kind_;
  const uint32_t plain_parameter_;
  Hashes hashes_;
  Hashes finished_;                         // for Verify
  std::optional<std::string> last_prefix_;  // AddPrefix's
  std::vector<FilterSection> finished_sections_;
};

}  // namespace rowbloom
