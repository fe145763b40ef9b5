// The filter block: what rowbloom stores beside the data blocks of an SST.
//
// FilterBlock is a read-only view of such bytes, for inspection and for lookups
// without RocksDB. lib/block/FORMAT.md has the format. A block holds sections,
// one for each part of a key that can be looked up (see BloomType), and names
// the key layout that it was built with.
//
//   const FilterBlock block = FilterBlock::Open(bytes);
//   if (!block.MayMatch(key).may_match()) { /* the file cannot hold key */ }
//
// There are no false negatives: whatever cannot be trusted (a damaged section,
// an unknown version, kind or layout) answers "may match".
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "rowbloom/bloom_type.h"
#include "rowbloom/key_layout.h"

namespace rowbloom {

// The part of a key that the entries of a section are. The values are on disk:
// never renumber.
enum class SectionType : uint8_t {
  kRow = 1,        // the row bytes
  kRowCol = 2,     // row bytes and qualifier
  kRowPrefix = 3,  // the first row_prefix_length bytes of the row
};

// "ROW", "ROWCOL", "ROWPREFIX".
std::string_view ToString(SectionType type);

// The verdict of one section on one key.
enum class Verdict : uint8_t {
  kNotProbed,  // no such section, no entry of this kind, or ruled out before
  kMayMatch,
  kNoMatch,
  kUnusable,  // the section cannot be trusted; counts as "may match"
};

// The answer for one key: the verdict of each section, in one byte.
class MatchResult {
 public:
  static constexpr size_t kVerdicts = 4;
  static constexpr size_t kCodes = kVerdicts * kVerdicts;

  constexpr MatchResult() = default;
  constexpr explicit MatchResult(Verdict row,
                                 Verdict row_col = Verdict::kNotProbed)
      : code_(static_cast<uint8_t>(static_cast<size_t>(row) +
                                   kVerdicts * static_cast<size_t>(row_col))) {}

  // The result of a code() below kCodes.
  static constexpr MatchResult FromCode(size_t code) {
    return MatchResult(static_cast<Verdict>(code % kVerdicts),
                       static_cast<Verdict>(code / kVerdicts));
  }
  constexpr size_t code() const { return code_; }

  // The verdict of the ROW or ROWPREFIX section.
  constexpr Verdict row() const {
    return static_cast<Verdict>(code_ % kVerdicts);
  }
  // The verdict of the ROWCOL section.
  constexpr Verdict row_col() const {
    return static_cast<Verdict>(code_ / kVerdicts);
  }
  // False: the file cannot hold the key.
  constexpr bool may_match() const {
    return row() != Verdict::kNoMatch && row_col() != Verdict::kNoMatch;
  }

  bool operator==(const MatchResult&) const = default;

 private:
  uint8_t code_ = 0;
};

// The place for which a file was made; statistics are kept by it. A file that
// moves to another level or database keeps its origin.
struct FileOrigin {
  std::string column_family;  // empty: not known; at most 255 bytes are kept
  int level = -1;             // -1: not known; up to 255 are kept

  bool operator==(const FileOrigin&) const = default;
};

// One section of a block.
struct FilterSection {
  SectionType type{};
  FilterKind kind{};
  uint8_t probes = 0;         // kBloom only
  uint64_t offset_bytes = 0;  // within the block
  uint64_t size_bytes = 0;
  uint64_t keys = 0;               // distinct entries
  uint32_t row_prefix_length = 0;  // kRowPrefix only, else 0
  // Empty when the section can be trusted, else why not, as one sentence.
  std::string problem;
  double ribbon_rate = 0;  // kRibbon only: the rate its columns give

  bool usable() const { return problem.empty(); }
};

struct ParsedBlock;

// A view of one filter block. Does not own the bytes, which must outlive it and
// not change; they need no alignment. Immutable after Open and cheap to copy:
// safe to share between threads. Functions throw what a custom layout throws.
class FilterBlock {
 public:
  // Tells whether these bytes are a rowbloom filter block, whole or damaged:
  // they start with its head or end with its tail. RocksDB's own filters do
  // neither.
  static bool IsFilterBlock(std::string_view contents);

  // Checks every length and checksum once. Always returns a view; one that
  // cannot be trusted has a problem() and answers "may match" to everything.
  // May throw std::bad_alloc.
  static FilterBlock Open(std::string_view contents);
  // A temporary would be gone before the view.
  template <typename Bytes>
  requires std::same_as<std::remove_const_t<Bytes>, std::string>
  static FilterBlock Open(Bytes&& contents) = delete;

  // Empty, or why nothing in this block can be used: what was expected, what
  // was found, at which offset.
  const std::string& problem() const;
  bool usable() const { return problem().empty(); }

  // The contents, as far as they could be read.
  const std::vector<FilterSection>& sections() const;
  const std::string& layout_id() const;
  const FileOrigin& origin() const;
  // The bytes of a row that the ROWPREFIX section has; 0 without one.
  uint32_t row_prefix_length() const;
  // The section that has the keys outside the layout whole. nullopt: none has,
  // as in blocks without attribute 3 of FORMAT.md, and such keys may match.
  std::optional<SectionType> whole_keys() const;
  uint8_t format_version() const;
  size_t size_bytes() const { return contents_.size(); }

  // Looks up a key as RocksDB hands it over: a whole key or a bare row, which
  // the layout tells apart. ROWCOL is probed only when the row passed.
  MatchResult MayMatch(std::string_view key) const;

  // Looks up any number of keys; results.size() >= keys.size(). Cache misses of
  // 32 keys overlap, and adjacent keys of one row probe ROW once.
  void MayMatch(std::span<const std::string_view> keys,
                std::span<MatchResult> results) const;

  // Looks up the row: `row_bytes` as in the key, end mark included. Bytes that
  // are not one row of the layout may match.
  bool MayMatchRow(std::string_view row_bytes) const;

  // Looks up the cell: both sections must pass. row_bytes + qualifier is the
  // key. May throw std::bad_alloc.
  bool MayMatchRowCol(std::string_view row_bytes,
                      std::string_view qualifier) const;

  // The verdict of one section alone, for inspection; kNotProbed for bytes that
  // are not one row of the layout. Blocks with a ROW and a ROWPREFIX section,
  // which rowbloom does not write, are probed in ROW. May throw std::bad_alloc.
  Verdict ProbeSection(SectionType type, std::string_view row_bytes,
                       std::string_view qualifier) const;

  // The share of the section's bits that are set, in [0, 1]; 0 for a section
  // that is unusable, empty or not within this block.
  double FillRatio(const FilterSection& section) const;

  // The bits of the section for each of its entries; 0 without entries.
  static double BitsPerKey(const FilterSection& section);

  // The rate that is predicted for the section.
  static double ExpectedFalsePositiveRate(const FilterSection& section);

 private:
  FilterBlock(std::string_view contents,
              std::shared_ptr<const ParsedBlock> parsed);

  std::string_view contents_;
  std::shared_ptr<const ParsedBlock> parsed_;  // never null
};

}  // namespace rowbloom
