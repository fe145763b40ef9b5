// The filter of an SST: DecodedFilter is one block of it, whoever wrote it,
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

// The predicted rates of the sections of rowbloom's filters. Those of most
// partitions of a file are alike, and computing one takes as long as reading
// it.
class SectionRates {
 public:
  double Of(const FilterSection& section);

 private:
  std::map<std::tuple<FilterKind, uint64_t, uint64_t, uint8_t>, double> known_;
};

// The prefix of a key as the extractor of this name makes it, for RocksDB's own
// and rowbloom's; nullopt: outside its domain.
using PrefixRule =
    std::function<std::optional<std::string_view>(std::string_view key)>;

// The parts of keys that the filter of a file has, as the file says.
struct FilterEntries {
  explicit FilterEntries(const SstTable& file);

  // The prefix of a key; nullopt: the filter has none of it, as far as known.
  std::optional<std::string_view> PrefixOf(std::string_view key) const;

  std::string policy;  // the CompatibilityName() of the one that wrote it
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
  // Tells whether rows are looked up as such; else prefixes are.
  bool has_rows() const { return rowbloom_ && entries_.whole_keys; }
  // "not rowbloom's: RocksDB Ribbon (marker -2)"; empty for rowbloom's.
  std::string Foreign() const;

  // `rates` are those of the blocks of one filter.
  std::vector<SectionFacts> Sections(SectionRates* rates) const;
  // All but the place of the part.
  FilterPart Describe(SectionRates* rates) const;

  // The answer of this block alone, without its place and rates. Bytes that are
  // not one row may match.
  FilterAnswer LookUp(const FilterLookup& lookup) const;

  // The answers of whole keys, many of them in less time than by LookUp.
  // REQUIRES at most kMostKeys, and answers.size() >= keys.size().
  static constexpr size_t kMostKeys = 64;
  struct KeyAnswer {
    bool may_match = true;
    // The key's row, as rowbloom's filter splits it, was looked up and passed.
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
  std::optional<KeyLayout> layout_;  // rowbloom_'s, if it is known here
  std::optional<sst::StockFilter> stock_;
};

// Looks up keys in the filter of a file. Holds one partition; keys that come in
// the file's order read each once.
class SstFilterReader final : public FilterReader {
 public:
  explicit SstFilterReader(const SstTable& file)
      : file_(file), entries_(file), blocks_(file.file()) {}

  // Reads where the partitions are. Once, before anything else.
  rocksdb::Status Open();

  bool can_probe() const override { return can_probe_; }
  void LookUp(const FilterLookup& lookup, FilterAnswer* answer) override;

  const FilterEntries& entries() const { return entries_; }
  // Those of the filter; none without one, or with an empty one.
  const std::vector<sst::FilterPartition>& partitions() const {
    return partitions_;
  }

  // The partition that RocksDB probes for the key (without a timestamp).
  size_t PartitionFor(std::string_view key) const;
  // Nullptr, with *status, when it cannot be read.
  const DecodedFilter* Load(size_t partition, rocksdb::Status* status);
  // The number of the first keys for which PartitionFor gives the same
  // partition. The count is faster if they are `ascending` in the file's order.
  // REQUIRES some keys.
  size_t CountInOnePartition(std::span<const std::string_view> keys,
                             bool ascending) const;
  // The partition that was loaded last, counted from 0.
  size_t partition() const { return loaded_; }

 private:
  static constexpr size_t kNothing = static_cast<size_t>(-1);

  bool is_partitioned() const {
    return file_.file().filter().form == sst::FilterForm::kPartitioned;
  }
  // Tells whether the index key of a partition comes before the key.
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
  // The filter in the block that was read last, whose bytes it views.
  std::optional<DecodedFilter> filter_;

  // The predicted rates of the partition that was rated last.
  SectionRates rates_;
  size_t rated_ = kNothing;
  double row_rate_ = 1;
  double key_rate_ = 1;  // of ROWCOL, or of the one section of another filter
};

}  // namespace rowbloom::table
