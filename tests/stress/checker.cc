#include "tests/stress/checker.h"

#include <algorithm>
#include <memory>
#include <string_view>

#include "tests/stress/key_space.h"
#include "tests/support/hex.h"

namespace rowbloom::stress {

using rocksdb::Iterator;
using rocksdb::ReadOptions;
using rocksdb::Slice;
using rocksdb::Status;

ReadOptions Checker::Options() const {
  ReadOptions options;
  options.verify_checksums = setting_.verify_checksums;
  options.snapshot = setting_.snapshot;
  return options;
}

bool Checker::Answered(const Status& status, const char* what,
                       const std::string& key) const {
  ++setting_.report->counters.reads_checked;
  if (status.ok() || status.IsNotFound()) return true;
  if (setting_.errors == Errors::kIoErrorOrCorruption &&
      (status.IsIOError() || status.IsCorruption())) {
    ++setting_.report->counters.errors;
    return false;
  }
  setting_.report->Divergence(std::string(what) + ": " + status.ToString(),
                              key);
  return false;
}

void Checker::CompareValue(const Worlds& worlds, const char* what,
                           const std::string& key, bool found,
                           const std::string& value) const {
  for (const Cells* cells : worlds) {
    const auto expected = cells->find(key);
    if (found ? expected != cells->end() && expected->second == value
              : expected == cells->end()) {
      return;
    }
  }
  const auto expected = worlds.front()->find(key);
  setting_.report->Divergence(
      std::string(what) + ": found " + (found ? "'" + value + "'" : "nothing") +
          ", expected " +
          (expected == worlds.front()->end() ? "nothing"
                                             : "'" + expected->second + "'"),
      key);
}

void Checker::Get(const Worlds& worlds, const std::string& key,
                  bool twice) const {
  std::string value;
  const Status status = setting_.db->Get(Options(), key, &value);
  if (Answered(status, "get", key)) {
    CompareValue(worlds, "get", key, status.ok(), value);
  }
  if (!twice || !setting_.iterators) return;
  ReadOptions options = Options();
  options.total_order_seek = true;
  const std::unique_ptr<Iterator> it(setting_.db->NewIterator(options));
  it->Seek(key);
  const bool found = it->Valid() && it->key() == key;
  if (Answered(it->status(), "get without filter", key)) {
    CompareValue(worlds, "get without filter", key, found,
                 found ? it->value().ToString() : "");
  }
}

void Checker::MultiGet(const Worlds& worlds,
                       const std::vector<std::string>& keys) const {
  const std::vector<Slice> slices(keys.begin(), keys.end());
  std::vector<rocksdb::PinnableSlice> values(keys.size());
  std::vector<Status> statuses(keys.size());
  setting_.db->MultiGet(Options(), setting_.db->DefaultColumnFamily(),
                        keys.size(), slices.data(), values.data(),
                        statuses.data());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (Answered(statuses[i], "multiget", keys[i])) {
      CompareValue(worlds, "multiget", keys[i], statuses[i].ok(),
                   values[i].ToString());
    }
  }
}

void Checker::Rows(const Worlds& worlds, const std::vector<std::string>& rows,
                   test::Random* random) const {
  if (setting_.front == nullptr) return;
  const std::vector<std::string_view> views(rows.begin(), rows.end());
  const auto may_have = std::make_unique<bool[]>(rows.size());
  auto* const family = setting_.front->DefaultColumnFamily();
  setting_.front->front_filter()->MayHaveRows(family, views,
                                              {may_have.get(), rows.size()});
  setting_.report->counters.reads_checked += rows.size();
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto has_row = [&](const Cells* cells) {
      const auto cell = cells->lower_bound(rows[i]);
      return cell != cells->end() && cell->first.starts_with(rows[i]);
    };
    if (!may_have[i] && std::ranges::all_of(worlds, has_row)) {
      setting_.report->Divergence("front filter: an absent row has cells",
                                  rows[i]);
    }
    if (!setting_.iterators || !random->OneIn(16)) continue;
    bool exists = false;
    const Status status =
        setting_.front->RowExists(Options(), family, rows[i], &exists);
    // The family has no front filter, or one of another layout.
    if (status.IsNotSupported() || status.IsInvalidArgument()) continue;
    if (!Answered(status, "row exists", rows[i])) continue;
    if (std::ranges::none_of(worlds, [&](const Cells* cells) {
          return has_row(cells) == exists;
        })) {
      setting_.report->Divergence(
          std::string("row exists: ") + (exists ? "true" : "false"), rows[i]);
    }
  }
}

