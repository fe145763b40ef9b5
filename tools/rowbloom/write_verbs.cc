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

// All of the stream. One that breaks, or is longer than a value may be, ends
// the verb.
std::string ReadValue(std::istream& in) {
  constexpr size_t kChunkBytes = size_t{64} << 10;
  std::string value;
  while (in && value.size() <= kMaxValueBytes) {
    const size_t begin = value.size();
    value.resize(begin + kChunkBytes);
    in.read(value.data() + begin, kChunkBytes);
    value.resize(begin + static_cast<size_t>(in.gcount()));
  }
  if (in.bad()) Require(Error{"standard input: cannot be read"});
  if (value.size() > kMaxValueBytes) {
    Require(
        Error{fmt::format("standard input: expected a value of at most {} "
                          "bytes, found a longer one",
                          kMaxValueBytes)});
  }
  return value;
}

// The action of a verb that calls write(store, row, family, qualifier, value,
// streams), where the value is empty unless the verb takes one.
template <typename Args, typename Write>
Action WriteCell(const std::shared_ptr<Args>& args, const Write& write) {
  return [args, write](const Streams& streams) {
    const Column column = ParseCellColumn(args->column);
    const std::string value =
        args->value == "-" ? ReadValue(streams.in) : FromPrintable(args->value);
    return write(args->store.OpenToWrite(streams).get(),
                 FromPrintable(args->row), column, value, streams);
  };
}

struct IncrementArgs : CellArgs {
  int64_t delta = 1;
};

struct CheckAndPutArgs : CellArgs {
  std::optional<std::string> expected;
  bool absent = false;
};

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

}  // namespace

Action AddPut(CLI::App* command) {
  const auto args = std::make_shared<CellArgs>();
  args->AddWithValueTo(command);
  return WriteCell(
      args, [args](Store* store, const std::string& row, const Column& column,
                   const std::string& value, const Streams& /*streams*/) {
        Require(store->Put(row, column.family, *column.qualifier, value,
                           args->Options()));
        return ExitCode::kOk;
      });
}

Action AddAppend(CLI::App* command) {
  const auto args = std::make_shared<CellArgs>();
  args->AddWithValueTo(command);
  return WriteCell(
      args, [args](Store* store, const std::string& row, const Column& column,
                   const std::string& value, const Streams& /*streams*/) {
        Require(store->Append(row, column.family, *column.qualifier, value,
                              /*joined=*/nullptr, args->Options()));
        return ExitCode::kOk;
      });
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
  return WriteCell(
      args, [args](Store* store, const std::string& row, const Column& column,
                   const std::string& /*value*/, const Streams& streams) {
        int64_t sum = 0;
        Require(store->Increment(row, column.family, *column.qualifier,
                                 args->delta, &sum, args->Options()));
        if (args->store.json) {
          Record().Signed("value", sum).Print(streams.out);
        } else {
          streams.out << sum << '\n';
        }
        return ExitCode::kOk;
      });
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
  command->callback([args] {
    if (args->expected.has_value() != args->absent) return;
    throw CLI::ValidationError("expected --if VALUE or --if-absent");
  });
  return WriteCell(
      args, [args](Store* store, const std::string& row, const Column& column,
                   const std::string& value, const Streams& streams) {
        std::optional<std::string> expected;
        if (args->expected) expected = FromPrintable(*args->expected);
        bool applied = false;
        Require(store->CheckAndPut(row, column.family, *column.qualifier,
                                   expected, value, &applied, args->Options()));
        if (applied) return ExitCode::kOk;
        Complain(streams.err,
                 "cell \"" + args->column + "\" in row \"" + args->row +
                     (args->absent ? "\" exists" : "\" has another value") +
                     "; nothing was written");
        return ExitCode::kFinding;
      });
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
  return [args](const Streams& streams) {
    if (args->exact && (!args->timestamp_ms || !args->column)) {
      return Fail(streams.err,
                  "--exact wants --ts and FAMILY or FAMILY:QUALIFIER");
    }
    Require(DeleteWhat(*args, args->store.OpenToWrite(streams).get()));
    return ExitCode::kOk;
  };
}

}  // namespace rowbloom::cli
