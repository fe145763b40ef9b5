// The checks of `verify` in an SST: each block, the order of keys, whether
// index and properties agree with the data, and the filter.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rowbloom/printable.h"
#include "storage/format/coding.h"
#include "tools/sst/data_cursor.h"
#include "tools/table/key_format.h"
#include "tools/table/sst_filter.h"
#include "tools/table/sst_table.h"

namespace rowbloom::table {
namespace {

using rocksdb::Status;

// Looks up keys, and their rows or prefixes, in the filter, several at a time.
// Holds one filter partition and these keys.
class FilterCheck {
 public:
  // The problems are in the order of the keys; the first kMostProblems are
  // kept.
  static constexpr size_t kMostProblems = 20;
  struct Result {
    uint64_t keys_probed = 0;
    uint64_t rows_probed = 0;  // or prefixes
    uint64_t false_negatives = 0;
    uint64_t problem_count = 0;
    std::vector<std::string> problems;
    std::set<std::string> notes;  // why lookups were omitted
  };

  // The file and the format must outlive it.
  FilterCheck(const SstTable& file, const KeyFormat& format)
      : file_(file), format_(format), filter_(file) {}

  // Reads the index of the partitions. Call it once, before all else.
  Status Open() {
    const Status status = filter_.Open();
    const TableFacts facts = file_.Facts();
    if (is_per_block()) {
      result_.notes.insert(
          fmt::format("the filter is not checked: {}", kPerBlockText));
    } else if (has_filter() && !filter_.can_probe()) {
      result_.notes.insert(
          "the filter is not checked: of a partitioned one the comparator " +
          ToPrintable(facts.comparator) + " would have to be known");
    }
    if (filter_.entries().prefixes && !filter_.entries().prefix_of) {
      result_.notes.insert("the filter's prefixes are not checked: extractor " +
                           ToPrintable(facts.prefix_extractor) +
                           " is not known");
    }
    return status;
  }

  // Tells whether the file has a filter that is not empty.
  bool has_filter() const {
    return is_per_block() || !filter_.partitions().empty();
  }

  // Adds a key without its timestamp, in the order of the file. `ascending`
  // tells whether it is at or after the previous key.
  void Add(std::string_view key, bool ascending) {
    if (!filter_.can_probe()) return;
    bytes_.append(key);
    ends_[count_++] = bytes_.size();
    ascending_ = ascending_ && ascending;
    if (count_ == ends_.size() || bytes_.size() > kMostBytes) Probe();
  }

  // Call it once, after the last key.
  const Result& Finish() {
    Probe();
    return result_;
  }

 private:
  // More bytes of keys are not held, but for those of one key: keys that share
  // their beginnings take little of a file.
  static constexpr size_t kMostBytes = size_t{1} << 20;

  bool is_per_block() const {
    return file_.file().filter().form == sst::FilterForm::kPerBlock;
  }

  // Looks up the keys that were added, several at a time, so that their memory
  // accesses overlap.
  void Probe() {
    std::array<std::string_view, DecodedFilter::kMostKeys> added;
    const std::string_view bytes = bytes_;
    size_t start = 0;
    for (size_t i = 0; i < count_; ++i) {
      added[i] = bytes.substr(start, ends_[i] - start);
      start = ends_[i];
    }
    for (auto keys = std::span(added).first(count_); !keys.empty();) {
      const size_t count = filter_.CountInOnePartition(keys, ascending_);
      LoadPartition(filter_.PartitionFor(keys.front()));
      // A partition that cannot be read is reported as a block.
      if (probed_ != nullptr) ProbePartition(keys.first(count));
      keys = keys.subspan(count);
    }
    bytes_.clear();
    count_ = 0;
    ascending_ = true;
  }

  void LoadPartition(size_t partition) {
    if (partition == filter_.partition()) return;
    Status status;
    probed_ = filter_.Load(partition, &status);
    if (probed_ != nullptr) CheckPartition(*probed_);
    last_prefix_.reset();
    const auto* own = probed_ != nullptr && probed_->rowbloom()
                          ? &*probed_->rowbloom()
                          : nullptr;
    rows_are_filters_ = own != nullptr && format_.layout &&
                        format_.layout->ToString() == own->layout_id();
  }

