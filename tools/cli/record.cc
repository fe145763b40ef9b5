#include "tools/cli/record.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

namespace rowbloom::cli {

struct Record::Json {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
};

Record::Record() : json_(std::make_unique<Json>()) {}

Record::Record(std::string_view kind, std::string_view path) : Record() {
  Text("record", kind);
  Text("file", path);
}

Record::~Record() = default;
Record::Record(Record&&) noexcept = default;

Record& Record::Text(std::string_view name, std::string_view value) {
  json_->object[std::string(name)] = value;
  return *this;
}

Record& Record::Number(std::string_view name, uint64_t value) {
  json_->object[std::string(name)] = value;
  return *this;
}

Record& Record::Signed(std::string_view name, int64_t value) {
  json_->object[std::string(name)] = value;
  return *this;
}

Record& Record::Real(std::string_view name, double value) {
  auto& member = json_->object[std::string(name)];
  if (std::isfinite(value)) member = value;
  return *this;
}

Record& Record::Flag(std::string_view name, bool value) {
  json_->object[std::string(name)] = value;
  return *this;
}

Record& Record::Number(std::string_view name,
                       const std::optional<uint64_t>& value) {
  if (value) return Number(name, *value);
  json_->object[std::string(name)] = nullptr;
  return *this;
}

Record& Record::Real(std::string_view name,
                     const std::optional<double>& value) {
  if (value) return Real(name, *value);
  json_->object[std::string(name)] = nullptr;
  return *this;
}

Record& Record::Object(std::string_view name, const Record& value) {
  json_->object[std::string(name)] = value.json_->object;
  return *this;
}

Record& Record::Array(std::string_view name,
                      const std::vector<Record>& values) {
  auto& member = json_->object[std::string(name)];
  member = nlohmann::ordered_json::array();
  for (const Record& value : values) member.push_back(value.json_->object);
  return *this;
}

void Record::Print(std::ostream& out) const {
  out << json_->object.dump(-1, ' ', false,
                            nlohmann::ordered_json::error_handler_t::replace)
      << "\n";
}

}  // namespace rowbloom::cli
