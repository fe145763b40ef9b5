#include "storage/filter_policy/ids.h"

#include <algorithm>
#include <array>
#include <mutex>

#include "lib/bytes/text.h"
#include "rocksdb/table_properties.h"
#include "rowbloom/printable.h"
#include "storage/format/rocksdb_version.h"

namespace rowbloom {
namespace {

constexpr std::string_view kUniform = "uniform";
constexpr std::string_view kOptimal = "optimal";
constexpr std::string_view kAdaptive = "adaptive";
constexpr std::string_view kLastLevels = "last";
constexpr std::string_view kFirstLevels = "first";

// Removes and returns the field before the next '/'; empty after the last one.
std::string_view TakeField(std::string_view* text) {
  const std::string_view field = text->substr(0, text->find('/'));
  text->remove_prefix(std::min(text->size(), field.size() + 1));
  return field;
}

std::string AllocationText(const FilterPolicyOptions& options) {
  std::string text(kUniform);
  if (options.level_allocation) {
    const LevelShape& shape = *options.level_allocation;
    text = Concat(kOptimal, "/", shape.levels, "/", shape.size_ratio, "/",
                  shape.level0_files, "/",
                  shape.dynamic_level_bytes ? kLastLevels : kFirstLevels);
  }
  if (options.row_spread) {
    text += Concat("/", kAdaptive, "/", *options.row_spread);
  }
  return text;
}

// Reads the text after the name of the kind.
bool ParseBloomBeforeLevel(std::string_view text,
                           FilterPolicyOptions* options) {
  if (text.empty()) return true;
  return options->kind == FilterKind::kRibbon && text.starts_with('/') &&
         ParseNumber(text.substr(1), &options->bloom_before_level);
}

bool ParseShape(std::string_view* text, LevelShape* shape) {
  if (!ParseNumber(TakeField(text), &shape->levels) ||
      !ParseNumber(TakeField(text), &shape->size_ratio) ||
      !ParseNumber(TakeField(text), &shape->level0_files)) {
    return false;
  }
  const std::string_view where = TakeField(text);
  shape->dynamic_level_bytes = where == kLastLevels;
  return where == kLastLevels || where == kFirstLevels;
}

bool ParseAllocation(std::string_view text, FilterPolicyOptions* options) {
  if (text.ends_with('/')) return false;
  const std::string_view allocation = TakeField(&text);
  if (allocation == kOptimal) {
    if (!ParseShape(&text, &options->level_allocation.emplace())) return false;
  } else if (allocation != kUniform) {
    return false;
  }
  if (text.empty()) return true;
  return TakeField(&text) == kAdaptive &&
         ParseNumber(text, &options->row_spread.emplace());
}

}  // namespace

std::string PolicyId(const FilterPolicyOptions& options) {
  std::string kind(ToString(options.kind));
  if (options.kind == FilterKind::kRibbon && options.bloom_before_level != -1) {
    kind += Concat("/", options.bloom_before_level);
  }
  return Concat(kPolicyIdPrefix, ToString(options.bloom_type), ":", kind, ":",
                options.false_positive_rate, ":", options.row_prefix_length,
                ":", AllocationText(options), ":",
                options.key_layout->ToString());
}

Result<FilterPolicyOptions> ParsePolicyId(std::string_view id) {
  const Error malformed{Concat(
      "filter policy id \"", ToPrintable(id), "\": expected ", kPolicyIdPrefix,
      "TYPE:KIND:RATE:ROW_PREFIX_LENGTH:ALLOCATION:LAYOUT")};
  if (!id.starts_with(kPolicyIdPrefix)) return malformed;
  std::string_view rest = id.substr(kPolicyIdPrefix.size());
  std::array<std::string_view, 5> fields;
  for (std::string_view& field : fields) {
    const size_t colon = rest.find(':');
    if (colon == std::string_view::npos) return malformed;
    field = rest.substr(0, colon);
    rest.remove_prefix(colon + 1);
  }
  FilterPolicyOptions options;
  const auto type = BloomTypeFromString(fields[0]);
  if (!type) return Error{type.error()};
  const std::string_view kind_name = fields[1].substr(0, fields[1].find('/'));
  const auto kind = FilterKindFromString(kind_name);
  if (!kind) return Error{kind.error()};
  options.kind = *kind;
  if (!ParseBloomBeforeLevel(fields[1].substr(kind_name.size()), &options) ||
      !ParseNumber(fields[2], &options.false_positive_rate) ||
      !ParseNumber(fields[3], &options.row_prefix_length) ||
      !ParseAllocation(fields[4], &options)) {
    return malformed;
  }
  const auto layout = KeyLayout::FromString(rest);
  if (!layout) return Error{layout.error()};
  options.bloom_type = *type;
  options.key_layout = *layout;
  return options;
}

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

// Registers a factory of objects with these ids. `make(id, guard)` sets the
// guard, or returns an error. The registry is not exception-safe.
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
  const rocksdb::Status status = CheckRocksDbVersion();
  if (!status.ok()) return status;
  static std::once_flag once;
  std::call_once(once, [] { AddFactories(ObjectLibrary::Default().get()); });
  return status;
}

}  // namespace rowbloom
