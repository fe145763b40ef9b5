#include "tools/rowbloom/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>
#include <memory>
#include <ostream>
#include <system_error>

#include "rowbloom/printable.h"
#include "rowbloom/store.h"
#include "tools/rowbloom/cell_reader.h"
#include "tools/terminal/progress.h"

namespace rowbloom::cli {
namespace {

using rocksdb::Status;

// Where a load goes: checks cells one by one, writes them in batches.
class Loader {
 public:
  Loader(Store* store, std::string db, const KeyLayout& key_layout,
         std::string default_family)
      : store_(store),
        db_(std::move(db)),
        row_bytes_(key_layout.FixedRowBytes()),
        default_family_(std::move(default_family)),
        families_(store->Families()) {}

  // Refuses a cell that the store would refuse, so that the input's line can
  // be named; a failure to write ends the load too, and is in status().
  std::optional<Error> Add(const InputCell& cell) {
    const std::string_view family = cell.family.value_or(default_family_);
    if (auto error = Check(cell, family)) return error;
    batch_.Put(cell.row, family, cell.qualifier, cell.value);
    batch_bytes_ += cell.row.size() + cell.qualifier.size() + cell.value.size();
    if (batch_bytes_ < kBatchBytes) return std::nullopt;
    Write();
    if (!status_.ok()) return Error{status_.ToString()};
    return std::nullopt;
  }

  // Writes what is left of the cells.
  void Write() {
    if (!status_.ok()) return;
    status_ = store_->Write(batch_);
    if (status_.ok()) cells_written_ += batch_.size();
    batch_.Clear();
    batch_bytes_ = 0;
  }

  // Of the writes so far.
  const Status& status() const { return status_; }
  uint64_t cells_written() const { return cells_written_; }
  uint64_t cells_taken() const { return cells_written_ + batch_.size(); }

 private:
  std::optional<Error> Check(const InputCell& cell,
                             std::string_view family) const {
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
    if (!families_.contains(std::string(family))) {
      std::string names;
      for (const auto& [name, options] : families_) {
        names += names.empty() ? name : ", " + name;
      }
      return Error{fmt::format(
          "family \"{}\" is not in the store at {}; it has: {}",
          ToPrintable(family), db_, names.empty() ? "none" : names)};
    }
    return std::nullopt;
  }

  Store* const store_;
  const std::string db_;
  const std::optional<uint32_t> row_bytes_;
  const std::string default_family_;
  const std::map<std::string, FamilyOptions> families_;
  WriteBatch batch_;
  size_t batch_bytes_ = 0;
  uint64_t cells_written_ = 0;
  Status status_;
};

// Opens the store, with the families that the options and the input ask for.
Status OpenForLoad(const LoadOptions& options,
                   const std::optional<InputFormat>& format,
                   std::unique_ptr<Store>* store) {
  StoreOptions store_options;
  store_options.key_layout = options.key_layout;
  std::map<std::string, FamilyOptions> existing;
  // A look first, so that nothing is touched when something does not fit.
  store_options.read_only = true;
  Status s = Store::Open(store_options, options.db, {}, store);
  const bool is_new = s.IsNotFound();
  if (s.ok()) {
    existing = (*store)->Families();
    store->reset();
  } else if (!is_new) {
    return s;
  }
  std::vector<std::string> names = options.families;
  if (names.empty() && (is_new || format == InputFormat::kPackageIndex)) {
    names = {kDefaultFamily};
  }
  std::map<std::string, FamilyOptions> wanted;
  for (const std::string& name : names) {
    const auto kept = existing.find(name);
    FamilyOptions family =
        kept == existing.end() ? FamilyOptions() : kept->second;
    family.bloom_type = options.bloom_type.value_or(family.bloom_type);
    family.false_positive_rate =
        options.false_positive_rate.value_or(family.false_positive_rate);
    family.row_prefix_length =
        options.row_prefix_length.value_or(family.row_prefix_length);
    wanted.insert_or_assign(name, family);
  }
  std::vector<FamilyDescriptor> families;
  for (const auto& [name, family] : wanted) families.push_back({name, family});
  store_options.read_only = false;
  return Store::Open(store_options, options.db, families, store);
}

}  // namespace

ExitCode Load(const LoadOptions& options, std::istream& in, std::ostream& out,
              std::ostream& err, bool err_is_terminal) {
  const bool from_standard_input = options.file == "-";
  const std::string name =
      from_standard_input ? "standard input" : options.file;
  std::ifstream file;
  if (!from_standard_input) {
    file.open(options.file, std::ios::binary);
    if (!file.is_open()) {
      const std::error_code why(errno, std::generic_category());
      Complain(err, name + ": " + why.message());
      return ExitCode::kFailed;
    }
  }
  CellReader reader(from_standard_input ? in : file, name);
  const auto format = reader.Detect();
  if (!format) {
    Complain(err, format.error());
    return ExitCode::kFailed;
  }
  std::unique_ptr<Store> store;
  if (Status s = OpenForLoad(options, *format, &store); !s.ok()) {
    Complain(err, Describe(s));
    return ExitCode::kFailed;
  }
  Loader loader(
      store.get(), options.db, options.key_layout,
      options.families.empty() ? kDefaultFamily : options.families.front());
  double seconds = 0;
  std::optional<Error> error;
  {
    terminal::Progress progress(err, err_is_terminal,
                                {ToPrintable(name), std::nullopt, "cells"});
    error = reader.ReadAll([&](const InputCell& cell) {
      progress.Update(reader.bytes_consumed(), loader.cells_taken());
      return loader.Add(cell);
    });
    loader.Write();
    progress.Update(reader.bytes_consumed(), loader.cells_written());
    Status s = loader.status();
    if (s.ok()) s = store->Flush();
    seconds = progress.seconds();
    if (!s.ok()) error = Error{Describe(s)};
  }
  if (error) {
    Complain(err, fmt::format("{}; cells loaded: {}", error->message,
                              loader.cells_written()));
    return ExitCode::kFailed;
  }
  out << fmt::format("{} cells, {} bytes, {:.2f} s\n", loader.cells_written(),
                     reader.bytes_consumed(), seconds);
  return ExitCode::kOk;
}

}  // namespace rowbloom::cli
