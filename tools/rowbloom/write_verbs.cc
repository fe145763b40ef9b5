#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rowbloom/printable.h"
#include "rowbloom/store.h"
#include "tools/cli/arguments.h"
#include "tools/cli/input.h"
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

// A write of one cell. `value` is the argument before it is decoded.
struct CellArgs : WriteArgs {
  std::string column;
  std::string value;
  std::optional<uint64_t> ttl_ms;

  void AddTo(CLI::App* command,
             std::optional<uint64_t> forever_ms = std::nullopt) {
    WriteArgs::AddTo(command,
                     "Its timestamp, for families whose client gives them");
    AddTtlTo(command, &ttl_ms, forever_ms);
    AddArgumentTo(command, "COLUMN", &column, "FAMILY:QUALIFIER");
  }

  WriteOptions Options() const {
    WriteOptions options = WriteArgs::Options();
    options.ttl_ms = ttl_ms;
    return options;
  }
};

// CellArgs with the argument VALUE.
struct ValueArgs : CellArgs {
  void AddTo(CLI::App* command,
             std::optional<uint64_t> forever_ms = std::nullopt) {
    CellArgs::AddTo(command, forever_ms);
    AddArgumentTo(command, "VALUE", &value,
                  "\\xHH stands for any byte; - is standard input as it is");
  }
};

// Reads the whole stream. A stream that fails, or is longer than a value may
// be, ends the verb.
std::string ReadValue(std::istream& in) {
  constexpr size_t kChunkBytes = size_t{64} << 10;
  std::string value;
  while (in && value.size() <= kMaxValueBytes) {
    const size_t begin = value.size();
    value.resize(begin + kChunkBytes);
    in.read(value.data() + begin, kChunkBytes);
    value.resize(begin + static_cast<size_t>(in.gcount()));
  }
  if (in.bad()) Require(Error{"standard input: " + ReadProblem(in)});
  if (value.size() > kMaxValueBytes) {
    Require(
        Error{fmt::format("standard input: expected a value of at most {} "
                          "bytes, found a longer one",
                          kMaxValueBytes)});
  }
  return value;
}

// The parsed cell of a write, and its open store.
struct OpenedCell {
  OpenedCell(const CellArgs& args, const Streams& streams)
      : column(ParseCellColumn(args.column)),
        value(args.value == "-" ? ReadValue(InputOf(streams))
                                : FromPrintable(args.value)),
        store(args.store.OpenToWrite(streams)) {}

  const Column column;
  const std::string& family = column.family;
  const std::string& qualifier = *column.qualifier;
  const std::string value;
  const std::shared_ptr<Store> store;
};

void Put(const ValueArgs& args, const Streams& streams) {
  const OpenedCell cell(args, streams);
  Require(cell.store->Put(args.row, cell.family, cell.qualifier, cell.value,
                          args.Options()));
}

struct AppendArgs : ValueArgs {
  void AddTo(CLI::App* command) { ValueArgs::AddTo(command, kMaxTimestampMs); }
};

void Append(const AppendArgs& args, const Streams& streams) {
  const OpenedCell cell(args, streams);
  Require(cell.store->Append(args.row, cell.family, cell.qualifier, cell.value,
                             /*joined=*/nullptr, args.Options()));
}

struct IncrementArgs : CellArgs {
  int64_t delta = 1;
  bool json = false;

  void AddTo(CLI::App* command) {
    CellArgs::AddTo(command, kMaxTimestampMs);
    AddJsonTo(command, &json);
    AddNumberTo(command, "DELTA", &delta,
                "Added to the counter, 8 bytes big-endian; default 1",
                /*unit=*/"");
  }
};

void Increment(const IncrementArgs& args, const Streams& streams) {
  const OpenedCell cell(args, streams);
  int64_t sum = 0;
  Require(cell.store->Increment(args.row, cell.family, cell.qualifier,
                                args.delta, &sum, args.Options()));
  if (args.json) {
    Record().Signed("value", sum).Print(streams.out);
  } else {
    streams.out << sum << '\n';
  }
}

struct CheckAndPutArgs : ValueArgs {
  std::optional<std::string> expected;
  bool absent = false;

  void AddTo(CLI::App* command) {
    ValueArgs::AddTo(command);
    AddBytesTo(command, "--if", &expected,
               "Write only if the cell's newest value is this one", "VALUE");
    command->add_flag("--if-absent", absent,
                      "Write only if there is no such cell");
    command->callback([this] {
      if (expected.has_value() != absent) return;
      throw CLI::ValidationError("expected --if VALUE or --if-absent");
    });
  }
};

ExitCode CheckAndPut(const CheckAndPutArgs& args, const Streams& streams) {
  const OpenedCell cell(args, streams);
  bool applied = false;
  Require(cell.store->CheckAndPut(args.row, cell.family, cell.qualifier,
                                  args.expected, cell.value, &applied,
                                  args.Options()));
  if (applied) return ExitCode::kOk;
  Complain(streams.err,
           "cell \"" + ToPrintable(cell.family + ":" + cell.qualifier) +
               "\" in row \"" + ToPrintable(args.row) +
               (args.absent ? "\" exists" : "\" does not have that value") +
               "; nothing was written");
  return ExitCode::kFinding;
}

struct DeleteArgs : WriteArgs {
  std::optional<std::string> column;
  bool exact = false;

  void AddTo(CLI::App* command) {
    WriteArgs::AddTo(command, "Delete up to this timestamp; default all");
    command->add_flag("--exact", exact,
                      "Only the version of exactly this timestamp, of the "
                      "column or of all columns of the family");
    AddOptionTo(command, "COLUMN", &column,
                "FAMILY or FAMILY:QUALIFIER; default the whole row", "");
  }
};

Status DeleteWhat(const DeleteArgs& args, Store* store) {
  const std::string& row = args.row;
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

void Delete(const DeleteArgs& args, const Streams& streams) {
  if (args.exact && (!args.timestamp_ms || !args.column)) {
    Require(Error{"--exact wants --ts and FAMILY or FAMILY:QUALIFIER"});
  }
  Require(DeleteWhat(args, args.store.OpenToWrite(streams).get()));
}

}  // namespace

std::vector<Verb> WriteVerbs() {
  return {
      {"put", "Writes a cell.",
       "--db users.db user_1001 info:mail ada@example.org\n"
       "--db users.db user_1001 info:photo - <photo.jpg",
       Of<Put>},
      {"append", "Writes a value behind that of a cell.",
       "--db users.db user_1001 info:groups ' admins'", Of<Append>},
      {"incr", "Adds to a counter and prints the sum.",
       "--db users.db user_1001 info:visits\n"
       "--db users.db user_1001 info:visits 10",
       Of<Increment>},
      {"check-and-put", "Writes a cell if it is as expected.",
       "--db users.db user_1002 info:mail eve@example.org --if-absent\n"
       "--db users.db user_1001 info:mail ada@example.com --if ada@example.org",
       Of<CheckAndPut>},
      {"delete", "Deletes a row, a family of it, or a column.",
       "--db users.db user_1001 info:photo\n"
       "--db users.db user_1003",
       Of<Delete>},
  };
}

}  // namespace rowbloom::cli
