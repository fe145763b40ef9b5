// The filter of an SST: DecodedFilter is one block of it, whoever wrote it,
// FilterProber finds the block for a key.
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
#include <vector>

#include "rowbloom/filter_block.h"
#include "tools/sst/stock_filter.h"
#include "tools/sst_inspect/sst_table.h"
#include "tools/sst_inspect/table_file.h"

namespace rowbloom::sst_inspect {

// The predicted rates of the sections of rowbloom's filters. Those of most
// partitions of a file are alike, and computing one takes as long as reading
// it.
class SectionRates {
 public:
  double Of(const FilterSection& section);

 private:
  std::map<std::tuple<FilterKind, uint64_t, uint64_t, uint8_t>, double> known_;
};

// A view of one block, which must outlive it.
class DecodedFilter {
 public:
  // The name of the file's policy says who wrote the block, `facts` what of
  // keys is in it.
  DecodedFilter(const TableFacts& facts, std::string_view compatibility_name,
                std::string_view contents);

  bool is_rowbloom() const { return rowbloom_.has_value(); }
  // The block if rowbloom wrote it, else unset.
  const std::optional<FilterBlock>& rowbloom() const { return rowbloom_; }
  // The filter if it is of RocksDB's own kinds, else unset.
  const std::optional<sst::StockFilter>& stock() const { return stock_; }
  // "not rowbloom's: RocksDB Ribbon (marker -2)"; empty for rowbloom's.
  std::string Foreign() const;

  // `rates` are those of the blocks of one filter.
  std::vector<SectionFacts> Sections(SectionRates* rates) const;
  // All but the place of the part.
  FilterPart Describe(SectionRates* rates) const;

  // The answers that RocksDB would get for a whole key, and for a row or prefix
  // as it is in a key. Bytes that are not one row may match.
  bool KeyMayMatch(std::string_view key) const;
  bool PrefixMayMatch(std::string_view prefix) const;
  // KeyMayMatch of several, in less time. REQUIRES at most kMostKeys, and
  // answers.size() >= keys.size().
  static constexpr size_t kMostKeys = 64;
  struct KeyAnswer {
    bool may_match = true;
    // The key's row, as rowbloom's filter splits it, was looked up and passed.
    bool row_passed = false;
  };
  void ProbeKeys(std::span<const std::string_view> keys,
                 std::span<KeyAnswer> answers) const;

 private:
  std::string_view contents_;
  std::string_view policy_;
  bool has_keys_;      // stock_'s
  bool has_prefixes_;  // stock_'s
  std::optional<FilterBlock> rowbloom_;
  std::optional<sst::StockFilter> stock_;
};

// The prefix of a key as the extractor of this name makes it, for RocksDB's own
// and rowbloom's; nullopt: outside its domain.
using PrefixRule =
    std::function<std::optional<std::string_view>(std::string_view key)>;
// Empty for a name that is not known.
PrefixRule PrefixRuleOf(std::string_view extractor_name);

// Looks up keys in the filter of a file. Holds one partition; keys that come in
// the file's order read each once.
class FilterProber {
 public:
  // Reads where the partitions are.
  rocksdb::Status Open(const SstTable& file);

  // Tells whether there is a filter, and the partition of a key can be told.
  bool can_probe() const { return can_probe_; }
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

  // Tells whether the index key of a partition comes before the key.
  bool EndsBefore(const sst::FilterPartition& partition,
                  std::string_view key) const;

  const SstTable* file_ = nullptr;
  TableFacts facts_;
  bool can_probe_ = false;
  std::vector<sst::FilterPartition> partitions_;
  size_t loaded_ = kNothing;
  rocksdb::Status loaded_status_;
  std::string contents_;
  std::optional<DecodedFilter> filter_;
};

}  // namespace rowbloom::sst_inspect
