#include "tests/storage/store/hbase_cases.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "rowbloom/printable.h"
#include "tests/support/data.h"
#include "tests/support/dump_text.h"

namespace rowbloom::test {
namespace {

// The other sources of a test program have the functions of nlohmann::json
// unoptimised, and the linker takes one of each.
using json = nlohmann::ordered_json;

const std::map<std::string, HBaseType> kTypes = {
    {"Put", HBaseType::kPut},
    {"Delete", HBaseType::kDelete},
    {"DeleteColumn", HBaseType::kDeleteColumn},
    {"DeleteFamily", HBaseType::kDeleteFamily},
    {"DeleteFamilyVersion", HBaseType::kDeleteFamilyVersion},
};

std::optional<std::string> OptionalFromHex(const json& hex) {
  if (hex.is_null()) return std::nullopt;
  return FromHex(hex.get_ref<const std::string&>());
}

std::string Bytes(const json& object, const char* name) {
  return FromHex(object.at(name).get_ref<const std::string&>());
}

HBaseQuery ToQuery(const json& from) {
  HBaseQuery query;
  query.start_row = OptionalFromHex(from.at("start_row"));
  query.stop_row = OptionalFromHex(from.at("stop_row"));
  query.include_stop = from.at("include_stop");
  query.reversed = from.at("reversed");
  query.max_versions = from.at("max_versions");
  if (const json& range = from.at("time_range"); !range.is_null()) {
    query.time_range = {range.at(0), range.at(1)};
  }
  if (const json& names = from.at("qualifiers"); !names.is_null()) {
    query.qualifiers.emplace();
    for (const json& name : names) query.qualifiers->push_back(FromHex(name));
    std::sort(query.qualifiers->begin(), query.qualifiers->end());
  }
  for (const json& cell : from.at("answer")) {
    query.answer.push_back({Bytes(cell, "row"), Bytes(cell, "qualifier"),
                            cell.at("timestamp"), Bytes(cell, "value")});
  }
  return query;
}

HBaseCase ToCase(const json& from) {
  HBaseCase result;
  result.id = from.at("id");
  const json& family = from.at("family");
  result.family.timestamps = Timestamps::kClient;
  result.family.max_versions = family.at("max_versions");
  result.family.min_versions = family.at("min_versions");
  if (const json& ttl_ms = family.at("ttl_ms"); !ttl_ms.is_null()) {
    result.family.ttl_ms = ttl_ms;
  }
  result.now_ms = from.at("now_ms");
  for (const json& cell : from.at("cells")) {
    result.writes.push_back({kTypes.at(cell.at("type")), Bytes(cell, "row"),
                             Bytes(cell, "qualifier"), cell.at("timestamp"),
                             Bytes(cell, "value")});
    if (cell.at("sequence") != result.writes.size()) {
      throw std::runtime_error(result.id + ": cells out of order");
    }
  }
  for (const json& query : from.at("queries")) {
    result.queries.push_back(ToQuery(query));
  }
  return result;
}

}  // namespace

void PrintTo(const HBaseCell& cell, std::ostream* out) {
  *out << ToPrintable(cell.row) << "/" << ToPrintable(cell.qualifier) << "@"
       << cell.timestamp_ms << "=" << ToPrintable(cell.value);
}

std::string FamilyName(const HBaseCase& of) {
  return "max" + std::to_string(of.family.max_versions) + "_min" +
         std::to_string(of.family.min_versions) + "_ttl" +
         std::to_string(of.family.ttl_ms);
}

std::string RowPrefix(const HBaseCase& of) { return of.id + ":"; }

uint64_t MovedMs(const HBaseCase& of) {
  return of.family.ttl_ms == 0 ? 0 : kHBaseStoreMs - of.now_ms;
}

ScanOptions ToScan(const HBaseCase& of, const HBaseQuery& query) {
  const auto& low = query.reversed ? query.stop_row : query.start_row;
  const auto& high = query.reversed ? query.start_row : query.stop_row;
  const std::string next(1, '\0');  // after a row: the next possible one
  ScanOptions scan;
  scan.row_prefix = RowPrefix(of);
  scan.reverse = query.reversed;
  if (low) {
    scan.start_row = RowPrefix(of) + *low;
    if (query.reversed && !query.include_stop) scan.start_row += next;
  }
  if (high) {
    scan.stop_row = RowPrefix(of) + *high;
    if (query.reversed || query.include_stop) scan.stop_row += next;
  }
  scan.row.time_range = query.time_range;
  if (query.time_range != TimeRange::All()) {
    scan.row.time_range.begin_ms += MovedMs(of);
    scan.row.time_range.end_ms += MovedMs(of);
  }
  scan.row.max_versions = query.max_versions;
  if (!query.qualifiers) {
    scan.row.columns = {{FamilyName(of)}};
    return scan;
  }
  for (const std::string& qualifier : *query.qualifiers) {
    scan.row.columns.push_back({FamilyName(of), qualifier});
  }
  return scan;
}

std::vector<HBaseCase> ReadHBaseCases() {
  std::vector<HBaseCase> cases;
  for (const char* file : {"cases.jsonl.gz", "large.jsonl.gz"}) {
    for (const std::string& line :
         ReadGzipLines(DataPath(std::string("hbase/scans/") + file))) {
      cases.push_back(ToCase(json::parse(line)));
    }
  }
  return cases;
}

}  // namespace rowbloom::test
