#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "rowbloom/printable.h"
#include "rowbloom/store.h"
#include "storage/settings/family_spec.h"
#include "tools/cli/arguments.h"
#include "tools/cli/input.h"
#include "tools/cli/interruption.h"
#include "tools/cli/progress.h"
#include "tools/rowbloom/cell_reader.h"
#include "tools/rowbloom/verbs.h"

namespace rowbloom::cli {
namespace {

using rocksdb::Status;

constexpr char kDefaultFamily[] = "f";

// The approximate bytes of cells in one batch of writes.
constexpr size_t kLoadBatchBytes = size_t{1} << 20;

struct LoadArgs {
  PrintingStoreArgs store;
  std::vector<std::string> families;
  std::optional<uint64_t> timestamp_ms;
  std::optional<uint64_t> ttl_ms;
  std::string file;  // "-": standard input

  void AddTo(CLI::App* command) {
    store.AddTo(command);
    AddFamilySpecsTo(command, &families,
                     "Family to create if missing; repeatable. The first takes "
                     "the cells of a package index");
    AddNumberTo(command, "--ts", &timestamp_ms,
                "Timestamp of the cells, for families whose client gives them",
                "MS");
    AddTtlTo(command, &ttl_ms);
    AddArgumentTo(command, "FILE", &file, "Input; - is standard input");
  }
};

// The target of a load. It checks cells one by one and writes them in batches.
class Loader {
 public:
  Loader(Store* store, const LoadArgs& args, std::string default_family)
      : store_(store),
        write_options_{.timestamp_ms = args.timestamp_ms,
                       .ttl_ms = args.ttl_ms},
        row_bytes_(store->Options().key_layout->FixedRowBytes()),
        default_family_(std::move(default_family)),
        families_(store->Families()) {}

  // Adds a cell. A failure to write ends the load, and status() has it.
  // REQUIRES that Check accepts the cell.
  std::optional<Error> Add(const InputCell& cell) {
    batch_.Put(cell.row, FamilyOf(cell), cell.qualifier, cell.value);
    batch_bytes_ += cell.row.size() + cell.qualifier.size() + cell.value.size();
    if (batch_bytes_ < kLoadBatchBytes || !cell.is_last) return std::nullopt;
    Write();
    if (!status_.ok()) return Error{Describe(status_)};
    return std::nullopt;
  }

  // Writes the cells that are not written yet.
  void Write() {
    if (!status_.ok()) return;
    status_ = store_->Write(batch_, write_options_);
    if (status_.ok()) cells_written_ += batch_.size();
    batch_.Clear();
    batch_bytes_ = 0;
  }

  // The status of the writes so far.
  const Status& status() const { return status_; }
  uint64_t cells_written() const { return cells_written_; }
  uint64_t cells_taken() const { return cells_written_ + batch_.size(); }

  // Refuses a cell that the store would refuse, so that the error can name the
  // line of the input.
  std::optional<Error> Check(const InputCell& cell) const {
    const size_t row_bytes = cell.row.size();
    if (row_bytes_ && row_bytes != *row_bytes_) {
      return Error{fmt::format("expected a row of {} bytes, found {}",
                               *row_bytes_, row_bytes)};
    }
    if (row_bytes == 0 || row_bytes > kMaxRowBytes) {
      return Error{fmt::format("expected a row of 1 to {} bytes, found {}",
                               kMaxRowBytes, row_bytes)};
    }
    if (cell.qualifier.size() > kMaxQualifierBytes) {
      return Error{
          fmt::format("expected a qualifier of at most {} bytes, "
                      "found {}",
                      kMaxQualifierBytes, cell.qualifier.size())};
    }
    const std::string family(FamilyOf(cell));
    if (families_.contains(family)) return std::nullopt;
    return Error{Describe(store_->CheckAlterFamily(family, {}))};
  }

 private:
  std::string_view FamilyOf(const InputCell& cell) const {
    return cell.family.value_or(default_family_);
  }

