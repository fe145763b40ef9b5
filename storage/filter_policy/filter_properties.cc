#include "storage/filter_policy/filter_properties.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

#include "lib/block/format.h"
#include "lib/bytes/text.h"
#include "rocksdb/table_properties.h"
#include "rowbloom/filter_policy.h"
#include "storage/filter_policy/ids.h"

namespace rowbloom {
namespace {

using rocksdb::Slice;
using rocksdb::Status;
using rocksdb::TablePropertiesCollector;
using rocksdb::TablePropertiesCollectorFactory;
using rocksdb::UserCollectedProperties;

// The pointer is weak, so that a file without our collectors leaves no summary
// to the next file: its builder has been destroyed by then.
thread_local std::weak_ptr<const FilterSummary> offered;

// The value of kFilterProperty.
std::string PropertyText(const FilterSummary& summary) {
  std::string text = Concat(
      "version=", format::kVersion, " type=", ToString(summary.bloom_type),
      " kind=", ToString(summary.kind), " blocks=", summary.blocks,
      " bytes=", summary.bytes);
  for (const FilterSection& total : summary.totals) {
    const std::string_view name =
        NameOf(total.type, {"unknown", "row", "row_col", "row_prefix"});
    // At most two decimals, with a point in every locale.
    text += Concat(" ", name, ".keys=", total.keys, " ", name, ".bits_per_key=",
                   std::round(FilterBlock::BitsPerKey(total) * 100) / 100);
  }
  return text + " layout=" + summary.layout_id;
}

// Adds the property of a file whose filter has a summary. Files without a
// summary, or without memory for a collector, share Idle(), which stays when
// RocksDB deletes it.
class Collector final : public TablePropertiesCollector {
 public:
  explicit Collector(std::shared_ptr<const FilterSummary> summary)
      : summary_(std::move(summary)) {}

  static Collector* Idle() {
    static auto* const idle = new Collector(nullptr);
    return idle;
  }

  // A delete calls this in place of the destructor.
  static void operator delete(Collector* collector,
                              std::destroying_delete_t /*tag*/) {
    if (collector == Idle()) return;
    collector->~Collector();
    ::operator delete(collector);
  }

  const char* Name() const override { return kFilterProperty; }

  Status AddUserKey(const Slice& /*key*/, const Slice& /*value*/,
                    rocksdb::EntryType /*type*/,
                    rocksdb::SequenceNumber /*seq*/,
                    uint64_t /*file_size*/) override {
    return Status::OK();
  }

  // The filter is written before the properties.
  Status Finish(UserCollectedProperties* properties) override {
    *properties = GetReadableProperties();
    return Status::OK();
  }

  // A file has no property if memory runs out.
  UserCollectedProperties GetReadableProperties() const override {
    if (summary_ == nullptr || summary_->blocks == 0) return {};
    try {
      return {{kFilterProperty, PropertyText(*summary_)}};
    } catch (...) {
      return {};
    }
  }

 private:
  const std::shared_ptr<const FilterSummary> summary_;
};

class Factory final : public TablePropertiesCollectorFactory {
 public:
  Factory() { Collector::Idle(); }  // made here, where it may throw

  const char* Name() const override { return kFilterProperty; }

  TablePropertiesCollector* CreateTablePropertiesCollector(
      Context /*context*/) override {
    auto summary = std::exchange(offered, {}).lock();
    if (summary != nullptr) {
      auto* const collector = new (std::nothrow) Collector(std::move(summary));
      if (collector != nullptr) return collector;
    }
    return Collector::Idle();
  }
};

}  // namespace

void FilterSummary::Add(const std::vector<FilterSection>& sections,
                        uint64_t block_bytes) {
  ++blocks;
  bytes += block_bytes;
  for (const FilterSection& section : sections) {
    auto total = std::ranges::find(totals, section.type, &FilterSection::type);
    if (total == totals.end()) {
      total = totals.insert(total, {.type = section.type});
    }
    total->keys += section.keys;
    total->size_bytes += section.size_bytes;
  }
}

void OfferToCollector(const std::shared_ptr<const FilterSummary>& summary) {
  offered = summary;
}

std::unique_ptr<TablePropertiesCollectorFactory> MakeFilterPropertiesFactory() {
  return std::make_unique<Factory>();
}

std::shared_ptr<TablePropertiesCollectorFactory> NewFilterPropertiesFactory() {
  return MakeFilterPropertiesFactory();
}

}  // namespace rowbloom
