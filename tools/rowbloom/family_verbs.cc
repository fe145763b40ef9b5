#include "tools/rowbloom/family_verbs.h"

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "rowbloom/printable.h"
#include "rowbloom/store.h"
#include "storage/store/family_spec.h"
#include "tools/rowbloom/store_args.h"

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
    command->footer(FamilySpec::Help() + "\n\n" + command->get_footer());
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
  std::unique_ptr<Store> store;
  if (s.ok()) s = args.store.Open(options, families, streams.err, &store);
  return s.ok() ? ExitCode::kOk : Fail(streams.err, s);
}

ExitCode Alter(const FamilyArgs& args, const Streams& streams) {
  const auto specs = FamilySpec::ParseAll(args.families);
  if (!specs) return Fail(streams.err, specs.error());
  std::unique_ptr<Store> store;
  Status s = args.store.OpenToWrite(streams.err, &store);
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

ExitCode Drop(const FamilyArgs& args, const Streams& streams) {
  std::unique_ptr<Store> store;
  Status s = args.store.OpenToWrite(streams.err, &store);
  if (!s.ok()) return Fail(streams.err, s);
  const std::map<std::string, FamilyOptions> families = store->Families();
  std::set<std::string> names;
  for (const std::string& family : args.families) {
    const std::string name = FromPrintable(family);
    if (const auto error = args.store.CheckFamily(name, families)) {
      return Fail(streams.err, error->message);
    }
    names.insert(name);
  }
  for (const std::string& name : names) {
    if (s.ok()) s = store->DropFamily(name);
  }
  return s.ok() ? ExitCode::kOk : Fail(streams.err, s);
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
  const auto args = std::make_shared<FamilyArgs>();
  args->AddTo(command, "A family to drop with its cells; repeatable");
  return [args](const Streams& streams) { return Drop(*args, streams); };
}

}  // namespace rowbloom::cli
