#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "rowbloom/printable.h"
#include "rowbloom/store.h"
#include "storage/settings/family_spec.h"
#include "tools/cli/arguments.h"
#include "tools/cli/record.h"
#include "tools/rowbloom/store_args.h"
#include "tools/rowbloom/verbs.h"

namespace rowbloom::cli {
namespace {

using rocksdb::Status;

struct FamilyArgs {
  StoreArgs store;
  std::vector<std::string> families;

  CLI::Option* AddTo(CLI::App* command, const char* meaning) {
    store.AddTo(command);
    return command->add_option("--family", families, meaning)
        ->required()
        ->allow_extra_args(false)
        ->type_name("F");
  }
  void AddWithSettingsTo(CLI::App* command, const char* meaning) {
    AddTo(command, meaning)->type_name("F[,SETTING=VALUE...]");
    command->footer(FamilySpec::Help());
  }
};

ExitCode Create(const FamilyArgs& args, const Streams& streams) {
  std::vector<FamilyDescriptor> families;
  for (const FamilySpec& spec : Require(FamilySpec::ParseAll(args.families))) {
    families.push_back({spec.name(), spec.ApplyTo({})});
  }
  StoreOptions options = args.store.Options();
  options.create_if_missing = true;
  args.store.Open(options, families, streams);
  return ExitCode::kOk;
}

ExitCode Alter(const FamilyArgs& args, const Streams& streams) {
  const auto specs = Require(FamilySpec::ParseAll(args.families));
  const std::shared_ptr<Store> store = args.store.OpenToWrite(streams);
  std::map<std::string, FamilyOptions> families = store->Families();
  std::map<std::string, FamilyOptions> altered;
  for (const FamilySpec& spec : specs) {
    FamilyOptions& options = families[spec.name()];
    options = spec.ApplyTo(options);
    altered[spec.name()] = options;
  }
  // One that the store does not have is the store's to refuse.
  for (const auto& [name, options] : altered) {
    Require(store->CheckAlterFamily(name, options));
  }
  for (const auto& [name, options] : altered) {
    Require(store->AlterFamily(name, options));
  }
  return ExitCode::kOk;
}

struct RemovalArgs : FamilyArgs {
  bool yes = false;

  void AddTo(CLI::App* command, const char* meaning) {
    FamilyArgs::AddTo(command, meaning);
    AddYesTo(command, &yes);
  }
};

// Adds what such a verb takes. The action calls `remove` for each family that
// is named, once all are known to exist.
Action AddRemoval(CLI::App* command, const char* meaning, const char* verb,
                  Status (Store::*remove)(const std::string& name)) {
  const auto args = std::make_shared<RemovalArgs>();
  args->AddTo(command, meaning);
  return [args, verb, remove](const Streams& streams) {
    const std::shared_ptr<Store> store = args->store.OpenToWrite(streams);
    const std::map<std::string, FamilyOptions> families = store->Families();
    std::set<std::string> names;
    std::string list;
    for (const std::string& family : args->families) {
      const std::string name = FromPrintable(family);
      Require(args->store.CheckFamily(name, families));
      if (!names.insert(name).second) continue;
      list += (list.empty() ? "" : ", ") + family;
    }
    if (!Confirm(streams, args->yes,
                 fmt::format("{} {} with all cells?", verb, list))) {
      return Fail(streams.err, "nothing was removed");
    }
    for (const std::string& name : names) {
      Require((store.get()->*remove)(name));
    }
    return ExitCode::kOk;
  };
}

ExitCode DescribeFamilies(const StoreArgs& args, const Streams& streams) {
  const std::shared_ptr<Store> store = args.OpenToRead(streams);
  for (const auto& [name, options] : store->Families()) {
    if (args.json) {
      Record()
          .Text("family", name)
          .Object("settings", SettingsOf(options))
          .Print(streams.out);
      continue;
    }
    std::string text = name;
    for (size_t at = 0; (at = text.find(',', at)) != std::string::npos;) {
      text.replace(at, 1, "\\x2C");
    }
    for (const auto& [setting, value] : FamilySpec::SettingsOf(options)) {
      text += "," + setting + "=" + value;
    }
    streams.out << text << '\n';
  }
  return ExitCode::kOk;
}

}  // namespace

Action AddCreate(CLI::App* command) {
  const auto args = std::make_shared<FamilyArgs>();
  args->AddWithSettingsTo(command, "A family to create; repeatable");
  return [args](const Streams& streams) { return Create(*args, streams); };
}

Action AddAlter(CLI::App* command) {
  const auto args = std::make_shared<FamilyArgs>();
  args->AddWithSettingsTo(command,
                          "A family, and what to change of it; repeatable");
  return [args](const Streams& streams) { return Alter(*args, streams); };
}

Action AddDrop(CLI::App* command) {
  return AddRemoval(command, "A family to drop with its cells; repeatable",
                    "Drop", &Store::DropFamily);
}

Action AddTruncate(CLI::App* command) {
  return AddRemoval(command, "A family whose cells go; repeatable", "Truncate",
                    &Store::TruncateFamily);
}

Action AddDescribe(CLI::App* command) {
  const auto args = std::make_shared<StoreArgs>();
  args->AddTo(command);
  args->AddJsonTo(command);
  return [args](const Streams& streams) {
    return DescribeFamilies(*args, streams);
  };
}

}  // namespace rowbloom::cli
