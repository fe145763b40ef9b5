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
#include "tools/cli/arguments.h"
#include "tools/cli/record.h"
#include "tools/rowbloom/store_args.h"
#include "tools/rowbloom/verbs.h"

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
    AddNumberTo(command, "--ts", &timestamp_ms, timestamp_meaning, "MS");
    command->add_flag("--sync", sync, "Return when it is on the disk");
    AddRowArgumentTo(command, &row);
  }

  WriteOptions Options() const {
    return {.timestamp_ms = timestamp_ms,
            .durability = sync ? Durability::kSync : Durability::kAsync};
  }
};

// A write of one cell. `value` is what it writes, as it was typed.
struct CellArgs : WriteArgs {
  std::string column;
  std::string value;
  std::optional<uint64_t> ttl_ms;

  void AddTo(CLI::App* command) {
    WriteArgs::AddTo(command,
                     "Its timestamp, for families whose client gives them");
    AddTtlTo(command, &ttl_ms);
    command->add_option("COLUMN", column, "FAMILY:QUALIFIER")
        ->required()
        ->type_name("");
  }
  void AddWithValueTo(CLI::App* command) {
    AddTo(command);
    command
        ->add_option("VALUE", value,
                     "\\xHH stands for any byte; - is standard input as it is")
        ->required()
        ->type_name("");
  }

  WriteOptions Options() const {
    WriteOptions options = WriteArgs::Options();
    options.ttl_ms = ttl_ms;
    return options;
  }
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

// Calls write(store, row, column, value), where the value is empty unless the
// verb takes one.
template <typename Write>
ExitCode WriteCell(const CellArgs& args, const Streams& streams,
                   const Write& write) {
  const auto column = ParseCellColumn(args.column);
  if (!column) return Fail(streams.err, column.error());
  const auto value =
      args.value == "-" ? ReadValue(streams.in) : FromPrintable(args.value);
  if (!value) return Fail(streams.err, value.error());
  std::shared_ptr<Store> store;
  Status s = args.store.OpenToWrite(streams, &store);
  if (s.ok()) s = write(store.get(), FromPrintable(args.row), *column, *value);
  return s.ok() ? ExitCode::kOk : Fail(streams.err, s);
}

ExitCode Put(const CellArgs& args, const Streams& streams) {
  return WriteCell(args, streams,
                   [&](Store* store, const std::string& row,
                       const Column& column, const std::string& value) {
                     return store->Put(row, column.family, *column.qualifier,
                                       value, args.Options());
                   });
}

ExitCode Append(const CellArgs& args, const Streams& streams) {
  return WriteCell(args, streams,
                   [&](Store* store, const std::string& row,
                       const Column& column, const std::string& value) {
                     return store->Append(row, column.family, *column.qualifier,
                                          value,
                                          /*joined=*/nullptr, args.Options());
                   });
}

struct IncrementArgs : CellArgs {
  int64_t delta = 1;
};

ExitCode Increment(const IncrementArgs& args, const Streams& streams) {
  return WriteCell(args, streams,
                   [&](Store* store, const std::string& row,
                       const Column& column, const std::string& /*value*/) {
                     int64_t sum = 0;
                     Status s =
                         store->Increment(row, column.family, *column.qualifier,
                                          args.delta, &sum, args.Options());
                     if (s.ok() && args.store.json) {
                       Record().Signed("value", sum).Print(streams.out);
                     } else if (s.ok()) {
                       streams.out << sum << '\n';
                     }
                     return s;
                   });
}

struct CheckAndPutArgs : CellArgs {
  std::optional<std::string> expected;
  bool absent = false;
};

ExitCode CheckAndPut(const CheckAndPutArgs& args, const Streams& streams) {
  if (args.expected.has_value() == args.absent) {
    return Fail(streams.err, "expected --if VALUE or --if-absent");
  }
  std::optional<std::string> expected;
  if (args.expected) expected = FromPrintable(*args.expected);
  bool applied = false;
  const ExitCode code = WriteCell(
      args, streams,
      [&](Store* store, const std::string& row, const Column& column,
          const std::string& value) {
        return store->CheckAndPut(row, column.family, *column.qualifier,
                                  expected, value, &applied, args.Options());
      });
  if (code != ExitCode::kOk || applied) return code;
  Complain(streams.err,
           "cell \"" + args.column + "\" in row \"" + args.row +
               (args.absent ? "\" exists" : "\" has another value") +
               "; nothing was written");
  return ExitCode::kFinding;
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
  std::shared_ptr<Store> store;
  Status s = args.store.OpenToWrite(streams, &store);
  if (s.ok()) s = DeleteWhat(args, store.get());
  return s.ok() ? ExitCode::kOk : Fail(streams.err, s);
}

}  // namespace

Action AddPut(CLI::App* command) {
  const auto args = std::make_shared<CellArgs>();
  args->AddWithValueTo(command);
  return [args](const Streams& streams) { return Put(*args, streams); };
}

Action AddAppend(CLI::App* command) {
  const auto args = std::make_shared<CellArgs>();
  args->AddWithValueTo(command);
  return [args](const Streams& streams) { return Append(*args, streams); };
}

Action AddIncrement(CLI::App* command) {
  const auto args = std::make_shared<IncrementArgs>();
  args->AddTo(command);
  args->store.AddJsonTo(command);
  command
      ->add_option("DELTA", args->delta,
                   "Added to the counter, 8 bytes big-endian; default 1")
      ->check(WholeNumber<int64_t>())
      ->type_name("");
  return [args](const Streams& streams) { return Increment(*args, streams); };
}

Action AddCheckAndPut(CLI::App* command) {
  const auto args = std::make_shared<CheckAndPutArgs>();
  args->AddWithValueTo(command);
  command
      ->add_option("--if", args->expected,
                   "Write only if the cell's newest value is this one")
      ->type_name("VALUE");
  command->add_flag("--if-absent", args->absent,
                    "Write only if there is no such cell");
  return [args](const Streams& streams) { return CheckAndPut(*args, streams); };
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
