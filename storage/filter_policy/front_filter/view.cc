#include "storage/filter_policy/front_filter/view.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace rowbloom::front_filter {
namespace {

// Calls see(i) for the rows of a mask.
template <typename See>
void ForEach(uint32_t rows, const See& see) {
  for (; rows != 0; rows &= rows - 1) {
    see(static_cast<size_t>(std::countr_zero(rows)));
  }
}

bool MayHaveKey(const FileRows& file, const Row& row, const Kernel& kernel) {
  return file.MayHaveKey(row.hash, row.qualifier, kernel);
}

// Collects probes, each of one row in one file. The bytes of up to 32 are
// fetched before the first is probed.
class Probes {
 public:
  Probes(const RowBatch& rows, const Kernel& kernel)
      : rows_(rows), kernel_(kernel) {}

  void Add(size_t row, const FileRows* file) {
    file->probe().Prefetch(rows_[row].hash);
    probes_[count_++] = {.row = row, .file = file};
    if (count_ == probes_.size()) Probe();
  }

  // The rows that were found.
  uint32_t Find() {
    if (count_ > 0) Probe();
    return found_;
  }

 private:
  struct One {
    size_t row;
    const FileRows* file;
  };

  void Probe() {
    const size_t count = std::exchange(count_, 0);
    for (size_t i = 0; i < count; ++i) {
      const auto [number, file] = probes_[i];
      const Row& row = rows_[number];
      if (file->probe().Find(kernel_, row.hash) &&
          MayHaveKey(*file, row, kernel_)) {
        found_ |= uint32_t{1} << number;
      }
    }
  }

  const RowBatch& rows_;
  const Kernel& kernel_;
  uint32_t found_ = 0;
  size_t count_ = 0;
  std::array<One, 32> probes_;
};

}  // namespace

void SectionSet::Add(const FileRows* file) {
  const BloomBlocks* const section = file->probe().blooms();
  if (section == nullptr) return ribbons_.push_back(file);
  auto group = std::ranges::find_if(blooms_, [section](const Group& one) {
    return one.sections.front().probes == section->probes &&
           one.sections.size() < Kernel::kMaxMany;
  });
  if (group == blooms_.end()) group = blooms_.emplace(group);
  group->sections.push_back(*section);
  group->files.push_back(file);
}

// Calls the kernel once for each row, with all files.
uint32_t SectionSet::Group::FindEachRow(const RowBatch& rows, uint32_t wanted,
                                        const Kernel& kernel) const {
  uint32_t found = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i + 1 < rows.size()) Prefetch(rows[i + 1].hash);
    if ((wanted >> i & 1) == 0) continue;
    uint32_t in =
        kernel.sections_with(sections.data(), sections.size(), rows[i].hash);
    while (in != 0) {
      const auto file = static_cast<size_t>(std::countr_zero(in));
      in &= in - 1;
      if (!MayHaveKey(*files[file], rows[i], kernel)) continue;
      found |= uint32_t{1} << i;
      break;
    }
  }
  return found;
}

// Calls the kernel once for each file, with all rows.
uint32_t SectionSet::Group::FindInEachFile(const RowBatch& rows,
                                           uint32_t wanted,
                                           const Kernel& kernel) const {
  for (size_t i = 0; i < rows.size(); ++i) Prefetch(rows[i].hash);
  uint32_t found = 0;
  for (size_t file = 0; file < files.size(); ++file) {
    const uint32_t in =
        kernel.may_contain_many(sections[file], rows.hashes(), rows.size());
    ForEach(in & wanted & ~found, [&](size_t i) {
      if (MayHaveKey(*files[file], rows[i], kernel)) found |= uint32_t{1} << i;
    });
  }
  return found;
}

uint32_t SectionSet::Find(const RowBatch& rows, uint32_t wanted,
                          const Kernel& kernel) const {
  uint32_t found = 0;
  for (const Group& group : blooms_) {
    // Chooses the way with fewer calls of the kernel.
    found |= group.files.size() < rows.size()
                 ? group.FindInEachFile(rows, wanted & ~found, kernel)
                 : group.FindEachRow(rows, wanted & ~found, kernel);
  }
  if (ribbons_.empty()) return found;
  Probes probes(rows, kernel);
  ForEach(wanted & ~found, [&](size_t i) {
    for (const FileRows* file : ribbons_) probes.Add(i, file);
  });
  return found | probes.Find();
}

