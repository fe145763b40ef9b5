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
  const auto specs = FamilySpec::ParseAll(args.families);
  if (!specs) return Fail(streams.err, specs.error());
  std::vector<FamilyDescriptor> families;
  for (const FamilySpec& spec : *specs) {
    families.push_back({spec.name(), spec.ApplyTo({})});
  }
  StoreOptions options;
  Status s = args.store.Options(&options);
  options.create_if_missing = true;
  std::shared_ptr<Store> store;
  if (s.ok()) s = args.store.Open(options, families, streams, &store);
  return s.ok() ? ExitCode::kOk : Fail(streams.err, s);
}

ExitCode Alter(const FamilyArgs& args, const Streams& streams) {
  const auto specs = FamilySpec::ParseAll(args.families);
  if (!specs) return Fail(streams.err, specs.error());
  std::shared_ptr<Store> store;
  Status s = args.store.OpenToWrite(streams, &store);
  if (!s.ok()) return Fail(streams.err, s);
  std::map<std::string, FamilyOptions> families = store->Families();
  std::map<std::string, FamilyOptions> altered;
  for (const FamilySpec& spec : *specs) {
    FamilyOptions& options = families[spec.name()];
    options = spec.ApplyTo(options);
    altered[spec.name()] = options;
  }
  // One that the store does not have is the store's to refuse.
  for (const auto& [name, options] : altered) {
    if (s.ok()) s = store->CheckAlterFamily(name, options);
  }
  for (const auto& [name, options] : altered) {
    if (s.ok()) s = store->AlterFamily(name, options);
  }
  return s.ok() ? ExitCode::kOk : Fail(streams.err, s);
}

struct RemovalArgs : FamilyArgs {
  bool yes = false;

  void AddTo(CLI::App* command, const char* meaning) {
    FamilyArgs::AddTo(command, meaning);
    AddYesTo(command, &yes);
  }
};

// Calls `remove` for each family that is named, once all are known to exist.
ExitCode RemoveCells(const RemovalArgs& args, const Streams& streams,
                     const char* verb,
                     Status (Store::*remove)(const std::string& name)) {
  std::shared_ptr<Store> store;
  Status s = args.store.OpenToWrite(streams, &store);
  if (!s.ok()) return Fail(streams.err, s);
  const std::map<std::string, FamilyOptions> families = store->Families();
  std::set<std::string> names;
  std::string list;
  for (const std::string& family : args.families) {
    const std::string name = FromPrintable(family);
    if (const auto error = args.store.CheckFamily(name, families)) {
      return Fail(streams.err, error->message);
    }
    if (names.insert(name).second) list += (list.empty() ? "" : ", ") + family;
  }
  if (!Confirm(streams, args.yes,
               fmt::format("{} {} with all cells?", verb, list))) {
    return Fail(streams.err, "nothing was removed");
  }
  for (const std::string& name : names) {
    if (s.ok()) s = (store.get()->*remove)(name);
  }
  return s.ok() ? ExitCode::kOk : Fail(streams.err, s);
}

ExitCode Drop(const RemovalArgs& args, const Streams& streams) {
  return RemoveCells(args, streams, "Drop", &Store::DropFamily);
}

ExitCode Truncate(const RemovalArgs& args, const Streams& streams) {
  return RemoveCells(args, streams, "Truncate", &Store::TruncateFamily);
}

ExitCode DescribeFamilies(const StoreArgs& args, const Streams& streams) {
  std::shared_ptr<Store> store;
  if (Status s = args.OpenToRead(streams, &store); !s.ok()) {
    return Fail(streams.err, s);
  }
  for (const auto& [name, options] : store->Families()) {
    Record settings;
    std::string text = name;
    for (size_t at = 0; (at = text.find(',', at)) != std::string::npos;) {
      text.replace(at, 1, "\\x2C");
    }
    for (const auto& [setting, value] : FamilySpec::SettingsOf(options)) {
      settings.Text(setting, value);
      text += "," + setting + "=" + value;
    }
    if (args.json) {
      Record()
          .Text("family", name)
          .Object("settings", settings)
          .Print(streams.out);
    } else {
      streams.out << text << '\n';
    }
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
  const auto args = std::make_shared<RemovalArgs>();
  args->AddTo(command, "A family to drop with its cells; repeatable");
  return [args](const Streams& streams) { return Drop(*args, streams); };
}

Action AddTruncate(CLI::App* command) {
  const auto args = std::make_shared<RemovalArgs>();
  args->AddTo(command, "A family whose cells go; repeatable");
  return [args](const Streams& streams) { return Truncate(*args, streams); };
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
