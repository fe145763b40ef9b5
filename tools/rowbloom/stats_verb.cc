#include "tools/rowbloom/stats_verb.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>

#include "rowbloom/store.h"
#include "tools/rowbloom/family_spec.h"
#include "tools/rowbloom/store_args.h"

namespace rowbloom::cli {
namespace {

using rocksdb::Status;

// The settings that the table has no column for, where they are no defaults.
std::string OtherSettings(const FamilyOptions& options) {
  const auto defaults = FamilySpec::SettingsOf({});
  std::string text;
  for (const auto& setting : FamilySpec::SettingsOf(options)) {
    const auto& [name, value] = setting;
    const bool is_default =
        std::find(defaults.begin(), defaults.end(), setting) != defaults.end();
    if (is_default || name == "bloom" || name == "rate") continue;
    text.append(text.empty() ? "" : ",").append(name).append("=").append(value);
  }
  return text;
}

void PrintTable(const StoreStats& stats, std::ostream& out) {
  size_t width = std::string_view("family").size();
  for (const auto& [name, family] : stats.families) {
    width = std::max(width, name.size());
  }
  constexpr const char* kFamilyLine =
      "{:{}}  {:10}  {:>6}  {:>10}  {:>10}  {:>12}  {:>5}  {:>13}  {:>12}  "
      "{}\n";
  out << fmt::format(kFamilyLine, "family", width, "bloom type", "rate", "rows",
                     "cells", "memory bytes", "files", "file bytes",
                     "filter bytes", "other settings");
  for (const auto& [name, family] : stats.families) {
    out << fmt::format(
        kFamilyLine, name, width, ToString(family.options.bloom_type),
        family.options.false_positive_rate,
        family.estimated_rows ? std::to_string(*family.estimated_rows) : "-",
        family.estimated_cells, family.memtable_bytes, family.files,
        family.file_bytes, family.filter_bytes, OtherSettings(family.options));
  }
  constexpr const char* kLevelLine = "{:{}}  {:>5}  {:>5}  {:>13}\n";
  out << '\n'
      << fmt::format(kLevelLine, "family", width, "level", "files",
                     "file bytes");
  for (const auto& [name, family] : stats.families) {
    for (const LevelStats& level : family.levels) {
      if (level.files == 0) continue;
      out << fmt::format(kLevelLine, name, width, level.level, level.files,
                         level.file_bytes);
    }
  }
}

void PrintJson(const StoreStats& stats, std::ostream& out) {
  using Json = nlohmann::ordered_json;
  for (const auto& [name, family] : stats.families) {
    Json settings = Json::object();
    for (const auto& [setting, value] :
         FamilySpec::SettingsOf(family.options)) {
      settings[setting] = value;
    }
    Json levels = Json::array();
    for (const LevelStats& level : family.levels) {
      if (level.files == 0) continue;
      levels.push_back({{"level", level.level},
                        {"files", level.files},
                        {"file_bytes", level.file_bytes}});
    }
    const Json rows =
        family.estimated_rows ? Json(*family.estimated_rows) : Json(nullptr);
    const Json object = {{"family", name},
                         {"settings", settings},
                         {"rows", rows},
                         {"cells", family.estimated_cells},
                         {"memory_bytes", family.memtable_bytes},
                         {"files", family.files},
                         {"file_bytes", family.file_bytes},
                         {"filter_bytes", family.filter_bytes},
                         {"levels", levels}};
    out << object.dump() << '\n';
  }
}

ExitCode Stats(const StoreArgs& args, const Streams& streams) {
  std::unique_ptr<Store> store;
  Status s = args.OpenToRead(streams.err, &store);
  StoreStats stats;
  if (s.ok()) s = store->Stats(&stats);
  if (!s.ok()) return Fail(streams.err, s);
  if (args.json) {
    PrintJson(stats, streams.out);
  } else {
    PrintTable(stats, streams.out);
  }
  return ExitCode::kOk;
}

}  // namespace

Action AddStats(CLI::App* command) {
  const auto args = std::make_shared<StoreArgs>();
  args->AddTo(command);
  return [args](const Streams& streams) { return Stats(*args, streams); };
}

}  // namespace rowbloom::cli
