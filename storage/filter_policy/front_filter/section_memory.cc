#include "storage/filter_policy/front_filter/section_memory.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "storage/format/huge_pages.h"

namespace rowbloom::front_filter {
namespace {

constexpr size_t kLineBytes = 64;
// Smaller sections have few small pages, and occur in small databases.
constexpr size_t kMinBytes = size_t{64} << 10;

constexpr size_t RoundUp(size_t size_bytes) {
  return (std::max<size_t>(size_bytes, 1) + kLineBytes - 1) / kLineBytes *
         kLineBytes;
}

std::byte* AllocateOnHugePages(size_t size_bytes) {
  void* const bytes = NewOnHugePages(size_bytes);
  if (bytes == nullptr) throw std::bad_alloc();
  return static_cast<std::byte*>(bytes);
}

// Sections that share huge pages. Each takes the first gap that is large
// enough, and a page without sections is given back.
class SharedPages {
 public:
  std::byte* Take(size_t size_bytes) {
    const std::lock_guard lock(mutex_);
    for (Page& page : pages_) {
      if (std::byte* const found = TakeGap(size_bytes, &page)) return found;
    }
    pages_.reserve(pages_.size() + 1);  // before there are bytes to lose
    Page page;
    page.used.reserve(kHugePageBytes / kMinBytes);
    page.bytes = AllocateOnHugePages(kHugePageBytes);
    pages_.push_back(std::move(page));
    return TakeGap(size_bytes, &pages_.back());
  }

  void GiveBack(const std::byte* bytes) noexcept {
    const std::lock_guard lock(mutex_);
    const auto page = std::ranges::find_if(pages_, [bytes](const Page& one) {
      return one.bytes <= bytes && bytes < one.bytes + kHugePageBytes;
    });
    std::erase_if(page->used, [&](const Range& range) {
      return page->bytes + range.begin == bytes;
    });
    if (!page->used.empty()) return;
    DeleteOnHugePages(page->bytes);
    std::swap(*page, pages_.back());
    pages_.pop_back();
  }

 private:
  struct Range {
    size_t begin;
    size_t end;
  };
  struct Page {
    std::byte* bytes = nullptr;
    std::vector<Range> used;  // in order
  };

  // Null: no gap is large enough. REQUIRES capacity for one more in page->used.
  static std::byte* TakeGap(size_t size_bytes, Page* page) {
    size_t begin = 0;
    auto next = page->used.begin();
    for (; next != page->used.end(); ++next) {
      if (next->begin - begin >= size_bytes) break;
      begin = next->end;
    }
    if (kHugePageBytes - begin < size_bytes) return nullptr;
    page->used.insert(next, {begin, begin + size_bytes});
    return page->bytes + begin;
  }

  std::mutex mutex_;
  std::vector<Page> pages_;
};

// Outlives every section.
SharedPages& Shared() {
  static auto* const shared = new SharedPages;
  return *shared;
}

}  // namespace

SectionMemory NewSectionMemory(size_t size_bytes) {
  const size_t rounded = RoundUp(size_bytes);
  std::byte* bytes = nullptr;
  if (rounded < kMinBytes) {
    bytes = static_cast<std::byte*>(
        ::operator new (rounded, std::align_val_t{kLineBytes}));
  } else if (rounded <= kHugePageBytes) {
    bytes = Shared().Take(rounded);
  } else {
    bytes = AllocateOnHugePages(rounded);
  }
  return SectionMemory(bytes, {size_bytes});
}

void SectionMemoryDeleter::operator()(std::byte* bytes) const noexcept {
  const size_t rounded = RoundUp(size_bytes);
  if (rounded < kMinBytes) {
    ::operator delete (bytes, std::align_val_t{kLineBytes});
  } else if (rounded <= kHugePageBytes) {
    Shared().GiveBack(bytes);
  } else {
    DeleteOnHugePages(bytes);
  }
}

}  // namespace rowbloom::front_filter
