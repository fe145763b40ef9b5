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
