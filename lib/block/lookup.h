// The lookup of keys in a filter block: the one place that splits a key, hashes
// its parts and probes ROW and then ROWCOL, for one key and for a batch.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "lib/block/hash.h"
#include "lib/kernels/kernel.h"
#include "lib/layout/row_rule.h"
#include "rowbloom/filter_block.h"
#include "rowbloom/key_layout.h"

namespace rowbloom {

// One section of a block, ready to be probed. A section without bytes probes a
// block of zeros or ones instead.
class SectionProbe {
 public:
  // A section that gives `if_found` for every hash: kNotProbed if the section
  // is absent, kUnusable if it cannot be trusted.
  explicit SectionProbe(Verdict if_found);
  SectionProbe() : SectionProbe(Verdict::kNotProbed) {}
  // A section without entries: it excludes every key.
  static SectionProbe Empty();
  // Sections of either kind. Their bytes have to outlive this.
  explicit SectionProbe(const BloomBlocks& blocks)
      : if_found_(Verdict::kMayMatch), blocks_(blocks) {}
  explicit SectionProbe(std::unique_ptr<const RibbonFilter> ribbon)
      : if_found_(Verdict::kMayMatch), ribbon_(std::move(ribbon)) {}

  bool present() const { return if_found_ != Verdict::kNotProbed; }

  // The blocks of a section of kind bloom; null for one of kind ribbon.
  const BloomBlocks* blooms() const {
    return ribbon_ == nullptr ? &blocks_ : nullptr;
  }

  // Starts loading the bytes that a probe of this hash reads. Always inlined,
  // as PrefetchBlock is.
  [[gnu::always_inline]] void Prefetch(uint64_t hash) const {
    if (ribbon_ == nullptr) return PrefetchBlock(blocks_, hash);
    PrefetchRibbon(*ribbon_, hash);
  }

  // Tells whether the hash is found.
  bool Find(const Kernel& kernel, uint64_t hash) const {
    if (ribbon_ == nullptr) [[likely]]
      return kernel.may_contain(blocks_, hash);
    return kernel.ribbon_may_contain(*ribbon_, hash);
  }

  // The same for up to Kernel::kMaxMany hashes: bit i is for hashes[i].
  uint32_t FindMany(const Kernel& kernel, const uint64_t* hashes,
                    size_t count) const {
    return ribbon_ == nullptr
               ? kernel.may_contain_many(blocks_, hashes, count)
               : kernel.ribbon_may_contain_many(*ribbon_, hashes, count);
  }

  // The verdict that follows from Find.
  Verdict VerdictOf(bool found) const {
    return found ? if_found_ : Verdict::kNoMatch;
  }

 private:
  Verdict if_found_;
  BloomBlocks blocks_{};                        // kind bloom
  std::unique_ptr<const RibbonFilter> ribbon_;  // kind ribbon, else null
};

// The answers for the keys of a batch, a bit for each.
struct BatchAnswers {
  uint32_t row_probed = 0;
  uint32_t row_found = 0;  // subset of row_probed
  uint32_t row_col_probed = 0;
  uint32_t row_col_found = 0;  // subset of row_col_probed

  // The keys that the file cannot hold.
  uint32_t RuledOut() const {
    return (row_probed & ~row_found) | (row_col_probed & ~row_col_found);
  }
};

// The sections of one block and the rule by which keys are looked up in them.
// Immutable but for moves: safe to share between threads. Functions throw the
// exceptions of a custom layout, and others only where they say so.
class Lookup {
 public:
  struct Sections {
    SectionProbe row;  // the ROW section, or else the ROWPREFIX section
    SectionProbe row_col;
    uint32_t row_prefix_length = 0;  // for a ROWPREFIX section, else 0
    // The section that has keys outside the layout, as whole keys; nullopt: no
    // section has them.
    std::optional<SectionType> whole_keys;
  };

  // A block that cannot be used: its ROW is unusable, and every key may match.
  Lookup();

  // A block of this layout, probed with `kernel`, which has to outlive it.
  Lookup(KeyLayout layout, Sections sections, const Kernel& kernel);

