#include "tools/rowbloom/stats_verb.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>

#include "rowbloom/store.h"
#include "storage/settings/family_spec.h"
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

// The memory that a front filter takes for the files of a family.
uint64_t FrontFilterBytes(const StoreStats& stats, std::string_view name) {
  for (const FrontFilterFamilyStats& family : stats.front_filter->families) {
    if (family.name == name) return family.row_bytes;
  }
  return 0;
}

void PrintTable(const StoreStats& stats, std::ostream& out) {
  size_t width = std::string_view("family").size();
  for (const auto& [name, family] : stats.families) {
    width = std::max(width, name.size());
  }
  constexpr const char* kFamilyLine =
      "{:{}}  {:10}  {:>6}  {:>10}  {:>10}  {:>12}  {:>5}  {:>13}  {:>12}  "
      "{:>18}  {}\n";
  out << fmt::format(kFamilyLine, "family", width, "bloom type", "rate", "rows",
                     "cells", "memory bytes", "files", "file bytes",
                     "filter bytes", "front filter bytes", "other settings");
  for (const auto& [name, family] : stats.families) {
    out << fmt::format(
        kFamilyLine, name, width, ToString(family.options.bloom_type),
        family.options.false_positive_rate,
        family.estimated_rows ? std::to_string(*family.estimated_rows) : "-",
        family.estimated_cells, family.memtable_bytes, family.files,
        family.file_bytes, family.filter_bytes, FrontFilterBytes(stats, name),
        OtherSettings(family.options));
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
                         {"blob_files", family.blob_files},
                         {"blob_file_bytes", family.blob_file_bytes},
                         {"front_filter_bytes", FrontFilterBytes(stats, name)},
                         {"levels", levels}};
    out << object.dump() << '\n';
  }
}

// The statistics as of when the front filter has read all files.
Status ArmedStats(Store* store, StoreStats* stats) {
  const auto arms = [](const FrontFilterFamilyStats& family) {
    return family.state == FrontFilterState::kArming;
  };
  while (true) {
    Status s = store->Stats(stats);
    if (!s.ok() || std::ranges::none_of(stats->front_filter->families, arms)) {
      return s;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

ExitCode Stats(const StoreArgs& args, const Streams& streams) {
  // The store is opened with a front filter, to tell how much that takes.
  StoreOptions options;
  Status s = args.Options(&options);
  options.read_only = true;
  options.front_filter_limit_bytes = StoreOptions().front_filter_limit_bytes;
  std::shared_ptr<Store> store;
  if (s.ok()) s = args.Open(options, {}, streams, &store);
  StoreStats stats;
  if (s.ok()) s = ArmedStats(store.get(), &stats);
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