FileSet::FileSet(RowOrder order, std::vector<ListedFile> files)
    : order_(order), files_(std::move(files)) {
  for (auto first = files_.begin(); first != files_.end();) {
    const auto last = std::find_if(first, files_.end(), [first](const auto& f) {
      return f.level != first->level;
    });
    std::vector<const ListedFile*> run;
    for (auto file = first; file != last; ++file) {
      numbers_.push_back(file->number);
      if (file->rows != nullptr) {
        ++known_;
        row_bytes_ += file->rows->bytes();
      }
      if (file->rows != nullptr && file->rows->has_cells()) ++with_cells_;
      run.push_back(&*file);
    }
    std::ranges::sort(run, {}, &ListedFile::low);
    // RocksDB before 6.11 could write a file of range deletes alone that ends
    // before it begins.
    const bool in_order =
        std::ranges::all_of(run,
                            [](const auto* f) { return f->low <= f->high; }) &&
        std::ranges::adjacent_find(run, [](const auto* a, const auto* b) {
          return a->high > b->low;
        }) == run.end();
    // A single file is probed for each row: that is faster than a search.
    if (first->level > 0 && order != RowOrder::kUnknown && in_order &&
        run.size() > 1) {
      runs_.emplace_back(std::move(run));
    } else {
      for (const ListedFile* file : run) {
        if (file->rows == nullptr) {
          ranges_.push_back(file);
        } else {
          everywhere_.Add(file->rows.get());
        }
      }
    }
    first = last;
  }
  std::ranges::sort(numbers_);
}

bool FileSet::Has(uint64_t number) const {
  return std::ranges::binary_search(numbers_, number);
}

template <typename See>
bool FileSet::InFilesOfRow(const Row& row, const See& see) const {
  for (const ListedFile* file : ranges_) {
    const bool may_lie_in = order_ == RowOrder::kUnknown ||
                            MayLieBetween(file->low, file->high, row.bytes);
    if (may_lie_in && see(nullptr)) return true;
  }
  return std::ranges::any_of(
      runs_, [&](const FileRun& run) { return run.InFilesOf(row.bytes, see); });
}

uint32_t FileSet::Find(const RowBatch& rows, uint32_t wanted,
                       const Kernel& kernel) const {
  uint32_t found = 0;
  // Their sections load while those of everywhere_ are probed.
  Probes probes(rows, kernel);
  if (!ranges_.empty() || !runs_.empty()) {
    ForEach(wanted, [&](size_t i) {
      const bool unknown = InFilesOfRow(rows[i], [&](const FileRows* file) {
        if (file != nullptr) probes.Add(i, file);
        return file == nullptr;
      });
      if (unknown) found |= uint32_t{1} << i;
    });
  }
  found |= everywhere_.Find(rows, wanted & ~found, kernel);
  return found | probes.Find();
}

uint32_t View::Absent(const RowBatch& rows) const {
  if (announced_unknown) return 0;
  for (const auto& memtable : memtables) {
    if (!memtable->HasRows()) continue;
    for (size_t i = 0; i < rows.size(); ++i) {
      memtable->Prefetch(rows[i].memtable_hash());
    }
  }
  uint32_t found = 0;
  for (const auto& memtable : memtables) {
    if (!memtable->HasRows()) continue;
    ForEach(rows.all() & ~found, [&](size_t i) {
      if (memtable->MayHave(rows[i].memtable_hash())) found |= uint32_t{1} << i;
    });
  }
  if (!announced.empty()) {
    found |= announced_sections.Find(rows, rows.all() & ~found, *kernel);
  }
  const uint32_t wanted = rows.all() & ~found;
  return wanted & ~files->Find(rows, wanted, *kernel);
}

}  // namespace rowbloom::front_filter