  // The ROWCOL section, which may be absent.
  const SectionProbe& row_col() const { return sections_.row_col; }
  // Tells whether ROWCOL can exclude cells.
  bool has_row_col() const { return sections_.row_col.present(); }

  // Looks a key up: a whole key or a bare row, which the layout tells apart.
  MatchResult MayMatch(std::string_view key) const;

  // Looks up a batch of `count` keys, Kernel::kMaxMany at most, which `key_at`
  // gives by their numbers. The bytes of a section are fetched for all keys
  // before the first of them is probed, and adjacent keys of one row probe ROW
  // once. It is not inlined, since it would run out of registers.
  template <typename KeyAt>
  [[gnu::noinline]] BatchAnswers MayMatch(size_t count, KeyAt key_at) const {
    return Match<Kernel::kMaxMany>(
        count, [&](size_t i) { return EntryOf(key_at(i)); });
  }

  // The answer for key i of a batch.
  MatchResult ResultOf(const BatchAnswers& answers, size_t i) const;

  // Tells whether `row_bytes` are one row of the layout. In a block with
  // ROWPREFIX, a bare prefix outside the layout counts as one, too, unless it
  // has a qualifier.
  bool IsRow(std::string_view row_bytes, std::string_view qualifier) const;

  // Returns the verdict of one section alone for the key of these parts.
  // kNotProbed: the section has no entries of their kind, or `row_bytes` are no
  // row. May throw std::bad_alloc.
  Verdict ProbeSection(SectionType type, std::string_view row_bytes,
                       std::string_view qualifier) const;

  // The verdict of one section for an entry's hash. Verification uses it.
  Verdict ProbeHash(SectionType type, uint64_t hash) const;

 private:
  // The entries of a key: the hash for the row section, if it has one there,
  // and the parts of the hash for ROWCOL.
  struct Entry {
    bool in_row;
    uint64_t row;
    uint64_t row_hash;      // the seed of the cell
    std::string_view cell;  // empty: the key has no entry in ROWCOL
  };

  SectionType row_type() const {
    return sections_.row_prefix_length > 0 ? SectionType::kRowPrefix
                                           : SectionType::kRow;
  }
  bool IsBarePrefix(std::string_view key) const;
  Entry EntryOf(std::string_view key) const;
  Entry EntryOf(std::string_view row_bytes, std::string_view qualifier) const;
  Entry EntryOutside(std::string_view key) const;
  Entry RareEntryOf(std::string_view key) const;
  MatchResult MatchRare(std::string_view key) const;

  // Applies the rule to `count` keys, kMost at most, whose entries `entry_at`
  // gives by their numbers.
  template <size_t kMost, typename EntryAt>
  BatchAnswers Match(size_t count, EntryAt entry_at) const;

