// The filter block: what rowbloom stores beside the data blocks of an SST.
//
// FilterBlockBuilder turns the keys of a file into one block of bytes;
// FilterBlock is a read-only view of such bytes. The format is
// lib/block/FORMAT.md. A block holds sections, one for each part of a key that
// can be asked for (see BloomType), and names the key layout it was built with.
//
//   FilterBlockBuilder builder({.bloom_type = BloomType::kRowCol});
//   builder.AddKey(key);                    // for each key, in key order
//   std::string bytes = builder.Finish();
//
//   FilterBlock block = FilterBlock::Open(bytes);
//   if (!block.MayMatch(key).may_match) { /* the file cannot hold key */ }
//
// Never a false negative: whatever cannot be trusted (a damaged section, an
// unknown version, kind or layout) answers "may match".
#pragma once

#include <compare>
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
#include "rowbloom/section_split.h"

namespace rowbloom {

struct BloomKernel;
class KeyEntries;
class MemoryFit;
struct Matcher;
struct RibbonFilter;

// Which part of a key the entries of a section are. The values are on disk:
// never renumber.
enum class SectionType : uint8_t {
  kRow = 1,        // the row bytes
  kRowCol = 2,     // row bytes and qualifier
  kRowPrefix = 3,  // the first row_prefix_length bytes of the row
};

// "ROW", "ROWCOL", "ROWPREFIX".
std::string_view ToString(SectionType type);

// What one section said to one question.
enum class Verdict : uint8_t {
  kNotAsked,  // no such section, or an earlier section had already said no
  kMayMatch,
  kNoMatch,
  kUnusable,  // the section cannot be trusted; counts as "may match"
};

// The answer for one key, and how it came about.
struct MatchResult {
  bool may_match = true;
  Verdict row = Verdict::kNotAsked;      // the ROW or ROWPREFIX section
  Verdict row_col = Verdict::kNotAsked;  // the ROWCOL section
};

// Where a file was made: what its filter's use can be told apart by. A file
// that moves to another level or database keeps its origin.
struct FileOrigin {
  std::string column_family;  // empty: not known; at most 255 bytes are kept
  int level = -1;             // -1: not known; up to 255 are kept

  auto operator<=>(const FileOrigin&) const = default;
};

struct FilterBlockOptions {
  // kNone is not buildable: REQUIRES another type.
  BloomType bloom_type = BloomType::kRowCol;
  KeyLayout key_layout = KeyLayout::Escaped();
  FilterKind kind = FilterKind::kBloom;
  // Bits for each distinct entry of each section, clamped to
  // [kMinBitsPerKey, kMaxBitsPerKey]. REQUIRES a number. kRibbon takes fewer:
  // those that give it the rate that kBloom has with this many.
  double bits_per_key = 10.0;
  // Of kRibbon, clamped to [0.9, 2]. REQUIRES a number. Below 1, keys that find
  // no slot go to smaller systems.
  double ribbon_slots_per_key = kRibbonSlotsPerKey;
  // Moves bits from the ROWCOL section to the ROW section, see
  // section_split.h; the size stays the same, or, with kRibbon, about the same.
  // REQUIRES IsRowSpread. nullopt: the sections have the same bits per entry.
  std::optional<double> row_spread;
  // Bytes of the row that kRowPrefixFixedLength indexes; shorter rows are
  // indexed whole. REQUIRES > 0 with that type.
  uint32_t row_prefix_length = 0;
  FileOrigin origin;
  // Varies the size to fit the allocator; null: never. See
  // lib/block/memory_fit.h.
  std::shared_ptr<MemoryFit> memory_fit;
  // Keeps the hashes of a finished block until FilterBlockBuilder::Verify.
  bool verify = false;
  // What sets the bits; null: the fastest that this CPU runs. Tests have their
  // own.
  const BloomKernel* kernel = nullptr;
};

// One section of a block.
struct FilterSection {
  SectionType type{};
  FilterKind kind{};
  uint8_t probes = 0;         // of kBloom
  uint64_t offset_bytes = 0;  // within the block
  uint64_t size_bytes = 0;
  uint64_t keys = 0;               // distinct entries
  uint32_t row_prefix_length = 0;  // of kRowPrefix, else 0
  // Empty when the section can be trusted, else why not, as one sentence.
  std::string problem;
  double ribbon_rate = 0;  // of kRibbon, the rate that its columns give

