// Sums over the blocks of a file, and over those of its filter.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tools/sst_inspect/model.h"
#include "tools/sst_inspect/output.h"

namespace rowbloom::sst_inspect {

// The totals of the blocks of one type.
struct TypeTotals {
  uint64_t blocks = 0;
  uint64_t stored_bytes = 0;
  uint64_t contents_bytes = 0;  // stored bytes, if that is not known
  uint64_t damaged = 0;

  void Add(const BlockInfo& block) {
    ++blocks;
    stored_bytes += block.stored_bytes;
    contents_bytes += block.contents_bytes.value_or(block.stored_bytes);
    damaged += block.status.ok() ? 0 : 1;
  }
  TypeTotals& operator+=(const TypeTotals& more) {
    blocks += more.blocks;
    stored_bytes += more.stored_bytes;
    contents_bytes += more.contents_bytes;
    damaged += more.damaged;
    return *this;
  }

  // Returns a row of kTotalsColumns, for a file of `file_bytes`.
  Record RecordOf(std::string_view type, uint64_t file_bytes) const;
};

inline constexpr std::string_view kTotalsColumns =
    "type blocks stored_bytes of_the_file contents_bytes ratio damaged";

using TotalsByType = std::map<BlockType, TypeTotals>;

// The smallest and greatest of some values.
template <typename T>
struct Range {
  T low{};
  T high{};
  bool empty = true;

  void Add(T value) {
    low = empty ? value : std::min(low, value);
    high = empty ? value : std::max(high, value);
    empty = false;
  }
};

// The sections of one type and kind, over the blocks of a file.
struct SectionTotals {
  bool keys_known = true;
  bool keys_estimated = false;
  uint64_t keys = 0;
  uint64_t size_bytes = 0;
  Range<int> probes;
  Range<double> fill;
  // Absent keys probe a partition about as often as present keys do. So the
  // rate of the file is the mean of the partitions' rates, weighted by keys, or
  // by bytes if the keys are not known.
  double rate_times_weight = 0;
  double weight = 0;
  bool rated = false;  // at least one of the sections has a rate

  void Add(const SectionFacts& section);
  std::optional<double> BitsPerKey() const;
  std::optional<double> Rate() const;
};

// The name and the kind of a section.
using SectionId = std::pair<std::string, std::string>;
using TotalsBySection = std::map<SectionId, SectionTotals>;

// Takes the number of keys from the properties of the file, as RocksDB's own
// filters do not have it. Does nothing if there are several sections. REQUIRES
// that all filter blocks are RocksDB's and were read.
void UseEntriesOfProperties(const TableFacts& facts, TotalsBySection* totals);

// Adds the totals as members; kSectionColumns has most of them.
void AddSectionTo(Record* record, const SectionId& what,
                  const SectionTotals& totals);
inline constexpr std::string_view kSectionColumns =
    "section kind probes keys bytes bits_per_key=bits/key fill_low=fill "
    "expected_rate=expected_FPR";

}  // namespace rowbloom::sst_inspect
