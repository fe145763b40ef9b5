#include "storage/settings/family_spec.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>

#include "lib/bytes/number_from_text.h"
#include "lib/bytes/text.h"
#include "rowbloom/printable.h"
#include "storage/settings/duration.h"

namespace rowbloom {
namespace {

std::string Quoted(std::string_view text) {
  return "\"" + ToPrintable(text) + "\"";
}

// The words for the values of an enum.
template <typename Choice>
struct Word {
  std::string_view text;
  Choice choice;
};

constexpr Word<Compression> kCompressions[] = {{"none", Compression::kNone},
                                               {"lz4", Compression::kLz4},
                                               {"zstd", Compression::kZstd}};
constexpr Word<std::optional<Compression>> kBottomCompressions[] = {
    {"same", std::nullopt},
    {"none", Compression::kNone},
    {"lz4", Compression::kLz4},
    {"zstd", Compression::kZstd}};
constexpr Word<Timestamps> kTimestamps[] = {{"store", Timestamps::kStore},
                                            {"client", Timestamps::kClient}};

template <const auto& kWords>
auto ParseWord(std::string_view text) -> Result<decltype(kWords[0].choice)> {
  std::string expected;
  for (const auto& word : kWords) {
    if (EqualInAnyCase(word.text, text)) return word.choice;
    expected.append(expected.empty() ? "" : " or ").append(word.text);
  }
  return Error{"expected " + expected + ", found " + Quoted(text)};
}

template <typename Choice, size_t kCount>
std::string TextOf(const Word<Choice> (&words)[kCount], Choice choice) {
  const auto* word = std::ranges::find(words, choice, &Word<Choice>::choice);
  return std::string(word == std::end(words) ? "?" : word->text);
}

std::string TextOf(BloomType type) { return std::string(ToString(type)); }
std::string TextOf(FilterKind kind) { return std::string(ToString(kind)); }
std::string TextOf(Compression choice) { return TextOf(kCompressions, choice); }
std::string TextOf(std::optional<Compression> choice) {
  return TextOf(kBottomCompressions, choice);
}
std::string TextOf(Timestamps choice) { return TextOf(kTimestamps, choice); }
std::string TextOf(uint32_t count) { return std::to_string(count); }
std::string TextOf(uint64_t ttl_ms) { return DurationText(ttl_ms); }
std::string TextOf(double rate) { return NumberText(rate); }

using Setter = std::function<void(FamilyOptions*)>;

// A setting: one member of the options.
struct Setting {
  std::string_view name;
  std::string_view values;
  Result<Setter> (*parse)(std::string_view text);
  std::string (*text)(const FamilyOptions& options);
};

template <auto kMember, auto kParse>
constexpr Setting SettingOf(std::string_view name, std::string_view values) {
  return {
      name, values,
      [](std::string_view text) -> Result<Setter> {
        const auto value = kParse(text);
        if (!value) return Error{value.error()};
        return Setter([value = *value](FamilyOptions* options) {
          options->*kMember = value;
        });
      },
      [](const FamilyOptions& options) { return TextOf(options.*kMember); }};
}

constexpr Setting kSettings[] = {
    SettingOf<&FamilyOptions::bloom_type, BloomTypeFromString>(
        "bloom", "NONE, ROW, ROWCOL or ROWPREFIX_FIXED_LENGTH"),
    SettingOf<&FamilyOptions::false_positive_rate, NumberFromText<double>>(
        "rate", "false positive rate of the filter, inside (0, 1)"),
    SettingOf<&FamilyOptions::filter_kind, FilterKindFromString>(
        "kind", "of the filter: bloom or ribbon"),
    SettingOf<&FamilyOptions::row_prefix_length, NumberFromText<uint32_t>>(
        "prefix", "bytes of the row, for ROWPREFIX_FIXED_LENGTH"),
    SettingOf<&FamilyOptions::compression, ParseWord<kCompressions>>(
        "compression", "none, lz4 or zstd"),
    SettingOf<&FamilyOptions::bottom_compression,
              ParseWord<kBottomCompressions>>(
        "bottom_compression",
        "of files at the bottom of the tree: none, lz4, zstd or same"),
    SettingOf<&FamilyOptions::dictionary_bytes, NumberFromText<uint32_t>>(
        "dictionary", "bytes of each file's dictionary for zstd; 0: none"),
    SettingOf<&FamilyOptions::min_blob_bytes, NumberFromText<uint32_t>>(
        "min_blob", "bytes from which on a value is in a blob file; 0: never"),
    SettingOf<&FamilyOptions::block_size_bytes, NumberFromText<uint32_t>>(
        "block", "bytes of a data block"),
    SettingOf<&FamilyOptions::timestamps, ParseWord<kTimestamps>>(
        "timestamps", "who gives them: store or client"),
    SettingOf<&FamilyOptions::max_versions, NumberFromText<uint32_t>>(
        "versions", "of a cell that are kept"),
    SettingOf<&FamilyOptions::min_versions, NumberFromText<uint32_t>>(
        "min_versions", "of a cell that outlive ttl"),
    SettingOf<&FamilyOptions::ttl_ms, ParseDuration>(
        "ttl",
        "how long a version lives: 250ms, 60s, 5m, 24h, 7d; 0 or forever: "
        "without end"),
};

}  // namespace

Result<FamilySpec> FamilySpec::Parse(std::string_view text) {
  FamilySpec spec;
  const size_t name_bytes = std::min(text.find(','), text.size());
  spec.name_ = FromPrintable(text.substr(0, name_bytes));
  const std::string where = "family " + Quoted(spec.name_) + ": ";
  std::set<std::string_view> names_given;
  size_t begin = name_bytes;
  while (begin < text.size()) {
    ++begin;  // the comma
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view setting = text.substr(begin, end - begin);
    begin = end;
    const size_t equals = setting.find('=');
    const std::string_view name = setting.substr(0, equals);
    const Setting* known = std::ranges::find(kSettings, name, &Setting::name);
    if (equals == std::string_view::npos || known == std::end(kSettings)) {
      std::string names;
      for (const Setting& one : kSettings) {
        names.append(names.empty() ? "" : ", ").append(one.name);
      }
      return Error{where + "expected NAME=VALUE with a name of " + names +
                   ", found " + Quoted(setting)};
    }
    if (!names_given.insert(name).second) {
      return Error{where + "expected " + std::string(name) +
                   " once, found it again"};
    }
    auto setter = known->parse(setting.substr(equals + 1));
    if (!setter) {
      return Error{where + std::string(name) + ": " + setter.error()};
    }
    spec.settings_.push_back(*std::move(setter));
  }
  return spec;
}

Result<std::vector<FamilySpec>> FamilySpec::ParseAll(
    const std::vector<std::string>& texts) {
  std::vector<FamilySpec> specs;
  for (const std::string& text : texts) {
    auto spec = Parse(text);
    if (!spec) return Error{spec.error()};
    specs.push_back(*std::move(spec));
  }
  return specs;
}

std::string FamilySpec::Help() {
  std::string text = "Settings of a family, and the defaults of a new one:";
  for (const Setting& setting : kSettings) {
    text.append("\n  ").append(setting.name).append("=  ");
    text.append(setting.values).append("; default ");
    text.append(setting.text({}));
  }
  return text;
}

std::string FamilySpec::ToText(std::string_view name,
                               const FamilyOptions& options) {
  std::string text;
  for (const char c : ToPrintable(name)) {
    text += c == ',' ? "\\x2C" : std::string(1, c);
  }
  for (const auto& [setting, value] : SettingsOf(options)) {
    text.append(",").append(setting).append("=").append(value);
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> FamilySpec::SettingsOf(
    const FamilyOptions& options) {
  std::vector<std::pair<std::string, std::string>> settings;
  for (const Setting& setting : kSettings) {
    settings.emplace_back(setting.name, setting.text(options));
  }
  return settings;
}

FamilyOptions FamilySpec::ApplyTo(FamilyOptions base) const {
  for (const auto& set : settings_) set(&base);
  return base;
}

}  // namespace rowbloom
