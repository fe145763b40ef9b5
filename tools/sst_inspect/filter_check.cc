#include "tools/sst_inspect/filter_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

namespace rowbloom::sst_inspect {

using rocksdb::Status;

FilterCheck::FilterCheck(const SstTable& file, const KeyFormat& format)
    : file_(file),
      facts_(file.Facts()),
      format_(format),
      prefix_of_(PrefixRuleOf(facts_.prefix_extractor)) {}

FilterCheck::~FilterCheck() { Stop(); }

Status FilterCheck::Open() {
  const Status status = filter_.Open(file_);
  if (has_filter() && !filter_.askable()) {
    result_.notes.insert(
        "the filter is not checked: of a partitioned one the comparator " +
        facts_.comparator + " would have to be known");
  }
  if (facts_.prefix_filter && !prefix_of_) {
    result_.notes.insert("the filter's prefixes are not checked: extractor " +
                         facts_.prefix_extractor + " is not known");
  }
  return status;
}

void FilterCheck::Keys::Clear() {
  bytes.clear();
  ends.clear();
  ascending = true;
}

void FilterCheck::Add(std::span<const std::string_view> keys, bool ascending) {
  constexpr size_t kMostBytes = size_t{256} << 10;
  if (!filter_.askable()) return;
  for (const std::string_view key : keys) {
    if (!next_.ends.empty() && next_.bytes.size() + key.size() > kMostBytes) {
      HandOver();
    }
    next_.bytes.append(key);
    next_.ends.push_back(next_.bytes.size());
    next_.ascending = next_.ascending && ascending;
  }
}

void FilterCheck::HandOver() {
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { Work(); });
    } catch (const std::system_error&) {  // no more threads
      Ask(next_);
      next_.Clear();
      return;
    }
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !is_handed_; });
  std::swap(next_, handed_);
  is_handed_ = true;
  changed_.notify_one();
  lock.unlock();
  next_.Clear();
}

void FilterCheck::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_handed_ || is_over_; });
    if (!is_handed_) return;
    lock.unlock();
    std::exception_ptr failure;
    try {
      Ask(handed_);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure && !failure_) failure_ = failure;
    is_handed_ = false;
    changed_.notify_one();
  }
}

void FilterCheck::Stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

const FilterCheck::Result& FilterCheck::Finish() {
  Stop();
  if (failure_) std::rethrow_exception(failure_);
  Ask(next_);
  next_.Clear();
  return result_;
}

void FilterCheck::Ask(const Keys& keys) {
  std::array<std::string_view, DecodedFilter::kMostKeys> views;
  const std::string_view bytes = keys.bytes;
  size_t start = 0;
  for (size_t i = 0; i < keys.ends.size();) {
    size_t count = 0;
    for (; count < views.size() && i < keys.ends.size(); ++i, ++count) {
      views[count] = bytes.substr(start, keys.ends[i] - start);
      start = keys.ends[i];
    }
    AskFor(std::span(views).first(count), keys.ascending);
  }
}

// Lookups of several keys wait for memory at once.
void FilterCheck::AskFor(std::span<const std::string_view> keys,
                         bool ascending) {
  while (!keys.empty()) {
    const size_t count = filter_.CountInOnePartition(keys, ascending);
    LoadPartition(filter_.PartitionFor(keys.front()));
    // A partition that cannot be read is reported as a block.
    if (asked_ != nullptr) AskPartition(keys.first(count));
    keys = keys.subspan(count);
  }
}

void FilterCheck::LoadPartition(size_t partition) {
  if (partition == filter_.partition()) return;
  Status status;
  asked_ = filter_.Load(partition, &status);
  if (asked_ != nullptr) CheckPartition(*asked_);
  last_prefix_.reset();
  const auto* own =
      asked_ != nullptr && asked_->rowbloom() ? &*asked_->rowbloom() : nullptr;
  rows_are_filters_ = own != nullptr && format_.layout &&
                      format_.layout->ToString() == own->layout_id();
}

void FilterCheck::CheckPartition(const DecodedFilter& filter) {
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
                         file_.file().filter().compatibility_name +
                         " is not known");
  }
}

void FilterCheck::AskPartition(std::span<const std::string_view> keys) {
  std::array<DecodedFilter::KeyAnswer, DecodedFilter::kMostKeys> answers;
  if (facts_.whole_key_filter || asked_->is_rowbloom()) {
    asked_->AskForKeys(keys, answers);
    result_.keys_asked += keys.size();
    for (size_t i = 0; i < keys.size(); ++i) {
      if (!answers[i].may_match) FalseNegative("key", keys[i]);
    }
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    if (rows_are_filters_ && answers[i].row_passed) {
      ++result_.rows_asked;
    } else {
      AskForPrefix(keys[i]);
    }
  }
}

void FilterCheck::AskForPrefix(std::string_view key) {
  std::optional<std::string_view> prefix;
  if (asked_->is_rowbloom()) {
    if (const auto split = format_.Split(key)) prefix = split->row;
  } else if (facts_.prefix_filter && prefix_of_) {
    prefix = prefix_of_(key);
  }
  if (!prefix) return;
  ++result_.rows_asked;
  // The same answer again.
  if (last_prefix_ == *prefix) return;
  if (!asked_->PrefixMayMatch(*prefix)) {
    FalseNegative(asked_->is_rowbloom() ? "row" : "prefix", *prefix);
    last_prefix_.reset();
    return;
  }
  last_prefix_.emplace(*prefix);
}

void FilterCheck::Problem(std::string text) {
  ++result_.problem_count;
  if (result_.problems.size() == kMostProblems) return;
  result_.problems.push_back(std::move(text));
}

void FilterCheck::FalseNegative(std::string_view what, std::string_view bytes) {
  ++result_.false_negatives;
  Problem(fmt::format(
      "{}: false negative: {} {} is in the file, filter partition {} says it "
      "is not",
      file_.path(), what, format_.ShortText(bytes), filter_.partition() + 1));
}

}  // namespace rowbloom::sst_inspect
