// create, alter, drop, truncate, describe and stats: the families of a store.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "rowbloom/printable.h"
#include "rowbloom/store.h"
#include "storage/settings/family_spec.h"
#include "tools/cli/arguments.h"
#include "tools/rowbloom/verbs.h"

namespace rowbloom::cli {
namespace {

using rocksdb::Status;

// A store and specs of families.
struct FamilyArgs {
  StoreArgs store;
  std::vector<std::string> families;

  void AddTo(CLI::App* command, const char* meaning) {
    store.AddTo(command);
    AddFamilySpecsTo(command, &families, meaning)->required();
  }
};

void Create(const FamilyArgs& args, const Streams& streams) {
  std::vector<FamilyDescriptor> families;
  for (const FamilySpec& spec : Require(FamilySpec::ParseAll(args.families))) {
    families.push_back({spec.name(), spec.ApplyTo({})});
  }
  StoreOptions options = args.store.Options();
  options.create_if_missing = true;
  args.store.Open(options, families, streams);
}

// Ends the verb if the change of a family failed, and says which families were
// changed before it. Otherwise adds the family to these.
void RequireChange(const Status& s, const std::string& name,
                   std::string* changed) {
  if (!s.ok()) {
    Require(
        Error{fmt::format("family \"{}\": {}; changed: {}", ToPrintable(name),
                          Describe(s), changed->empty() ? "none" : *changed)});
  }
  changed->append(changed->empty() ? "" : ", ").append(ToPrintable(name));
}

void Alter(const FamilyArgs& args, const Streams& streams) {
  const auto specs = Require(FamilySpec::ParseAll(args.families));
  const std::shared_ptr<Store> store = args.store.OpenToWrite(streams);
  std::map<std::string, FamilyOptions> families = store->Families();
  std::map<std::string, FamilyOptions> altered;
  bool from_client_to_store = false;
  for (const FamilySpec& spec : specs) {
    FamilyOptions& options = families[spec.name()];
    const Timestamps before = options.timestamps;
    options = spec.ApplyTo(options);
    altered[spec.name()] = options;
    if (before == Timestamps::kClient &&
        options.timestamps == Timestamps::kStore) {
      from_client_to_store = true;
    }
  }
  // The store refuses a family that it does not have.
  for (const auto& [name, options] : altered) {
    Require(store->CheckAlterFamily(name, options));
  }
  if (from_client_to_store) {
    Complain(streams.err,
             "warning: timestamps=store in place of client is for good: "
             "deletes in the store are slower from now on, and earlier builds "
             "refuse it");
  }
  std::string changed;
  for (const auto& [name, options] : altered) {
    RequireChange(store->AlterFamily(name, options), name, &changed);
  }
}

struct RemovalArgs {
  StoreArgs store;
  std::vector<std::string> families;
  bool yes = false;