  KeyLayout layout_ = KeyLayout::Escaped();
  // The kind and parameter of the layout. The kind is also kCustom if keys have
  // other entries than their rows and cells: with a ROWPREFIX section, or if
  // the block cannot be used.
  KeyLayout::Kind kind_ = KeyLayout::Kind::kCustom;
  uint32_t parameter_ = 0;
  bool usable_ = false;
  Sections sections_;
  const Kernel* kernel_ = &ActiveKernel();
};

inline Lookup::Entry Lookup::EntryOf(std::string_view row_bytes,
                                     std::string_view qualifier) const {
  const uint64_t row_hash = HashRow(row_bytes);
  return {
      .in_row = true, .row = row_hash, .row_hash = row_hash, .cell = qualifier};
}

[[gnu::always_inline]] inline Lookup::Entry Lookup::EntryOf(
    std::string_view key) const {
  const size_t row_bytes =
      RowBytesOf(kind_, parameter_, key.data(), key.size());
  if (row_bytes == KeyLayout::kNoRow) [[unlikely]]
    return RareEntryOf(key);
  return EntryOf({key.data(), row_bytes},
                 {key.data() + row_bytes, key.size() - row_bytes});
}

template <size_t kMost, typename EntryAt>
[[gnu::always_inline]] inline BatchAnswers Lookup::Match(
    size_t count, EntryAt entry_at) const {
  // The hashes that one section is probed with.
  struct Probes {
    std::array<uint64_t, kMost> hashes;
    size_t count = 0;

    void Add(const SectionProbe& section, uint64_t hash) {
      if constexpr (kMost > 1) section.Prefetch(hash);
      hashes[count++] = hash;
    }
    // Bit i is for hashes[i].
    uint32_t Find(const SectionProbe& section, const Kernel& kernel) const {
      if constexpr (kMost > 1) {
        return section.FindMany(kernel, hashes.data(), count);
      }
      return section.Find(kernel, hashes[0]) ? 1 : 0;
    }
  };
  // Each field of the entries has an array of its own: a struct would be copied
  // in wider words than it was just written in, which stalls a CPU.
  std::array<uint8_t, kMost> probe_of;  // the number of the probe of its row
  std::array<uint64_t, kMost> row_hashes;
  std::array<const char*, kMost> cell_data;
  std::array<size_t, kMost> cell_sizes;

  uint32_t all = 0;
  BatchAnswers answers;
  Probes rows;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t bit = uint32_t{1} << i;
    all |= bit;
    const Entry entry = entry_at(i);
    row_hashes[i] = entry.row_hash;
    cell_data[i] = entry.cell.data();
    cell_sizes[i] = entry.cell.size();
    if (!entry.in_row) continue;
    answers.row_probed |= bit;
    if (rows.count == 0 || rows.hashes[rows.count - 1] != entry.row) {
      rows.Add(sections_.row, entry.row);
    }
    probe_of[i] = static_cast<uint8_t>(rows.count - 1);
  }
  if (rows.count > 0) {
    const uint32_t found = rows.Find(sections_.row, *kernel_);
    if (kMost == 1 || rows.count == count) {  // each key has its own probe
      answers.row_found = found;
    } else {
      for (uint32_t left = answers.row_probed; left != 0; left &= left - 1) {
        const int i = std::countr_zero(left);
        answers.row_found |= (found >> probe_of[i] & 1) << i;
      }
    }
  }

  const uint32_t ruled_out = answers.RuledOut();
  if (ruled_out == all || !has_row_col()) return answers;

  for (size_t i = 0; i < count; ++i) {
    if (cell_sizes[i] > 0) answers.row_col_probed |= uint32_t{1} << i;
  }
  answers.row_col_probed &= ~ruled_out;
  if (answers.row_col_probed == 0) return answers;
  Probes cells;
  for (uint32_t left = answers.row_col_probed; left != 0; left &= left - 1) {
    const int i = std::countr_zero(left);
    cells.Add(sections_.row_col,
              HashRowCol(row_hashes[i], {cell_data[i], cell_sizes[i]}));
  }
  uint32_t found = cells.Find(sections_.row_col, *kernel_);
  for (uint32_t left = answers.row_col_probed; left != 0; left &= left - 1) {
    answers.row_col_found |= (found & 1) << std::countr_zero(left);
    found >>= 1;
  }
  return answers;
}

inline MatchResult Lookup::ResultOf(const BatchAnswers& answers,
                                    size_t i) const {
  const auto has = [i](uint32_t mask) { return (mask >> i & 1) != 0; };
  return MatchResult(
      has(answers.row_probed) ? sections_.row.VerdictOf(has(answers.row_found))
                              : Verdict::kNotProbed,
      has(answers.row_col_probed)
          ? sections_.row_col.VerdictOf(has(answers.row_col_found))
          : Verdict::kNotProbed);
}

[[gnu::always_inline]] inline MatchResult Lookup::MayMatch(
    std::string_view key) const {
  const size_t row_bytes =
      RowBytesOf(kind_, parameter_, key.data(), key.size());
  if (row_bytes == KeyLayout::kNoRow) [[unlikely]]
    return MatchRare(key);
  return ResultOf(Match<1>(1,
                           [&](size_t /*i*/) {
                             return EntryOf({key.data(), row_bytes},
                                            {key.data() + row_bytes,
                                             key.size() - row_bytes});
                           }),
                  0);
}

}  // namespace rowbloom