  void CheckPartition(const DecodedFilter& filter) {
    const auto where = [this] {
      return fmt::format("{}: filter partition {}: ", file_.path(),
                         filter_.partition() + 1);
    };
    if (filter.rowbloom()) {
      const FilterBlock& block = *filter.rowbloom();
      if (!block.usable() && block.sections().empty()) {
        Problem(where() + block.problem());
      } else if (!block.usable()) {
        result_.notes.insert("the filter is not checked: " + block.problem());
      }
      for (const FilterSection& section : block.sections()) {
        if (!section.usable()) {
          Problem(where() + std::string(ToString(section.type)) + " " +
                  section.problem);
        }
      }
    } else if (filter.stock()) {
      if (const std::string& why = filter.stock()->problem(); !why.empty()) {
        result_.notes.insert("the filter rules nothing out: " + why);
      }
    } else {
      result_.notes.insert("the filter is not checked: policy " +
                           ToPrintable(filter_.entries().policy) +
                           " is not known");
    }
  }

  void ProbePartition(std::span<const std::string_view> keys) {
    std::array<DecodedFilter::KeyAnswer, DecodedFilter::kMostKeys> answers;
    if (filter_.entries().whole_keys) {
      probed_->ProbeKeys(keys, answers);
      result_.keys_probed += keys.size();
      for (size_t i = 0; i < keys.size(); ++i) {
        if (!answers[i].may_match) FalseNegative("key", keys[i]);
      }
    }
    for (size_t i = 0; i < keys.size(); ++i) {
      if (rows_are_filters_ && answers[i].row_passed) {
        ++result_.rows_probed;
      } else {
        ProbePrefix(keys[i]);
      }
    }
  }

  void ProbePrefix(std::string_view key) {
    const bool is_row = probed_->has_rows();
    std::optional<std::string_view> prefix;
    if (!is_row) {
      prefix = filter_.entries().PrefixOf(key);
    } else if (const auto split = format_.Split(key)) {
      prefix = split->row;
    }
    if (!prefix) return;
    ++result_.rows_probed;
    // It would get the same answer again.
    if (last_prefix_ == *prefix) return;
    if (!probed_->LookUp({.key = *prefix, .is_row = true}).may_match) {
      FalseNegative(is_row ? "row" : "prefix", *prefix);
      last_prefix_.reset();
      return;
    }
    last_prefix_.emplace(*prefix);
  }

  void Problem(std::string text) {
    ++result_.problem_count;
    if (result_.problems.size() == kMostProblems) return;
    result_.problems.push_back(std::move(text));
  }

  void FalseNegative(std::string_view what, std::string_view bytes) {
    ++result_.false_negatives;
    Problem(fmt::format(
        "{}: false negative: {} {} is in the file, filter partition {} says it "
        "is not",
        file_.path(), what, format_.ShortText(bytes), filter_.partition() + 1));
  }

  const SstTable& file_;
  const KeyFormat& format_;

  SstFilterReader filter_;
  const DecodedFilter* probed_ = nullptr;  // the partition loaded last
  // True: the format and the filter split rows alike.
  bool rows_are_filters_ = false;
  std::optional<std::string> last_prefix_;  // the last one, if it may match
  Result result_;

  // The keys that were added, one after the other, and their ends.
  std::string bytes_;
  std::array<size_t, DecodedFilter::kMostKeys> ends_;
  size_t count_ = 0;
  bool ascending_ = true;
};

// Checks one file in one pass over its data.
class Verifier {
 public:
  Verifier(const SstTable& file, const KeyFormat& format, Findings* findings,
           VerifyCounts* counts)
      : file_(file),
        facts_(file.Facts()),
        format_(format),
        findings_(*findings),
        counts_(*counts),
        order_(file.key_order()),
        ordered_(order_ != sst::KeyOrder::kUnknown),
        order_tells_keys_(ordered_ && format_.timestamp_bytes == 0),
        filter_(file, format_),
        data_(file.file()),
        blobs_(file.file()) {}

  void Run() {
    CheckOtherBlocks();
    OpenFilter();
    CheckCells();
    CheckFilter();
    CheckRangeDeletions();
    CheckProperties();
  }

 private:
  // Reports a problem of the present data block.
  void BlockProblem(std::string_view problem) {
    findings_.Problem(fmt::format("{}: block at offset {}: {}", file_.path(),
                                  data_.block().offset_bytes, problem));
  }

  std::string KeyText(std::string_view key) const {
    return format_.ShortText(key);
  }

  // REQUIRES an entry's key.
  static std::string_view UserKeyOf(std::string_view internal_key) {
    internal_key.remove_suffix(sst::kInternalKeySuffixBytes);
    return internal_key;
  }

  void CheckOtherBlocks() {
    const auto check = [this](const BlockInfo& block) {
      ++counts_.blocks;
      if (block.status.ok()) return;
      ++counts_.damaged_blocks;
      findings_.Failure(block.status);
      told_.insert(block.status.ToString());
    };
    const Status status =
        file_.ForEachBlock(TableFile::Blocks::kAllButData, check);
    if (!status.ok() && told_.insert(status.ToString()).second) {
      findings_.Failure(status);
    }
  }

