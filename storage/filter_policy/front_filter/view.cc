#include "storage/filter_policy/front_filter/view.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace rowbloom::front_filter {
namespace {

// The sections that one row is looked for in. Their bytes are fetched together.
class Probes {
 public:
  Probes(uint64_t hash, const Kernel& kernel) : hash_(hash), kernel_(kernel) {}

  // Returns whether one of the sections so far was probed and has the row.
  bool Add(const SectionProbe& section) {
    section.Prefetch(hash_);
    sections_[count_++] = &section;
    return count_ == kTogether && Find();
  }

  // Probes those that were not yet.
  bool Find() {
    const size_t count = std::exchange(count_, 0);
    for (size_t i = 0; i < count; ++i) {
      if (sections_[i]->Find(kernel_, hash_)) return true;
    }
    return false;
  }

 private:
  static constexpr size_t kTogether = 32;

  const uint64_t hash_;
  const Kernel& kernel_;
  size_t count_ = 0;
  std::array<const SectionProbe*, kTogether> sections_;
};

// The rows among `wanted` that the section does not have.
uint32_t AbsentFrom(const SectionProbe& section, std::span<const Row> rows,
                    uint32_t wanted, const Kernel& kernel) {
  std::array<uint64_t, Kernel::kMaxMany> hashes;
  size_t count = 0;
  for (uint32_t left = wanted; left != 0; left &= left - 1) {
    hashes[count] = rows[static_cast<size_t>(std::countr_zero(left))].hash;
    section.Prefetch(hashes[count++]);
  }
  uint32_t found = section.FindMany(kernel, hashes.data(), count);
  uint32_t absent = 0;
  for (uint32_t left = wanted; left != 0; left &= left - 1) {
    if ((found & 1) == 0) absent |= left & -left;
    found >>= 1;
  }
  return absent;
}

}  // namespace

FileSet::FileSet(RowOrder order, std::vector<ListedFile> files)
    : order_(order), files_(std::move(files)) {
  for (auto first = files_.begin(); first != files_.end();) {
    const auto last = std::find_if(first, files_.end(), [first](const auto& f) {
      return f.level != first->level;
    });
    Run run;
    for (auto file = first; file != last; ++file) {
      numbers_.push_back(file->number);
      if (file->rows != nullptr) ++known_;
      run.push_back(&*file);
    }
    std::ranges::sort(run, {}, &ListedFile::low);
    const bool overlap =
        std::ranges::adjacent_find(run, [](const auto* a, const auto* b) {
          return a->high > b->low;
        }) != run.end();
    if (first->level > 0 && order != RowOrder::kUnknown && !overlap) {
      runs_.push_back(std::move(run));
    } else {
      for (const ListedFile* file : run) {
        if (file->rows == nullptr) {
          ranges_.push_back(file);
        } else {
          everywhere_.push_back(file->rows.get());
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
  const auto may_lie_in = [this, &row](const ListedFile* file) {
    return order_ == RowOrder::kUnknown ||
           MayLieBetween(file->low, file->high, row.bytes);
  };
  for (const ListedFile* file : ranges_) {
    if (may_lie_in(file) && see(nullptr)) return true;
  }
  for (const Run& run : runs_) {
    auto file = std::ranges::partition_point(
        run, [&row](const auto* f) { return f->high < row.bytes; });
    for (; file != run.end() && may_lie_in(*file); ++file) {
      if (see((*file)->rows.get())) return true;
    }
  }
  return false;
}

bool FileSet::MayHave(const Row& row, const Kernel& kernel) const {
  Probes probes(row.hash, kernel);
  for (const FileRows* rows : everywhere_) {
    if (probes.Add(rows->probe())) return true;
  }
  return InFilesOfRow(row,
                      [&probes](const FileRows* rows) {
                        return rows == nullptr || probes.Add(rows->probe());
                      }) ||
         probes.Find();
}

uint32_t FileSet::Absent(std::span<const Row> rows, uint32_t wanted,
                         const Kernel& kernel) const {
  for (const FileRows* file : everywhere_) {
    if (wanted == 0) return 0;
    wanted = AbsentFrom(file->probe(), rows, wanted, kernel);
  }
  for (uint32_t left = wanted; left != 0; left &= left - 1) {
    const Row& row = rows[static_cast<size_t>(std::countr_zero(left))];
    Probes probes(row.hash, kernel);
    if (InFilesOfRow(row,
                     [&probes](const FileRows* found) {
                       return found == nullptr || probes.Add(found->probe());
                     }) ||
        probes.Find()) {
      wanted &= ~(left & -left);
    }
  }
  return wanted;
}

bool View::MayHave(const Row& row) const {
  if (announced_unknown) return true;
  for (const auto& memtable : memtables) memtable->Prefetch(row.hash);
  for (const auto& file : announced) {
    if (file->probe().Find(*kernel, row.hash)) return true;
  }
  for (const auto& memtable : memtables) {
    if (memtable->MayHave(row.hash)) return true;
  }
  return files->MayHave(row, *kernel);
}

uint32_t View::Absent(std::span<const Row> rows) const {
  if (announced_unknown || rows.empty()) return 0;
  uint32_t absent = ~uint32_t{0} >> (Kernel::kMaxMany - rows.size());
  for (const auto& file : announced) {
    absent = AbsentFrom(file->probe(), rows, absent, *kernel);
  }
  for (const auto& memtable : memtables) {
    for (const Row& row : rows) memtable->Prefetch(row.hash);
    for (uint32_t left = absent; left != 0; left &= left - 1) {
      const Row& row = rows[static_cast<size_t>(std::countr_zero(left))];
      if (memtable->MayHave(row.hash)) absent &= ~(left & -left);
    }
  }
  return files->Absent(rows, absent, *kernel);
}

}  // namespace rowbloom::front_filter
