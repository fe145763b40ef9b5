#include <memory>
#include <mutex>
#include <string>

#include "rocksdb/table_properties.h"
#include "rocksdb/utilities/object_registry.h"
#include "rocksdb/version.h"
#include "rowbloom/filter_policy.h"
#include "storage/filter_policy/ids.h"

namespace rowbloom {
namespace {

using rocksdb::FilterPolicy;
using rocksdb::ObjectLibrary;
using rocksdb::SliceTransform;
using rocksdb::TablePropertiesCollectorFactory;

// A pattern for every id that starts with `prefix`, which ends in ':'.
ObjectLibrary::PatternEntry Pattern(std::string_view prefix) {
  return ObjectLibrary::PatternEntry(
             std::string(prefix.substr(0, prefix.size() - 1)), false)
      .AddSeparator(":");
}

// Returns the result of `make`; null, with an error, if it throws. RocksDB's
// registry is not exception-safe.
template <typename Make>
auto Guarded(std::string* error, Make make) -> decltype(make()) {
  try {
    return make();
  } catch (...) {
    *error = "no memory";  // few enough characters to need none
    return nullptr;
  }
}

const FilterPolicy* PolicyOfId(const std::string& id,
                               std::unique_ptr<const FilterPolicy>* guard,
                               std::string* error) {
  return Guarded(error, [&]() -> const FilterPolicy* {
    const auto options = ParsePolicyId(id);
    if (!options) {
      *error = options.error();
      return nullptr;
    }
    const rocksdb::Status status = MakePolicy(*options, guard);
    if (!status.ok()) *error = status.ToString();
    return guard->get();
  });
}

const SliceTransform* ExtractorOfId(
    const std::string& id, std::unique_ptr<const SliceTransform>* guard,
    std::string* error) {
  return Guarded(error, [&]() -> const SliceTransform* {
    const auto layout = KeyLayout::FromString(
        std::string_view(id).substr(kExtractorIdPrefix.size()));
    if (!layout) {
      *error = layout.error();
      return nullptr;
    }
    *guard = MakeRowPrefixExtractor(*layout);
    return guard->get();
  });
}

TablePropertiesCollectorFactory* PropertiesFactory(
    const std::string& /*id*/,
    std::unique_ptr<TablePropertiesCollectorFactory>* guard,
    std::string* error) {
  return Guarded(error, [&] {
    *guard = MakeFilterPropertiesFactory();
    return guard->get();
  });
}

}  // namespace

rocksdb::Status RegisterRowbloom() {
  // The registry's classes change with the minor version.
  const std::string compiled =
      std::to_string(ROCKSDB_MAJOR) + "." + std::to_string(ROCKSDB_MINOR);
  if (rocksdb::GetRocksVersionAsString(/*with_patch=*/false) != compiled) {
    return rocksdb::Status::NotSupported(
        "rowbloom was compiled for the object registry of RocksDB " + compiled +
        ", and the library loaded is " + rocksdb::GetRocksVersionAsString());
  }
  static std::once_flag once;
  std::call_once(once, [] {
    const auto library = ObjectLibrary::Default();
    library->AddFactory<const FilterPolicy>(Pattern(kPolicyIdPrefix),
                                            PolicyOfId);
    library->AddFactory<const SliceTransform>(Pattern(kExtractorIdPrefix),
                                              ExtractorOfId);
    library->AddFactory<TablePropertiesCollectorFactory>(kFilterProperty,
                                                         PropertiesFactory);
  });
  return rocksdb::Status::OK();
}

}  // namespace rowbloom
