// The checks of `verify` in an SST: each block, the order of keys, the index
// against the data, the properties against both, and the filter.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "tools/sst_inspect/filter_check.h"
#include "tools/sst_inspect/key_format.h"
#include "tools/sst_inspect/sst_table.h"

namespace rowbloom::sst_inspect {
namespace {

using rocksdb::Status;

// One file, checked from end to end in one pass over its data.
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
        filter_(file, format_) {}

  void Run() {
    CheckOtherBlocks();
    OpenFilter();
    CheckCells();
    CheckFilter();
    CheckRangeDeletions();
    CheckProperties();
  }

 private:
  void Problem(const std::string& text) {
    whole_ = false;
    findings_.Problem(text);
  }
  void Failure(const Status& status) {
    whole_ = false;
    findings_.Failure(status);
  }

  std::string KeyText(std::string_view key) const {
    return format_.ShortText(key);
  }

  void CheckOtherBlocks() {
    const auto check = [this](const BlockInfo& block) {
      ++counts_.blocks;
      if (block.status.ok()) return;
      ++counts_.damaged_blocks;
      Failure(block.status);
      told_.insert(block.status.ToString());
    };
    const Status status =
        file_.ForEachBlock(TableFile::Blocks::kAllButData, check);
    if (!status.ok()) Failure(status);
  }

  void OpenFilter() {
    const Status status = filter_.Open();
    if (!status.ok() && !status.IsCorruption()) Failure(status);
    if (!ordered_) {
      findings_.Note("the order of keys is not checked: comparator " +
                     facts_.comparator + " is not known");
    }
  }

  void CheckCells() {
    const std::unique_ptr<CellReader> cells = file_.NewCellReader();
    do {
      while (cells->NextBlock()) {
        ++counts_.blocks;
        ++data_blocks_;
        const IndexEntryInfo block = cells->block();
        bool empty = true;
        for (auto entries = cells->NextEntries(); !entries.empty();
             entries = cells->NextEntries()) {
          if (empty) CheckFirst(entries.front(), block);
          empty = false;
          CheckEntries(entries, block);
        }
        if (!cells->block_status().ok()) {
          ++counts_.damaged_blocks;
          Failure(cells->block_status());
        } else {
          CheckLast(block, empty);
        }
      }
      if (!cells->index_status().ok()) {
        whole_ = false;
        // Damage of an index block was met before.
        if (!told_.contains(cells->index_status().ToString())) {
          Failure(cells->index_status());
        }
      }
    } while (cells->SkipDamagedPartition());
  }

  int Compare(std::string_view a, std::string_view b) const {
    return CompareUserKeys(order_, format_.timestamp_bytes, a, b);
  }

  // Compares what is behind the bytes that they share; mostly one tells.
  int CompareWithLast(const Cell& last, const Cell& cell) const {
    if (!order_tells_keys_) return Compare(last.user_key, cell.user_key);
    const size_t shared = std::min(
        {cell.shared_key_bytes, last.user_key.size(), cell.user_key.size()});
    return Compare(last.user_key.substr(shared), cell.user_key.substr(shared));
  }

  void CheckFirst(const Cell& cell, const IndexEntryInfo& block) {
    if (ordered_ && has_index_key_ && Compare(cell.user_key, index_key_) < 0) {
      Problem(fmt::format(
          "{}: block at offset {}: first key {} comes before {}, up to which "
          "the index says the block before it goes",
          file_.path(), block.handle.offset_bytes, KeyText(cell.user_key),
          KeyText(index_key_)));
    }
    if (!block.first_key.empty() && block.first_key != cell.stored_key) {
      Problem(fmt::format(
          "{}: block at offset {}: first key {} expected by the index, found "
          "{}",
          file_.path(), block.handle.offset_bytes, KeyText(block.first_key),
          KeyText(cell.stored_key)));
    }
  }

  void CheckLast(const IndexEntryInfo& block, bool empty) {
    if (empty) {
      Problem(fmt::format("{}: block at offset {}: no entries, expected some",
                          file_.path(), block.handle.offset_bytes));
      return;
    }
    if (ordered_ && Compare(last_user_key_, block.user_key) > 0) {
      Problem(fmt::format(
          "{}: block at offset {}: last key {} comes after {}, up to which the "
          "index says it goes",
          file_.path(), block.handle.offset_bytes, KeyText(last_user_key_),
          KeyText(block.user_key)));
    }
    has_index_key_ = true;
    index_key_.assign(block.user_key);
  }

