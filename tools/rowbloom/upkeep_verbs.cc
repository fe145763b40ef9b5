#include "tools/rowbloom/upkeep_verbs.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "rowbloom/printable.h"
#include "rowbloom/store.h"
#include "tools/rowbloom/store_args.h"

namespace rowbloom::cli {
namespace {

using rocksdb::Status;

ExitCode Flush(const StoreArgs& args, const Streams& streams) {
  std::shared_ptr<Store> store;
  Status s = args.OpenToWrite(streams, &store);
  if (s.ok()) s = store->Flush();
  return s.ok() ? ExitCode::kOk : Fail(streams.err, s);
}

struct CompactArgs {
  StoreArgs store;
  std::string family;
  std::string start_row;
  std::string stop_row;
};

ExitCode Compact(const CompactArgs& args, const Streams& streams) {
  std::shared_ptr<Store> store;
  Status s = args.store.OpenToWrite(streams, &store);
  if (s.ok()) {
    s = store->Compact({.family = args.family,
                        .start_row = FromPrintable(args.start_row),
                        .stop_row = FromPrintable(args.stop_row)});
  }
  return s.ok() ? ExitCode::kOk : Fail(streams.err, s);
}

ExitCode ResetClock(const StoreArgs& args, const Streams& streams) {
  // Opened without its warnings, one of which asks for this.
  StoreOptions options;
  std::shared_ptr<Store> store;
  Status s = args.Options(&options);
  if (s.ok()) s = args.OpenQuietly(options, {}, streams, &store);
  if (s.ok()) s = store->ResetClock();
  return s.ok() ? ExitCode::kOk : Fail(streams.err, s);
}

struct CheckpointArgs {
  StoreArgs store;
  std::string directory;
};

ExitCode Checkpoint(const CheckpointArgs& args, const Streams& streams) {
  std::shared_ptr<Store> store;
  Status s = args.store.OpenToWrite(streams, &store);
  if (s.ok()) s = store->Checkpoint(args.directory);
  return s.ok() ? ExitCode::kOk : Fail(streams.err, s);
}

}  // namespace

Action AddFlush(CLI::App* command) {
  const auto args = std::make_shared<StoreArgs>();
  args->AddTo(command);
  return [args](const Streams& streams) { return Flush(*args, streams); };
}

Action AddCompact(CLI::App* command) {
  const auto args = std::make_shared<CompactArgs>();
  args->store.AddTo(command);
  command->add_option("--family", args->family, "One family; default all")
      ->type_name("F");
  command->add_option("--start", args->start_row, "The first row, inclusive")
      ->type_name("ROW");
  command->add_option("--stop", args->stop_row, "The end, exclusive")
      ->type_name("ROW");
  return [args](const Streams& streams) { return Compact(*args, streams); };
}

Action AddResetClock(CLI::App* command) {
  const auto args = std::make_shared<StoreArgs>();
  args->AddTo(command);
  command->footer(
      "For a store whose timestamps ran ahead while the machine's clock was "
      "wrong. Cells\nwith later timestamps stay, and hide newer puts of them "
      "until the clock has passed\nthem.\n\n" +
      command->get_footer());
  return [args](const Streams& streams) { return ResetClock(*args, streams); };
}

Action AddCheckpoint(CLI::App* command) {
  const auto args = std::make_shared<CheckpointArgs>();
  args->store.AddTo(command);
  command
      ->add_option("TARGET", args->directory, "Where it goes; must not exist")
      ->required()
      ->type_name("");
  return [args](const Streams& streams) { return Checkpoint(*args, streams); };
}

}  // namespace rowbloom::cli
