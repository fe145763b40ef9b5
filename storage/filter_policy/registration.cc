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

// Has a library make objects of these ids: `make(id, guard)` sets the guard, or
// returns why not. The registry is not exception-safe.
template <typename Object, typename Ids, typename Make>
void Add(ObjectLibrary* library, const Ids& ids, Make make) {
  library->AddFactory<Object>(
      ids,
      [make](const std::string& id, std::unique_ptr<Object>* guard,
             std::string* error) -> Object* {
        try {
          *error = make(id, guard);
        } catch (...) {
          *error = "no memory";  // few enough characters to need none
          guard->reset();
        }
        return guard->get();
      });
}

std::string MakePolicyOfId(const std::string& id,
                           std::unique_ptr<const FilterPolicy>* policy) {
  const auto options = ParsePolicyId(id);
  if (!options) return options.error();
  const rocksdb::Status status = MakePolicy(*options, policy);
  return status.ok() ? "" : status.ToString();
}

std::string MakeExtractorOfId(
    const std::string& id, std::unique_ptr<const SliceTransform>* extractor) {
  const auto layout = KeyLayout::FromString(
      std::string_view(id).substr(kExtractorIdPrefix.size()));
  if (!layout) return layout.error();
  *extractor = MakeRowPrefixExtractor(*layout);
  return "";
}

}  // namespace

int AddFactories(ObjectLibrary* library) {
  Add<const FilterPolicy>(library, Pattern(kPolicyIdPrefix), MakePolicyOfId);
  Add<const SliceTransform>(library, Pattern(kExtractorIdPrefix),
                            MakeExtractorOfId);
  using Properties = TablePropertiesCollectorFactory;
  Add<Properties>(
      library, kFilterProperty,
      [](const std::string& /*id*/, std::unique_ptr<Properties>* factory) {
        *factory = MakeFilterPropertiesFactory();
        return "";
      });
  return 3;
}

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
  std::call_once(once, [] { AddFactories(ObjectLibrary::Default().get()); });
  return rocksdb::Status::OK();
}

}  // namespace rowbloom
