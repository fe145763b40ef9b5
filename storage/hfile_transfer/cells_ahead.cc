#include "storage/hfile_transfer/cells_ahead.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "storage/format/no_exceptions.h"

namespace rowbloom::hfile_transfer {
namespace {

using rocksdb::Status;

constexpr size_t kBatchBytes = 64 << 10;
constexpr size_t kBatchCells = 1024;

}  // namespace

CellsAhead::~CellsAhead() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Status CellsAhead::Start() {
  thread_ = std::thread([this] { Read(); });
  return Await();
}

Status CellsAhead::Next() {
  if (++at_ < here().cells.size()) return Status::OK();
  const Batch& batch = here();
  if (!batch.status.ok() || batch.is_last) return batch.status;
  {
    const std::lock_guard lock(mutex_);
    ++taken_;
  }
  changed_.notify_all();
  at_ = 0;
  return Await();
}

Status CellsAhead::Await() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return filled_ > taken_; });
  return here().cells.empty() ? here().status : Status::OK();
}

void CellsAhead::Read() {
  for (bool more = true; more;) {
    Batch* batch = nullptr;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stop_ || filled_ < taken_ + 2; });
      if (stop_) return;
      batch = &batches_[filled_ % 2];
    }
    Fill(batch);
    more = batch->status.ok() && !batch->is_last;
    {
      const std::lock_guard lock(mutex_);
      ++filled_;
    }
    changed_.notify_all();
  }
}

void CellsAhead::Fill(Batch* batch) {
  batch->cells.clear();
  batch->size = 0;
  batch->status = CatchExceptions([&] {
    Status s;
    if (!is_started_) s = source_.Start();
    is_started_ = true;
    while (s.ok() && source_.Valid() && Append(source_, batch)) {
      s = source_.Next();
    }
    return s;
  });
  batch->is_last = !source_.Valid();
  batch->files_read = source_.files_read();
}

bool CellsAhead::Append(const MergedCells& source, Batch* batch) {
  const HFileCellView& cell = source.cell();
  const size_t needed = cell.row.size() + cell.family.size() +
                        cell.qualifier.size() + cell.value.size() +
                        cell.tags.size();
  if (needed > batch->capacity - batch->size ||
      batch->cells.size() == kBatchCells) {
    if (!batch->cells.empty()) return false;
    if (needed > batch->capacity) {
      batch->capacity = 0;
      const size_t capacity = std::max(needed, kBatchBytes);
      batch->bytes = std::make_unique_for_overwrite<char[]>(capacity);
      batch->capacity = capacity;
    }
  }
  batch->cells.push_back({cell, &source.file(), source.files_read()});
  HFileCellView& copy = batch->cells.back().cell;
  for (std::string_view* part :
       {&copy.row, &copy.family, &copy.qualifier, &copy.value, &copy.tags}) {
    char* const to = batch->bytes.get() + batch->size;
    if (!part->empty()) std::memcpy(to, part->data(), part->size());
    batch->size += part->size();
    *part = {to, part->size()};
  }
  return true;
}

}  // namespace rowbloom::hfile_transfer