  void OpenFilter() {
    const Status status = filter_.Open();
    if (!status.ok() && !status.IsCorruption()) findings_.Failure(status);
    if (!ordered_) {
      findings_.Note("the order of keys is not checked: comparator " +
                     ToPrintable(facts_.comparator) + " is not known");
    }
  }

  void CheckCells() {
    do {
      while (data_.NextBlock()) {
        ++counts_.blocks;
        ++data_blocks_;
        file_.ReadUpTo(data_.block().offset_bytes);
        bool empty = true;
        for (; data_.NextEntry(); empty = false) {
          if (empty) CheckFirst(data_.internal_key());
          CheckEntry(data_.key());
        }
        if (!data_.block_status().ok()) {
          ++counts_.damaged_blocks;
          findings_.Failure(data_.block_status());
        } else {
          CheckLast(empty);
        }
      }
      const Status& index = data_.index().status();
      // Damage of an index block may have been reported before.
      if (!index.ok() && !told_.contains(index.ToString()))
        findings_.Failure(index);
    } while (data_.SkipDamagedPartition());
    file_.ReadUpTo(file_.size_bytes());
  }

  int Compare(std::string_view a, std::string_view b) const {
    return CompareUserKeys(order_, format_.timestamp_bytes, a, b);
  }

  // Compares the bytes after the shared ones; the first mostly differs.
  int CompareWithLast(std::string_view last, std::string_view key) const {
    if (!order_tells_keys_) return Compare(last, key);
    const size_t shared =
        std::min({data_.shared_key_bytes(), last.size(), key.size()});
    return Compare(last.substr(shared), key.substr(shared));
  }

  void CheckFirst(std::string_view key) {
    const std::string_view user_key = UserKeyOf(key);
    if (ordered_ && has_index_key_ && Compare(user_key, index_key_) < 0) {
      BlockProblem(fmt::format(
          "first key {} comes before {}, up to which the index says the block "
          "before it goes",
          KeyText(user_key), KeyText(index_key_)));
    }
    const std::string_view expected = data_.index().first_key();
    if (!expected.empty() && expected != key) {
      BlockProblem(fmt::format("first key {} expected by the index, found {}",
                               KeyText(expected), KeyText(key)));
    }
  }

  void CheckLast(bool empty) {
    if (empty) return BlockProblem("no entries, expected some");
    const std::string_view last = UserKeyOf(last_key_);
    const std::string_view end = data_.index().user_key();
    if (ordered_ && Compare(last, end) > 0) {
      BlockProblem(fmt::format(
          "last key {} comes after {}, up to which the index says it goes",
          KeyText(last), KeyText(end)));
    }
    has_index_key_ = true;
    index_key_.assign(end);
  }

  // Checks the present entry; `key` is its key.
  void CheckEntry(const sst::InternalKey& key) {
    ++counts_.cells;
    CheckType(key);
    CheckBlob(key);
    const bool is_first = last_key_.empty();
    const std::string_view last = is_first ? last_key_ : UserKeyOf(last_key_);
    const int order =
        ordered_ && !is_first ? CompareWithLast(last, key.user_key) : -1;
    if (order >= 0) CheckVersions(order, key);
    const std::string_view bare = format_.WithoutTimestamp(key.user_key);
    const bool is_new =
        order_tells_keys_ ? order != 0
                          : is_first || bare != format_.WithoutTimestamp(last);
    if (is_new) filter_.Add(bare, ordered_ && order <= 0);
    // The first entry of a block shares no bytes with the last key.
    const size_t shared = data_.shared_key_bytes();
    last_key_.resize(shared);
    last_key_.append(data_.internal_key(), shared);
  }

  void CheckType(const sst::InternalKey& key) {
    deletions_ += sst::IsDeletion(key.type) ? 1 : 0;
    timestamped_deletions_ +=
        key.type == sst::EntryType::kDeletionWithTimestamp ? 1 : 0;
    if (key.type == sst::EntryType::kPut || sst::IsPointEntry(key.type)) return;
    BlockProblem(fmt::format("key {} has {}", KeyText(key.user_key),
                             ToString(key.type)));
  }

  // Checks the record of an embedded blob.
  void CheckBlob(const sst::InternalKey& key) {
    if (!IsEmbeddedBlob(file_.file(), key.type, data_.value())) return;
    std::string contents;
    const Status status = blobs_.Read(data_.value(), &contents);
    if (!status.ok()) findings_.Failure(status);
  }

