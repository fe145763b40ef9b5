// The filter of an SST. DecodedFilter is one block of it, by any writer.
// SstFilterReader finds the block for a key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "rowbloom/filter_block.h"
#include "rowbloom/key_layout.h"
#include "tools/sst/block_reader.h"
#include "tools/sst/stock_filter.h"
#include "tools/table/sst_table.h"
#include "tools/table/table_file.h"

namespace rowbloom::table {

// Caches the predicted rates of sections of rowbloom's filters. Most partitions
// of a file have equal rates, and computing one takes as long as reading it.
class SectionRates {
 public:
  double Of(const FilterSection& section);

 private:
  std::map<std::tuple<FilterKind, uint64_t, uint64_t, uint8_t>, double> known_;
};

// Describes a filter of FilterForm::kPerBlock.
inline constexpr std::string_view kPerBlockText =
    "one for each data block, which RocksDB 7.0 and later do not read";

// Returns the prefix of a key, as a prefix extractor of RocksDB or rowbloom
// does; nullopt: outside its domain.
using PrefixRule =
    std::function<std::optional<std::string_view>(std::string_view key)>;

// The parts of keys that the filter of a file holds, by the file's properties.
struct FilterEntries {
  explicit FilterEntries(const SstTable& file);

  // Returns the prefix of a key; nullopt: the filter has none of it, or the
  // extractor is not known.
  std::optional<std::string_view> PrefixOf(std::string_view key) const;

  std::string policy;  // the CompatibilityName() of the policy that wrote it
  bool whole_keys = true;
  bool prefixes = false;
  PrefixRule prefix_of;  // empty: the extractor is not known
};

// A view of one block, which must outlive it, as `entries` must.
class DecodedFilter {
 public:
  DecodedFilter(const FilterEntries& entries, std::string_view contents);

  // The block if rowbloom wrote it, else unset.
  const std::optional<FilterBlock>& rowbloom() const { return rowbloom_; }
  // The filter if it is of RocksDB's own kinds, else unset.
  const std::optional<sst::StockFilter>& stock() const { return stock_; }
  // Tells whether a row lookup probes the row; otherwise it probes a prefix.
  bool has_rows() const { return rowbloom_ && entries_.whole_keys; }
  // "not rowbloom's: RocksDB Ribbon (marker -2)"; empty for rowbloom's.
  std::string Foreign() const;

  // `rates` are those of the blocks of one filter.
  std::vector<SectionFacts> Sections(SectionRates* rates) const;
  // Returns all members but those that tell the place of the part.
  FilterPart Describe(SectionRates* rates) const;

  // Returns the answer of this block alone, without its place and rates. Bytes
  // that are not one row may match.
  FilterAnswer LookUp(const FilterLookup& lookup) const;

  // Looks up many whole keys in less time than LookUp. REQUIRES at most
  // kMostKeys, and answers.size() >= keys.size().
  static constexpr size_t kMostKeys = 64;
  struct KeyAnswer {
    bool may_match = true;
    // True: the key's row, split by rowbloom's filter, was probed and may
    // match.
    bool row_passed = false;
  };
  void ProbeKeys(std::span<const std::string_view> keys,
                 std::span<KeyAnswer> answers) const;

 private:
  void LookUpEntry(const FilterLookup& lookup, FilterAnswer* answer) const;
  void LookUpBytes(const char* section, std::optional<std::string_view> bytes,
                   FilterAnswer* answer) const;
  void LookUpSections(std::string_view row, const FilterLookup& lookup,
                      FilterAnswer* answer) const;
  void LookUpOutsideLayout(std::string_view key, FilterAnswer* answer) const;

  const FilterEntries& entries_;
  std::string_view contents_;
  std::optional<FilterBlock> rowbloom_;
  std::optional<KeyLayout> layout_;  // rowbloom_'s, if this build knows it
  std::optional<sst::StockFilter> stock_;
};

// Looks up keys in the filter of a file. Holds one partition. Keys in the
// file's order read each partition once.
class SstFilterReader final : public FilterReader {
 public:
  explicit SstFilterReader(const SstTable& file)
      : file_(file), entries_(file), blocks_(file.file()) {}

  // Reads the index of the partitions. Call it once, before all else.
  rocksdb::Status Open();

  bool can_probe() const override { return can_probe_; }
  void LookUp(const FilterLookup& lookup, FilterAnswer* answer) override;

  const FilterEntries& entries() const { return entries_; }
  // The partitions of the filter; none if there is no filter, or an empty one.
  const std::vector<sst::FilterPartition>& partitions() const {
    return partitions_;
  }

  // Returns the partition that RocksDB probes for the key (without a
  // timestamp).
  size_t PartitionFor(std::string_view key) const;
  // Returns nullptr and sets *status if the partition cannot be read.
  const DecodedFilter* Load(size_t partition, rocksdb::Status* status);
  // Returns the number of first keys that have the same PartitionFor. It is
  // faster if the keys are `ascending` in the file's order. REQUIRES a key.
  size_t CountInOnePartition(std::span<const std::string_view> keys,
                             bool ascending) const;
  // The partition that was loaded last, counted from 0.
  size_t partition() const { return loaded_; }

 private:
  static constexpr size_t kNothing = static_cast<size_t>(-1);

  bool is_partitioned() const {
    return file_.file().filter().form == sst::FilterForm::kPartitioned;
  }
  // Tells whether the index key of a partition is before the key.
  bool EndsBefore(const sst::FilterPartition& partition,
                  std::string_view key) const;
  std::pair<size_t, size_t> PartitionsFor(const FilterLookup& lookup) const;
  FilterAnswer LookUpIn(size_t partition, const FilterLookup& lookup);
  void Rate(const DecodedFilter& filter, const FilterLookup& lookup,
            FilterAnswer* answer);

  const SstTable& file_;
  const FilterEntries entries_;
  bool can_probe_ = false;
  std::vector<sst::FilterPartition> partitions_;
  size_t loaded_ = kNothing;
  rocksdb::Status loaded_status_;
  sst::BlockReader blocks_;
  // The filter of the block that was read last. It views bytes of `blocks_`.
  std::optional<DecodedFilter> filter_;

  // The predicted rates of the partition that was rated last.
  SectionRates rates_;
  size_t rated_ = kNothing;
  double row_rate_ = 1;
  double key_rate_ = 1;  // of ROWCOL, or of the section of a foreign filter
};

}  // namespace rowbloom::table