  bool usable() const { return problem.empty(); }
};

// Collects the keys of one file (or of one partition of its filter).
//
// Legal calls: (AddKey* Finish)*. Finish leaves the builder empty, ready for
// the next partition. Not thread-safe. May throw std::bad_alloc, and what a
// custom layout throws: a key may then be missing, so the block must not be
// used; after Reset the builder is as new.
class FilterBlockBuilder {
 public:
  explicit FilterBlockBuilder(const FilterBlockOptions& options);
  ~FilterBlockBuilder();
  FilterBlockBuilder(const FilterBlockBuilder&) = delete;
  FilterBlockBuilder& operator=(const FilterBlockBuilder&) = delete;

  // Adds a whole key, or a bare row (which then counts as a row without
  // columns). Keys should come in key order: repeated rows are recognised when
  // adjacent; out of order they cost space but no correctness. A key outside
  // the layout is not indexed; FilterBlock never filters it out.
  void AddKey(std::string_view key);

  // Adds what a prefix extractor makes of the key added last, as a key of its
  // own; equal prefixes of adjacent keys count once.
  void AddPrefix(std::string_view prefix);

  // How many keys were added since the last Finish.
  size_t keys_added() const;

  // Distinct entries over all sections; at least 1 when AddKey was called.
  size_t EstimateEntries() const;

  // The finished block. Never empty: at least its head, a directory of one
  // section, trailer and tail, some 50 bytes.
  std::string Finish();

  // Whether `block` is what the last Finish was to make: the hashes are still
  // those of the keys added, the block is whole, and every hash is found in it.
  // Empty, or what is wrong, as one sentence. Finds what changed in memory
  // since AddKey. Frees the hashes: asks once for each Finish. REQUIRES
  // FilterBlockOptions::verify.
  std::string Verify(std::string_view block);

  // The sections of the block that Finish made last; its next call changes
  // them.
  const std::vector<FilterSection>& finished_sections() const {
    return finished_sections_;
  }

  // Forgets all keys.
  void Reset();

  // What AddKey adds to, for the filter policy of this project, which spares
  // itself a call for each key.
  KeyEntries& entries() { return *entries_; }

  // Bytes allocated for hashes.
  size_t MemoryBytes() const;

  // About how many entries fit a block of `block_bytes` bytes; at least 1.
  size_t EntriesThatFit(size_t block_bytes) const noexcept;

  // About the bytes of a block of `entries` entries.
  size_t SpaceFor(size_t entries) const noexcept;

 private:
  struct Section;

  std::vector<Section> SectionsOf(const KeyEntries& entries) const;
  // Bytes of a block beside the payload of its sections.
  size_t OverheadBytes() const;
  double BitsPerEntry() const;
  bool AppendRibbonOf(const Section& section, double rate, size_t bloom_bytes,
                      std::string* block) const;

  FilterBlockOptions options_;
  int probes_;
  double rate_;  // of kBloom with this many bits per key
  std::string layout_id_;
  std::string attributes_;
  std::unique_ptr<KeyEntries> entries_;     // never null
  std::unique_ptr<KeyEntries> finished_;    // what Verify needs, else null
  std::optional<std::string> last_prefix_;  // of AddPrefix
  std::vector<FilterSection> finished_sections_;
};

// A view of one filter block. Does not own the bytes, which must outlive it and
// not change; they need no alignment. Immutable after Open: safe to share
// between threads.
class FilterBlock {
 public:
  // Whether these bytes are a rowbloom filter block, whole or damaged: they
  // start with its head or end with its tail. RocksDB's own filters do neither.
  static bool IsFilterBlock(std::string_view contents);

  // Checks every length and checksum once. Always returns a view; one that
  // cannot be trusted has a problem() and answers "may match" to everything.
  // A null kernel: the fastest that this CPU runs.
  static FilterBlock Open(std::string_view contents,
                          const BloomKernel* kernel = nullptr);
  // A temporary would be gone before the view.
  template <typename Bytes>
  requires std::same_as<std::remove_const_t<Bytes>, std::string>
  static FilterBlock Open(Bytes&& contents,
                          const BloomKernel* kernel = nullptr) = delete;

  // Empty, or why nothing in this block can be used: what was expected, what
  // was found, at which offset.
  const std::string& problem() const { return problem_; }
  bool usable() const { return usable_; }