  Store* const store_;
  const WriteOptions write_options_;
  const std::optional<uint32_t> row_bytes_;
  const std::string default_family_;
  const std::map<std::string, FamilyOptions> families_;
  WriteBatch batch_;
  size_t batch_bytes_ = 0;
  uint64_t cells_written_ = 0;
  Status status_;
};

// Opens the store, and creates the missing families that the arguments and the
// input need. Existing families must have the settings of the arguments.
std::shared_ptr<Store> OpenForLoad(const LoadArgs& args,
                                   std::vector<FamilySpec> specs,
                                   const std::optional<InputFormat>& format,
                                   const Streams& streams) {
  StoreOptions options = args.store.Options();
  // Reads the families first, so that an error changes nothing.
  std::map<std::string, FamilyOptions> existing;
  std::shared_ptr<Store> store;
  options.read_only = true;
  const Status s =
      args.store.TryOpen(options, {}, streams, &store, /*quiet=*/true);
  const bool is_new = s.IsNotFound();
  if (!is_new) {
    Require(s);
    existing = store->Families();
    store.reset();
  }
  if (specs.empty() && (is_new || format == InputFormat::kPackageIndex)) {
    specs.push_back(*FamilySpec::Parse(kDefaultFamily));
  }
  std::vector<FamilyDescriptor> families;
  for (const FamilySpec& spec : specs) {
    families.push_back({spec.name(), spec.ApplyTo(existing[spec.name()])});
  }
  options.read_only = false;
  options.create_if_missing = true;
  return args.store.Open(options, families, streams);
}

// The input to read, and its name in messages.
struct Source {
  std::istream* stream;
  std::optional<uint64_t> total_bytes;
  std::string name;
};

ExitCode LoadFrom(const Source& source, const LoadArgs& args,
                  const Streams& streams) {
  const auto specs = Require(FamilySpec::ParseAll(args.families));
  const Interruption interruption;
  CellReader reader(*source.stream, source.name);
  const auto fail = [&](std::string problem, uint64_t cells) {
    const int signal = interruption.signal();
    // A signal also makes a read of the stream fail.
    if (signal != 0 && source.stream->bad()) {
      problem =
          fmt::format("{}:{}: interrupted", source.name, reader.line_number());
    }
    Complain(streams.err, fmt::format("{}; cells loaded: {}", problem, cells));
    return FailedBy(signal);
  };
  const auto format = reader.Detect();
  if (!format) return fail(format.error(), 0);
  const std::shared_ptr<Store> store =
      OpenForLoad(args, specs, *format, streams);
  Loader loader(store.get(), args,
                specs.empty() ? kDefaultFamily : specs.front().name());
  Progress progress(streams.err,
                    {ToPrintable(source.name), source.total_bytes, "cells"});
  const auto check = [&](const InputCell& cell) -> std::optional<Error> {
    if (interruption.signal() != 0) return Error{"interrupted"};
    progress.Update(reader.bytes_consumed(), loader.cells_taken());
    return loader.Check(cell);
  };
  const auto error = reader.ReadAll(
      {check, [&](const InputCell& cell) { return loader.Add(cell); }});
  loader.Write();
  Status s = loader.status();
  if (!error && s.ok()) s = store->Flush();
  progress.Finish();
  if (!s.ok()) return fail(Describe(s), loader.cells_written());
  if (error) return fail(error->message, loader.cells_written());
  args.store.To(streams).PrintSum(Record()
                                      .Number("cells", loader.cells_written())
                                      .Number("bytes", reader.bytes_consumed())
                                      .Seconds("seconds", progress.seconds()));
  return ExitCode::kOk;
}

ExitCode Load(const LoadArgs& args, const Streams& streams) {
  if (args.file == "-") {
    return LoadFrom({&InputOf(streams), streams.in_bytes, "standard input"},
                    args, streams);
  }
  const auto file = Require(InputFile::Open(args.file));
  return LoadFrom({&file->stream(), file->size_bytes(), args.file}, args,
                  streams);
}

}  // namespace

std::vector<Verb> LoadVerbs() {
  return {
      {"load", "Loads cells from text, TSV or a Debian package index.",
       "--db users.db --family info cells.tsv\n"
       "--db packages.db --family package,bloom=ROW - <packages.txt",
       Of<Load>},
  };
}

}  // namespace rowbloom::cli
