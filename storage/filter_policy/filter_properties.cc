#include "storage/filter_policy/filter_properties.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <new>
#include <utility>

#include "lib/block/format.h"
#include "rocksdb/table_properties.h"
#include "rowbloom/filter_policy.h"
#include "storage/filter_policy/objects.h"

namespace rowbloom {
namespace {

using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::TablePropertiesCollector;
using rocksdb::TablePropertiesCollectorFactory;
using rocksdb::UserCollectedProperties;

// Weak: a builder that is gone, of a file without our collectors, says nothing
// about the next file.
std::weak_ptr<const FilterSummary>& Offered() {
  thread_local std::weak_ptr<const FilterSummary> offered;
  return offered;
}

std::string NameOf(SectionType type) {
  switch (type) {
    case SectionType::kRow:
      return "row";
    case SectionType::kRowCol:
      return "row_col";
    case SectionType::kRowPrefix:
      return "row_prefix";
  }
  return "unknown";
}

// Adds nothing to the properties.
class IdleCollector : public TablePropertiesCollector {
 public:
  const char* Name() const override { return kFilterProperty; }

  Status AddUserKey(const Slice& /*key*/, const Slice& /*value*/,
                    rocksdb::EntryType /*type*/,
                    rocksdb::SequenceNumber /*seq*/,
                    uint64_t /*file_size*/) override {
    return Status::OK();
  }

  Status Finish(UserCollectedProperties* /*properties*/) override {
    return Status::OK();
  }

  UserCollectedProperties GetReadableProperties() const override { return {}; }
};

// Stands in for a collector of every file without a summary, or that there was
// no memory for. RocksDB deletes what it is given, and this one stays.
class SharedIdleCollector final : public IdleCollector {
 public:
  static SharedIdleCollector* Get() {
    alignas(SharedIdleCollector) static std::byte
        memory[sizeof(SharedIdleCollector)];
    static auto* const collector = ::new (memory) SharedIdleCollector;
    return collector;
  }

  // In place of the destructor, too.
  static void operator delete(SharedIdleCollector* /*collector*/,
                              std::destroying_delete_t /*tag*/) {}
};

class Collector final : public IdleCollector {
 public:
  explicit Collector(std::shared_ptr<const FilterSummary> summary)
      : summary_(std::move(summary)) {}

  // The filter is written before the properties.
  Status Finish(UserCollectedProperties* properties) override {
    *properties = GetReadableProperties();
    return Status::OK();
  }

  // Without memory a file goes without the property.
  UserCollectedProperties GetReadableProperties() const override {
    if (summary_->blocks() == 0) return {};
    try {
      return {{kFilterProperty, summary_->ToString()}};
    } catch (...) {
      return {};
    }
  }

 private:
  std::shared_ptr<const FilterSummary> summary_;  // never null
};

class Factory final : public TablePropertiesCollectorFactory {
 public:
  const char* Name() const override { return kFilterProperty; }

  TablePropertiesCollector* CreateTablePropertiesCollector(
      Context /*context*/) override {
    auto summary =
        std::exchange(Offered(), std::weak_ptr<const FilterSummary>()).lock();
    if (summary != nullptr) {
      auto* const collector = new (std::nothrow) Collector(std::move(summary));
      if (collector != nullptr) return collector;
    }
    return SharedIdleCollector::Get();
  }
};

}  // namespace

FilterSummary::FilterSummary(BloomType bloom_type, FilterKind kind,
                             std::string layout_id)
    : bloom_type_(bloom_type), kind_(kind), layout_id_(std::move(layout_id)) {}

void FilterSummary::Add(const std::vector<FilterSection>& sections,
                        uint64_t block_bytes) {
  ++blocks_;
  bytes_ += block_bytes;
  for (const FilterSection& section : sections) {
    auto total = std::ranges::find(totals_, section.type, &Total::type);
    if (total == totals_.end()) {
      total = totals_.insert(total, {.type = section.type});
    }
    total->keys += section.keys;
    total->size_bytes += section.size_bytes;
  }
}

std::string FilterSummary::ToString() const {
  std::string text = "version=" + std::to_string(format::kVersion);
  const auto add = [&text](const std::string& name, const std::string& value) {
    text += " " + name + "=" + value;
  };
  add("type", std::string(rowbloom::ToString(bloom_type_)));
  add("kind", std::string(rowbloom::ToString(kind_)));
  add("blocks", std::to_string(blocks_));
  add("bytes", std::to_string(bytes_));
  for (const Total& total : totals_) {
    const std::string name = NameOf(total.type);
    add(name + ".keys", std::to_string(total.keys));
    std::array<char, 32> bits_per_key;
    std::snprintf(bits_per_key.data(), bits_per_key.size(), "%.2f",
                  FilterBlock::BitsPerKey(
                      {.size_bytes = total.size_bytes, .keys = total.keys}));
    add(name + ".bits_per_key", bits_per_key.data());
  }
  add("layout", layout_id_);
  return text;
}

void OfferToCollector(const std::shared_ptr<const FilterSummary>& summary) {
  Offered() = summary;
}

std::unique_ptr<TablePropertiesCollectorFactory> MakeFilterPropertiesFactory() {
  return std::make_unique<Factory>();
}

std::shared_ptr<TablePropertiesCollectorFactory> NewFilterPropertiesFactory() {
  return MakeFilterPropertiesFactory();
}

}  // namespace rowbloom
