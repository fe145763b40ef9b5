#include "tools/rowbloom/write_verbs.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "rowbloom/printable.h"
#include "rowbloom/store.h"
#include "tools/rowbloom/store_args.h"
#include "tools/rowbloom/whole_number.h"

namespace rowbloom::cli {
namespace {

using rocksdb::Status;

struct WriteArgs {
  StoreArgs store;
  std::string row;
  std::optional<uint64_t> timestamp_ms;
  bool sync = false;

  void AddTo(CLI::App* command, const char* timestamp_meaning) {
    store.AddTo(command);
    command->add_option("--ts", timestamp_ms, timestamp_meaning)
        ->check(WholeNumber())
        ->type_name("MS");
    command->add_flag("--sync", sync, "Return when it is on the disk");
    command->add_option("ROW", row, "\\xHH stands for any byte")
        ->required()
        ->type_name("");
  }

  WriteOptions Options() const {
    return {.timestamp_ms = timestamp_ms,
            .durability = sync ? Durability::kSync : Durability::kAsync};
  }
};

struct PutArgs : WriteArgs {
  std::string column;
  std::string value;
};

// All of the stream. Error: it breaks, or is longer than a value may be.
Result<std::string> ReadValue(std::istream& in) {
  constexpr size_t kChunkBytes = size_t{64} << 10;
  std::string value;
  while (in && value.size() <= kMaxValueBytes) {
    const size_t begin = value.size();
    value.resize(begin + kChunkBytes);
    in.read(value.data() + begin, kChunkBytes);
    value.resize(begin + static_cast<size_t>(in.gcount()));
  }
  if (in.bad()) return Error{"standard input: cannot be read"};
  if (value.size() > kMaxValueBytes) {
    return Error{
        fmt::format("standard input: expected a value of at most {} "
                    "bytes, found a longer one",
                    kMaxValueBytes)};
  }
  return value;
}

ExitCode Put(const PutArgs& args, const Streams& streams) {
  const auto column = ParseCellColumn(args.column);
  if (!column) return Fail(streams.err, column.error());
  const auto value =
      args.value == "-" ? ReadValue(streams.in) : FromPrintable(args.value);
  if (!value) return Fail(streams.err, value.error());
  std::unique_ptr<Store> store;
  Status s = args.store.OpenToWrite(streams.err, &store);
  if (s.ok()) {
    s = store->Put(FromPrintable(args.row), column->family, *column->qualifier,
                   *value, args.Options());
  }
  return s.ok() ? ExitCode::kOk : Fail(streams.err, s);
}

struct DeleteArgs : WriteArgs {
  std::optional<std::string> column;
  bool exact = false;
};

Status DeleteWhat(const DeleteArgs& args, Store* store) {
  const std::string row = FromPrintable(args.row);
  if (!args.column) return store->DeleteRow(row, args.Options());
  const auto [family, qualifier] = ParseColumn(*args.column);
  if (!qualifier && args.exact) {
    WriteBatch batch;
    batch.DeleteFamilyVersion(row, family, *args.timestamp_ms);
    return store->Write(batch, args.Options());
  }
  if (!qualifier) return store->DeleteFamily(row, family, args.Options());
  return args.exact
             ? store->DeleteVersion(row, family, *qualifier, args.Options())
             : store->Delete(row, family, *qualifier, args.Options());
}

ExitCode Delete(const DeleteArgs& args, const Streams& streams) {
  if (args.exact && (!args.timestamp_ms || !args.column)) {
    return Fail(streams.err,
                "--exact wants --ts and FAMILY or FAMILY:QUALIFIER");
  }
  std::unique_ptr<Store> store;
  Status s = args.store.OpenToWrite(streams.err, &store);
  if (s.ok()) s = DeleteWhat(args, store.get());
  return s.ok() ? ExitCode::kOk : Fail(streams.err, s);
}

}  // namespace

Action AddPut(CLI::App* command) {
  const auto args = std::make_shared<PutArgs>();
  args->AddTo(command, "Its timestamp, for families whose client gives them");
  command->add_option("COLUMN", args->column, "FAMILY:QUALIFIER")
      ->required()
      ->type_name("");
  command
      ->add_option("VALUE", args->value,
                   "\\xHH stands for any byte; - is standard input as it is")
      ->required()
      ->type_name("");
  return [args](const Streams& streams) { return Put(*args, streams); };
}

Action AddDelete(CLI::App* command) {
  const auto args = std::make_shared<DeleteArgs>();
  args->AddTo(command, "What has this timestamp or an older one; default all");
  command->add_flag("--exact", args->exact,
                    "Only the version of exactly this timestamp, of the column "
                    "or of all columns of the family");
  command
      ->add_option("COLUMN", args->column,
                   "FAMILY or FAMILY:QUALIFIER; default the whole row")
      ->type_name("");
  return [args](const Streams& streams) { return Delete(*args, streams); };
}

}  // namespace rowbloom::cli
