#include "tools/cli/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "tools/cli/text.h"

namespace rowbloom::cli {
namespace {

template <typename Value>
std::string JsonOf(const Value& value) {
  return nlohmann::json(value).dump(-1, ' ', false,
                                    nlohmann::json::error_handler_t::replace);
}

// Most text is ASCII without escapes, and is not parsed as UTF-8.
std::string JsonOf(const std::string& text) {
  const bool is_plain = std::ranges::all_of(text, [](char c) {
    return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
  });
  return is_plain ? '"' + text + '"' : JsonOf<std::string>(text);
}

template <typename Number>
std::string TextOf(Number number) {
  return fmt::format("{}", number);
}

}  // namespace

Record::Record(std::string_view kind, std::string_view path) {
  InJson("record", kind);
  InJson("file", path);
}

Record& Record::Add(std::string_view name, Form form, Value value,
                    std::optional<std::string> text) {
  constexpr size_t kUsual = 8;
  if (members_.empty()) members_.reserve(kUsual);
  members_.push_back(
      {std::string(name), form, std::move(value), std::move(text)});
  return *this;
}

template <typename T>
Record& Record::AddNumber(std::string_view name, const std::optional<T>& value,
                          std::string (*text_of)(T)) {
  return value && std::isfinite(static_cast<double>(*value))
             ? Add(name, Form::kNumber, *value, text_of(*value))
             : Add(name, Form::kNumber, nullptr, "-");
}

Record& Record::Text(std::string_view name, std::string_view value) {
  return Add(name, Form::kText, std::string(value));
}

Record& Record::Long(std::string_view name, std::string_view value) {
  constexpr size_t kMost = 40;
  Text(name, value);
  return value.size() <= kMost
             ? *this
             : As(std::string(value.substr(0, kMost)) + "...");
}

Record& Record::Number(std::string_view name, std::optional<uint64_t> value) {
  return AddNumber<uint64_t>(name, value, TextOf);
}

Record& Record::Signed(std::string_view name, int64_t value) {
  return AddNumber<int64_t>(name, value, TextOf);
}

Record& Record::Count(std::string_view name, std::optional<uint64_t> value) {
  return AddNumber(name, value, Grouped);
}

Record& Record::Bytes(std::string_view name, std::optional<uint64_t> value) {
  return AddNumber(name, value, HumanAndExactBytes);
}

Record& Record::Time(std::string_view name, std::optional<uint64_t> value) {
  return AddNumber(name, value, UtcText);
}

Record& Record::Real(std::string_view name, std::optional<double> value) {
  return AddNumber<double>(
      name, value, [](double real) { return fmt::format("{:.4g}", real); });
}

Record& Record::Seconds(std::string_view name, double value) {
  return AddNumber<double>(
      name, value, [](double real) { return fmt::format("{:.2f}", real); });
}

Record& Record::Share(std::string_view name, std::optional<double> value) {
  return AddNumber(name, value, Percent);
}

Record& Record::Flag(std::string_view name, bool value) {
  return Add(name, Form::kText, value, value ? "yes" : "no");
}

Record& Record::InText(std::string_view name, std::string_view value) {
  return Add(name, Form::kInText, std::string(value));
}

Record& Record::InJson(std::string_view name, std::string_view value) {
  return Add(name, Form::kInJson, std::string(value));
}

Record& Record::Object(std::string_view name, const Record& value) {
  return Add(name, Form::kJson, value.Json());
}

Record& Record::Array(std::string_view name,
                      const std::vector<Record>& values) {
  std::string json;
  for (const Record& value : values) {
    json += (json.empty() ? "" : ",") + value.Json();
  }
  return Add(name, Form::kJson, "[" + json + "]");
}

Record& Record::As(std::string_view text) {
  members_.back().text = text;
  return *this;
}

std::string Record::Json() const {
  std::string json;
  for (const Member& member : members_) {
    if (member.form == Form::kInText) continue;
    json.append(json.empty() ? "" : ",").append(JsonOf(member.name)) += ':';
    json += member.form == Form::kJson
                ? std::get<std::string>(member.value)
                : std::visit([](const auto& value) { return JsonOf(value); },
                             member.value);
  }
  return "{" + json + "}";
}

void Record::Print(std::ostream& out) const { out << Json() << "\n"; }

std::vector<std::pair<std::string, std::string>> Record::Lines() const {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const Member& member : members_) {
    const Cell cell = CellOf(member);
    if (cell.is_null || cell.text.empty()) continue;
    lines.emplace_back(WithBlanks(member.name), cell.text);
  }
  return lines;
}

Record::Cell Record::CellOf(std::string_view name) const {
  const auto member = std::ranges::find(members_, name, &Member::name);
  return member == members_.end() ? Cell() : CellOf(*member);
}

Record::Cell Record::CellOf(const Member& member) {
  if (member.form == Form::kInJson || member.form == Form::kJson) return {};
  return {.text = WithoutControls(
              member.text ? *member.text : std::get<std::string>(member.value)),
          .is_null = std::holds_alternative<std::nullptr_t>(member.value),
          .is_number = member.form == Form::kNumber};
}

}  // namespace rowbloom::cli