template <typename Expected>
void Checker::CompareRun(const Worlds& worlds, const char* what,
                         const std::string& key, const Run& found,
                         Expected expected) const {
  for (const Cells* cells : worlds) {
    if (found == expected(*cells)) return;
  }
  const Run wanted = expected(*worlds.front());
  const auto [a, b] =
      std::mismatch(found.begin(), found.end(), wanted.begin(), wanted.end());
  const auto show = [](const Run& run, Run::const_iterator it) {
    return it == run.end() ? "the end"
                           : test::ToHex(it->first) + "='" + it->second + "'";
  };
  setting_.report->Divergence(
      std::string(what) + ": " + std::to_string(found.size()) + " of " +
          std::to_string(wanted.size()) + " cells; found " + show(found, a) +
          " where expected " + show(wanted, b),
      key);
}

void Checker::PrefixScan(const Worlds& worlds, const std::string& key,
                         const std::string& share_prefix,
                         test::Random* random) const {
  if (!setting_.iterators) return;
  const rocksdb::SliceTransform* extractor = setting_.extractor;
  if (extractor == nullptr || !extractor->InDomain(key)) return;
  const std::string prefix = extractor->Transform(key).ToString();
  if (!prefix.starts_with(share_prefix)) return;
  const std::string last = LastWithPrefix(prefix);
  // A short key is a prefix of its own to the capped transform.
  const bool last_is_inside = extractor->Transform(last) == prefix;
  const auto is_inside = [&](const std::string& other) {
    return other.starts_with(prefix) && extractor->InDomain(other) &&
           extractor->Transform(other) == prefix;
  };

  enum Mode {
    kForward,
    kBackward,
    kAutoForward,
    kAutoBackward,
    kPlain,
    kModes
  };
  const auto mode = static_cast<Mode>(random->Below(kModes));
  const bool from_key = random->OneIn(3);
  const bool is_backward = mode == kBackward || mode == kAutoBackward;
  const bool is_auto = mode == kAutoForward || mode == kAutoBackward;
  if ((is_auto || (is_backward && !from_key)) && !last_is_inside) return;
  const std::string start = from_key ? key : is_backward ? last : prefix;

  ReadOptions options = Options();
  const Slice lower_bound(prefix);
  const Slice upper_bound(last);
  if (is_auto) {
    options.auto_prefix_mode = true;
    options.iterate_lower_bound = &lower_bound;
    options.iterate_upper_bound = &upper_bound;
  } else if (mode != kPlain) {
    options.prefix_same_as_start = true;
  }
  const std::unique_ptr<Iterator> it(setting_.db->NewIterator(options));
  Run found;
  if (is_backward) {
    it->SeekForPrev(start);
  } else {
    it->Seek(start);
  }
  while (it->Valid()) {
    // Without bounds, the application looks where its rows end.
    if (mode == kPlain && !is_inside(it->key().ToString())) break;
    found.emplace_back(it->key().ToString(), it->value().ToString());
    is_backward ? it->Prev() : it->Next();
  }
  static constexpr const char* kNames[] = {
      "row scan", "row scan backward", "auto_prefix_mode scan",
      "auto_prefix_mode scan backward", "row scan without options"};
  if (!Answered(it->status(), kNames[mode], start)) return;
  CompareRun(worlds, kNames[mode], start, found, [&](const Cells& cells) {
    Run run;
    for (auto cell = cells.lower_bound(is_backward ? prefix : start);
         cell != cells.end() && cell->first.starts_with(prefix); ++cell) {
      if (is_backward && cell->first > start) break;
      if (is_auto || is_inside(cell->first)) run.push_back(*cell);
    }
    if (is_backward) std::reverse(run.begin(), run.end());
    return run;
  });
}

void Checker::TotalOrderScan(const Worlds& worlds, const std::string& begin,
                             const std::string& end) const {
  if (!setting_.iterators) return;
  ReadOptions options = Options();
  options.total_order_seek = true;
  const Slice upper_bound(end);
  options.iterate_upper_bound = &upper_bound;
  const std::unique_ptr<Iterator> it(setting_.db->NewIterator(options));
  Run found;
  for (it->Seek(begin); it->Valid(); it->Next()) {
    found.emplace_back(it->key().ToString(), it->value().ToString());
  }
  if (!Answered(it->status(), "total order scan", begin)) return;
  CompareRun(worlds, "total order scan", begin, found, [&](const Cells& cells) {
    return Run(cells.lower_bound(begin), cells.lower_bound(end));
  });
}

}  // namespace rowbloom::stress