  // What was found, as far as it could be read.
  const std::vector<FilterSection>& sections() const { return sections_; }
  const std::string& layout_id() const { return layout_id_; }
  const FileOrigin& origin() const { return origin_; }
  bool HasSection(SectionType type) const;
  // Of the ROWPREFIX section; 0 without one.
  uint32_t row_prefix_length() const { return row_prefix_length_; }
  uint8_t format_version() const { return format_version_; }
  size_t size_bytes() const { return contents_.size(); }

  // Asks for a key as RocksDB hands it over: a whole key or a bare row, which
  // the layout tells apart. The ROWCOL section is asked only when the row
  // passed. A key outside the layout may match.
  MatchResult MayMatch(std::string_view key) const;

  // The same for up to any number of keys; results.size() >= keys.size(). All
  // keys are hashed and their blocks prefetched before the first is probed, and
  // the ROW section is asked once for adjacent keys of one row.
  void MayMatch(std::span<const std::string_view> keys,
                std::span<MatchResult> results) const;

  // Asks for the row: `row_bytes` as in the key, end mark included. Bytes that
  // are not one row of the layout may match.
  bool MayMatchRow(std::string_view row_bytes) const;

  // Asks for the cell: both sections must pass. row_bytes + qualifier is the
  // key.
  bool MayMatchRowCol(std::string_view row_bytes,
                      std::string_view qualifier) const;

  // What a kernel answers whole keys with; nullptr if this block needs
  // MayMatch. For the readers of this project.
  const std::shared_ptr<const Matcher>& matcher() const { return matcher_; }

  // The answer of one section for an entry's hash, to check what was built.
  Verdict AskHash(SectionType type, uint64_t hash) const;

  // The answer of one section alone, for inspection; kNotAsked for bytes that
  // are not one row of the layout.
  Verdict AskSection(SectionType type, std::string_view row_bytes,
                     std::string_view qualifier) const;

  // Share of the section's bits that are set, in [0, 1]; 0 for a section that
  // is unusable, empty or not within this block.
  double FillRatio(const FilterSection& section) const;

  // Bits of the section for each of its entries; 0 without entries.
  static double BitsPerKey(const FilterSection& section);

  // The rate that is predicted for the section.
  static double ExpectedFalsePositiveRate(const FilterSection& section);

 private:
  // A section as it is asked.
  struct Probe {
    enum class State : uint8_t { kAbsent, kUnusable, kEmpty, kReady };
    State state = State::kAbsent;
    // Of kReady: a ribbon, or blocks.
    std::shared_ptr<const RibbonFilter> ribbon;
    const std::byte* blocks = nullptr;
    uint64_t block_count = 0;
    int probes = 0;
  };
  // A key, hashed.
  struct Question {
    bool in_layout = false;
    bool has_qualifier = false;
    bool row_known = false;  // the same row as the question before
    uint64_t row = 0;        // for the ROW or else the ROWPREFIX section
    uint64_t row_col = 0;    // for the ROWCOL section, set if has_qualifier
  };

  std::string Parse();
  std::shared_ptr<const Matcher> MakeMatcher() const;
  bool IsRow(std::string_view row_bytes) const;
  bool IsBarePrefix(std::string_view key) const;
  const Probe& RowProbe() const;
  uint64_t RowSectionHash(std::string_view row_bytes, uint64_t row_hash) const;
  Question Hash(std::string_view key) const;
  Verdict Ask(const Probe& probe, uint64_t hash) const;
  void Prefetch(const Probe& probe, uint64_t hash) const;
  MatchResult MatchLong(std::string_view key) const;
  void MatchLong(std::span<const std::string_view> keys,
                 std::span<MatchResult> results) const;
  MatchResult Match(std::string_view row_bytes,
                    std::string_view qualifier) const;

  std::string_view contents_;
  std::string problem_;
  std::vector<FilterSection> sections_;
  FileOrigin origin_;
  std::string layout_id_;
  std::optional<KeyLayout> layout_;
  uint32_t row_prefix_length_ = 0;
  uint8_t format_version_ = 0;
  bool usable_ = false;
  const BloomKernel* kernel_ = nullptr;
  Probe row_;
  Probe row_prefix_;
  Probe row_col_;
  std::shared_ptr<const Matcher> matcher_;
};

}  // namespace rowbloom