  // Checks two entries of which the second has no greater user key.
  void CheckVersions(int order, const sst::InternalKey& key) {
    // The latest write of a key is first: sequence and type, as a little-endian
    // number, decrease.
    const auto packed = [](std::string_view internal_key) {
      return LoadFixed<uint64_t>(internal_key.data() + internal_key.size() -
                                 sst::kInternalKeySuffixBytes);
    };
    if (order == 0 && packed(last_key_) > packed(data_.internal_key())) return;
    BlockProblem(fmt::format("key {}@{} out of order after {}",
                             KeyText(key.user_key), key.sequence,
                             KeyText(UserKeyOf(last_key_))));
  }

  void CheckRangeDeletions() {
    const Status status = file_.ForEachRangeDeletion(
        [this](const TableFile::RangeDeletion& range) {
          ++counts_.range_deletions;
          if (!ordered_ ||
              CompareUserKeys(file_.key_order(), 0,
                              format_.WithoutTimestamp(range.start),
                              format_.WithoutTimestamp(range.end)) <= 0) {
            return;
          }
          findings_.Problem(fmt::format(
              "{}: range deletion of [{}, {}) ends before it "
              "starts",
              file_.path(), KeyText(range.start), KeyText(range.end)));
        });
    if (!status.ok()) findings_.Failure(status);
  }

  // Reports the results of the filter check.
  void CheckFilter() {
    const FilterCheck::Result& result = filter_.Finish();
    counts_.has_filter = filter_.has_filter();
    counts_.keys_probed = result.keys_probed;
    counts_.rows_probed = result.rows_probed;
    counts_.false_negatives = result.false_negatives;
    for (const std::string& note : result.notes) findings_.Note(note);
    for (const std::string& problem : result.problems)
      findings_.Problem(problem);
    findings_.MoreProblems(result.problem_count - result.problems.size());
  }

  // Compares the counts with the properties, unless the file is damaged or a
  // part could not be read.
  void CheckProperties() {
    if (!findings_.all_is_well()) return;
    // `counts` are those of RocksDB's versions, the latest first.
    const auto check = [this](std::string_view name,
                              const std::optional<uint64_t>& expected,
                              std::initializer_list<uint64_t> counts) {
      if (!expected || std::ranges::find(counts, *expected) != counts.end()) {
        return;
      }
      findings_.Problem(fmt::format("{}: properties say {} {}, found {}",
                                    file_.path(), *expected, name,
                                    *counts.begin()));
    };
    // RocksDB counts range deletions with the others since 6.0, and deletions
    // with a timestamp since 7.9.
    const uint64_t ranges = counts_.range_deletions;
    check("entries", facts_.entries, {counts_.cells + ranges, counts_.cells});
    check("deletions", facts_.deletions,
          {deletions_ + ranges, deletions_ - timestamped_deletions_ + ranges,
           deletions_});
    check("range deletions", facts_.range_deletions, {ranges});
    if (facts_.data_blocks && *facts_.data_blocks < data_blocks_ &&
        MayHaveDictionary()) {
      findings_.Note(
          fmt::format("the number of data blocks is not checked: with a "
                      "dictionary, RocksDB "
                      "10.9 and later do not count the first ones, and say {}",
                      *facts_.data_blocks));
    } else {
      check("data blocks", facts_.data_blocks, {data_blocks_});
    }
  }

  // Tells whether the writer's options allowed a compression dictionary.
  bool MayHaveDictionary() const {
    constexpr std::string_view kOption = "max_dict_bytes=";
    const std::string_view options =
        file_.file().TextProperty("rocksdb.compression_options");
    const size_t at = options.find(kOption);
    return at != std::string_view::npos &&
           !options.substr(at + kOption.size()).starts_with("0;");
  }

  const SstTable& file_;
  const TableFacts facts_;
  const KeyFormat& format_;
  Findings& findings_;
  VerifyCounts& counts_;
  const sst::KeyOrder order_;
  const bool ordered_;
  // True: user keys that differ are different keys of the filter.
  const bool order_tells_keys_;
  FilterCheck filter_;
  sst::DataCursor data_;
  sst::EmbeddedBlobReader blobs_;

  std::set<std::string> told_;  // reported problems of blocks other than data
  uint64_t data_blocks_ = 0;
  uint64_t deletions_ = 0;
  uint64_t timestamped_deletions_ = 0;  // of these

  std::string last_key_;  // internal; empty before the first
  bool has_index_key_ = false;
  std::string index_key_;  // the previous block's
};

}  // namespace

void SstTable::Verify(const KeyFormat& format, Findings* findings,
                      VerifyCounts* counts) const {
  Verifier(*this, format, findings, counts).Run();
}

}  // namespace rowbloom::table