  // REQUIRES entries of one block, the next ones.
  void CheckEntries(std::span<const Cell> entries,
                    const IndexEntryInfo& block) {
    std::array<std::string_view, CellReader::kMostCells> keys;
    size_t key_count = 0;
    bool ascending = ordered_;
    const Cell before{.user_key = last_user_key_,
                      .stored_key = last_stored_key_};
    const Cell* last = counts_.cells > 0 ? &before : nullptr;
    for (const Cell& cell : entries) {
      CheckType(cell, block);
      const int order =
          ordered_ && last != nullptr ? CompareWithLast(*last, cell) : -1;
      if (order >= 0) CheckVersions(order, *last, cell, block);
      ascending = ascending && order <= 0;
      const std::string_view key = format_.WithoutTimestamp(cell.user_key);
      const bool new_key =
          order_tells_keys_
              ? order != 0
              : last == nullptr ||
                    key != format_.WithoutTimestamp(last->user_key);
      if (new_key) keys[key_count++] = key;
      last = &cell;
    }
    counts_.cells += entries.size();
    last_user_key_.assign(last->user_key);
    last_stored_key_.assign(last->stored_key);
    filter_.Add({keys.data(), key_count}, ascending);
  }

  void CheckType(const Cell& cell, const IndexEntryInfo& block) {
    const auto type = static_cast<sst::EntryType>(cell.type);
    deletions_ += sst::IsDeletion(type) ? 1 : 0;
    if (type == sst::EntryType::kPut || sst::IsPointEntry(type)) return;
    Problem(fmt::format("{}: block at offset {}: key {} has {}", file_.path(),
                        block.handle.offset_bytes, KeyText(cell.user_key),
                        ToString(type)));
  }

  // Checks two cells whose user keys do not rise.
  void CheckVersions(int order, const Cell& last, const Cell& cell,
                     const IndexEntryInfo& block) {
    // The latest write of a key comes first: sequence and type, as a
    // little-endian number, fall.
    const auto packed = [](std::string_view stored) {
      uint64_t value = 0;
      for (size_t i = 1; i <= sst::kInternalKeySuffixBytes; ++i) {
        value =
            value << 8 | static_cast<unsigned char>(stored[stored.size() - i]);
      }
      return value;
    };
    if (order == 0 && packed(last.stored_key) > packed(cell.stored_key)) {
      return;
    }
    Problem(fmt::format(
        "{}: block at offset {}: key {}@{} out of order after "
        "{}",
        file_.path(), block.handle.offset_bytes, KeyText(cell.user_key),
        cell.sequence, KeyText(last.user_key)));
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
          Problem(fmt::format(
              "{}: range deletion of [{}, {}) ends before it "
              "starts",
              file_.path(), KeyText(range.start), KeyText(range.end)));
        });
    if (!status.ok()) Failure(status);
  }

  // Reports the filter's answers to the cells.
  void CheckFilter() {
    const FilterCheck::Result& result = filter_.Finish();
    counts_.has_filter = filter_.has_filter();
    counts_.keys_asked = result.keys_asked;
    counts_.rows_asked = result.rows_asked;
    counts_.false_negatives = result.false_negatives;
    for (const std::string& note : result.notes) findings_.Note(note);
    for (const std::string& problem : result.problems) Problem(problem);
    findings_.MoreProblems(result.problem_count - result.problems.size());
  }

  // Checks the properties of a file that was read whole.
  void CheckProperties() {
    if (!whole_) return;
    const auto check = [this](std::string_view name,
                              const std::optional<uint64_t>& expected,
                              uint64_t found) {
      if (!expected || *expected == found) return;
      Problem(fmt::format("{}: properties say {} {}, found {}", file_.path(),
                          *expected, name, found));
    };
    check("entries", facts_.entries, counts_.cells + counts_.range_deletions);
    check("deletions", facts_.deletions, deletions_ + counts_.range_deletions);
    check("range deletions", facts_.range_deletions, counts_.range_deletions);
    check("data blocks", facts_.data_blocks, data_blocks_);
  }

  const SstTable& file_;
  const TableFacts facts_;
  const KeyFormat& format_;
  Findings& findings_;
  VerifyCounts& counts_;
  const sst::KeyOrder order_;
  const bool ordered_;
  const bool order_tells_keys_;  // keys that are not equal differ to the filter
  FilterCheck filter_;

  bool whole_ = true;           // all was read, and nothing is damaged
  std::set<std::string> told_;  // problems of blocks other than data
  uint64_t data_blocks_ = 0;
  uint64_t deletions_ = 0;

  std::string last_user_key_;
  std::string last_stored_key_;
  bool has_index_key_ = false;
  std::string index_key_;  // the previous block's
};

}  // namespace

void SstTable::Verify(const KeyFormat& format, Findings* findings,
                      VerifyCounts* counts) const {
  Verifier(*this, format, findings, counts).Run();
}

}  // namespace rowbloom::sst_inspect
