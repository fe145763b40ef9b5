#include "tools/cli/record.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

namespace rowbloom::cli {
namespace {

template <typename Value>
std::string JsonOf(const Value& value) {
  return nlohmann::json(value).dump(-1, ' ', false,
                                    nlohmann::json::error_handler_t::replace);
}

constexpr const char* kNull = "null";

}  // namespace

Record::Record(std::string_view kind, std::string_view path) {
  Text("record", kind);
  Text("file", path);
}

Record& Record::Add(std::string_view name, std::string_view json) {
  if (!members_.empty()) members_ += ',';
  members_.append(JsonOf(name)).append(":").append(json);
  return *this;
}

Record& Record::Text(std::string_view name, std::string_view value) {
  return Add(name, JsonOf(value));
}

Record& Record::Number(std::string_view name, uint64_t value) {
  return Add(name, JsonOf(value));
}

Record& Record::Signed(std::string_view name, int64_t value) {
  return Add(name, JsonOf(value));
}

Record& Record::Real(std::string_view name, double value) {
  return Add(name, std::isfinite(value) ? JsonOf(value) : kNull);
}

Record& Record::Flag(std::string_view name, bool value) {
  return Add(name, JsonOf(value));
}

Record& Record::Number(std::string_view name,
                       const std::optional<uint64_t>& value) {
  return Add(name, value ? JsonOf(*value) : kNull);
}

Record& Record::Real(std::string_view name,
                     const std::optional<double>& value) {
  return value ? Real(name, *value) : Add(name, kNull);
}

Record& Record::Object(std::string_view name, const Record& value) {
  return Add(name, value.Json());
}

Record& Record::Array(std::string_view name,
                      const std::vector<Record>& values) {
  std::string json;
  for (const Record& value : values) {
    json += (json.empty() ? "" : ",") + value.Json();
  }
  return Add(name, "[" + json + "]");
}

void Record::Print(std::ostream& out) const { out << Json() << "\n"; }

}  // namespace rowbloom::cli