  void AddTo(CLI::App* command, const char* meaning) {
    store.AddTo(command);
    AddListTo(command, "--family", &families, meaning, "F")
        ->transform(FromPrintable)
        ->required();
    AddYesTo(command, &yes);
  }
};

// Checks that all named families exist, and then calls `remove` for each.
void Remove(const RemovalArgs& args, const char* verb,
            Status (Store::*remove)(const std::string& name),
            const Streams& streams) {
  const std::shared_ptr<Store> store = args.store.OpenToWrite(streams);
  std::map<std::string, FamilyOptions> families = store->Families();
  std::set<std::string> names;
  std::string list;
  for (const std::string& name : args.families) {
    // The store refuses a family that it does not have.
    Require(store->CheckAlterFamily(name, families[name]));
    if (!names.insert(name).second) continue;
    list += (list.empty() ? "" : ", ") + ToPrintable(name);
  }
  if (!Confirm(streams, args.yes,
               fmt::format("{} {} with all cells?", verb, list))) {
    Require(Error{"nothing was removed"});
  }
  std::string changed;
  for (const std::string& name : names) {
    RequireChange((store.get()->*remove)(name), name, &changed);
  }
}

void Drop(const RemovalArgs& args, const Streams& streams) {
  Remove(args, "Drop", &Store::DropFamily, streams);
}

void Truncate(const RemovalArgs& args, const Streams& streams) {
  Remove(args, "Truncate", &Store::TruncateFamily, streams);
}

void DescribeFamilies(const PrintingStoreArgs& args, const Streams& streams) {
  const std::shared_ptr<Store> store = args.OpenToRead(streams);
  for (const auto& [name, options] : store->Families()) {
    if (args.json) {
      Record()
          .Text("family", ToPrintable(name))
          .Object("settings", SettingsOf(options))
          .Print(streams.out);
    } else {
      streams.out << FamilySpec::ToText(name, options) << '\n';
    }
  }
}

// Returns the settings that differ from the defaults and have no column in the
// table.
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

// Returns the bytes of a front filter for the files of a family.
uint64_t FrontFilterBytes(const StoreStats& stats, std::string_view name) {
  for (const FrontFilterFamilyStats& family : stats.front_filter->families) {
    if (family.name == name) return family.row_bytes;
  }
  return 0;
}

void Print(const StoreStats& stats, const Output& output) {
  Listing families(output,
                   "family bloom_type rate rows cells memory_bytes files "
                   "file_bytes filter_bytes blob_file_bytes "
                   "front_filter_bytes "
                   "other_settings");
  Listing levels(output, "family level files file_bytes");
  for (const auto& [name, family] : stats.families) {
    std::vector<Record> records;
    for (const LevelStats& level : family.levels) {
      if (level.files == 0) continue;
      levels.AddRow(records.emplace_back()
                        .InText("family", ToPrintable(name))
                        .Signed("level", level.level)
                        .Number("files", level.files)
                        .Number("file_bytes", level.file_bytes));
    }
    families.Add(
        Record()
            .Text("family", ToPrintable(name))
            .Object("settings", SettingsOf(family.options))
            .InText("bloom_type", ToString(family.options.bloom_type))
            .InText("rate",
                    fmt::format("{}", family.options.false_positive_rate))
            .Number("rows", family.estimated_rows)
            .Number("cells", family.estimated_cells)
            .Number("memory_bytes", family.memtable_bytes)
            .Number("files", family.files)
            .Number("file_bytes", family.file_bytes)
            .Number("filter_bytes", family.filter_bytes)
            .Number("blob_files", family.blob_files)
            .Number("blob_file_bytes", family.blob_file_bytes)
            .Number("front_filter_bytes", FrontFilterBytes(stats, name))
            .Array("levels", records)
            .InText("other_settings", OtherSettings(family.options)));
  }
  families.Print();
  output.Line();
}

// Waits until the front filter has read all files, and returns the statistics.
StoreStats ArmedStats(Store* store) {
  const auto arms = [](const FrontFilterFamilyStats& family) {
    return family.state == FrontFilterState::kArming;
  };
  while (true) {
    StoreStats stats;
    Require(store->Stats(&stats));
    if (std::ranges::none_of(stats.front_filter->families, arms)) return stats;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void Stats(const PrintingStoreArgs& args, const Streams& streams) {
  // The store is opened with a front filter, to tell how much memory it takes.
  StoreOptions options = args.Options();
  options.read_only = true;
  options.front_filter_limit_bytes = StoreOptions().front_filter_limit_bytes;
  Print(ArmedStats(args.Open(options, {}, streams).get()), args.To(streams));
}

}  // namespace

std::vector<Verb> FamilyVerbs() {
  return {
      {"create", "Creates a store, or families in one.",
       "--db users.db --family info,versions=3 --family seen,ttl=7d",
       [](CLI::App* command) {
         return AddVerb(command, Create, "A family to create; repeatable");
       }},
      {"alter", "Changes settings of families.",
       "--db users.db --family info,compression=zstd --family seen,ttl=30d",
       [](CLI::App* command) {
         return AddVerb(command, Alter,
                        "A family, and what to change of it; its other "
                        "settings stay. timestamps=store in place of client is "
                        "for good, for the whole store. Repeatable");
       }},
      {"drop", "Drops families with their cells.",
       "--db users.db --family seen",
       [](CLI::App* command) {
         return AddVerb(command, Drop,
                        "A family to drop with its cells; repeatable");
       }},
      {"truncate", "Removes all cells of families.",
       "--db users.db --family info --yes",
       [](CLI::App* command) {
         return AddVerb(command, Truncate,
                        "A family whose cells go; repeatable");
       }},
      {"describe", "Prints the families and their settings.", "--db users.db",
       Of<DescribeFamilies>},
      {"stats", "Prints what the store has, by family.", "--db users.db",
       Of<Stats>},
  };
}

}  // namespace rowbloom::cli
