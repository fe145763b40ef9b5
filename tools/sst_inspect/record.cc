#include "tools/sst_inspect/record.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

namespace rowbloom::sst_inspect {

using Json = nlohmann::ordered_json;

struct Record::Object {
  Json json;
};

Record::Record(std::string_view kind, std::string_view path)
    : object_(std::make_unique<Object>()) {
  Text("record", kind);
  Text("file", path);
}

Record::~Record() = default;
Record::Record(Record&&) noexcept = default;

Record& Record::Text(std::string_view name, std::string_view value) {
  object_->json[std::string(name)] = value;
  return *this;
}

Record& Record::Number(std::string_view name, uint64_t value) {
  object_->json[std::string(name)] = value;
  return *this;
}

Record& Record::Signed(std::string_view name, int64_t value) {
  object_->json[std::string(name)] = value;
  return *this;
}

Record& Record::Real(std::string_view name, double value) {
  Json& member = object_->json[std::string(name)];
  if (std::isfinite(value)) member = value;
  return *this;
}

Record& Record::Flag(std::string_view name, bool value) {
  object_->json[std::string(name)] = value;
  return *this;
}

Record& Record::Number(std::string_view name,
                       const std::optional<uint64_t>& value) {
  if (value) return Number(name, *value);
  object_->json[std::string(name)] = nullptr;
  return *this;
}

Record& Record::Real(std::string_view name,
                     const std::optional<double>& value) {
  if (value) return Real(name, *value);
  object_->json[std::string(name)] = nullptr;
  return *this;
}

void Record::Print(std::ostream& out) const {
  out << object_->json.dump(-1, ' ', false, Json::error_handler_t::replace)
      << "\n";
}

}  // namespace rowbloom::sst_inspect
