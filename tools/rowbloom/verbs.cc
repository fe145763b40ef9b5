#include "tools/rowbloom/verbs.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <string_view>
#include <vector>

#include "rowbloom/printable.h"
#include "rowbloom/store.h"

namespace rowbloom::cli {
namespace {

using rocksdb::Status;

Status OpenToRead(const StoreLocation& location,
                  std::unique_ptr<Store>* store) {
  StoreOptions options;
  options.read_only = true;
  options.key_layout = location.key_layout;
  return Store::Open(options, location.db, {}, store);
}

ExitCode Fail(std::ostream& err, const Status& status) {
  Complain(err, Describe(status));
  return ExitCode::kFailed;
}

}  // namespace

ExitCode GetVerb(const StoreLocation& location, const std::string& row,
                 const std::string& column, std::ostream& out,
                 std::ostream& err) {
  const size_t colon = column.find(':');
  if (colon == std::string::npos) {
    Complain(err, "expected FAMILY:QUALIFIER, found \"" + ToPrintable(column) +
                      "\"");
    return ExitCode::kFailed;
  }
  std::unique_ptr<Store> store;
  Status s = OpenToRead(location, &store);
  if (!s.ok()) return Fail(err, s);
  const std::string row_name = FromPrintable(row);
  const std::string qualifier =
      FromPrintable(std::string_view(column).substr(colon + 1));
  std::string value;
  s = store->Get(row_name, column.substr(0, colon), qualifier, &value);
  if (s.IsNotFound()) {
    Complain(err, "no cell \"" + column.substr(0, colon + 1) +
                      ToPrintable(qualifier) + "\" in row \"" +
                      ToPrintable(row_name) + "\"");
    return ExitCode::kNothingFound;
  }
  if (!s.ok()) return Fail(err, s);
  out << value << '\n';
  return ExitCode::kOk;
}

ExitCode RowVerb(const StoreLocation& location, const std::string& row,
                 std::ostream& out, std::ostream& err) {
  std::unique_ptr<Store> store;
  Status s = OpenToRead(location, &store);
  if (!s.ok()) return Fail(err, s);
  const std::string row_name = FromPrintable(row);
  std::vector<Cell> cells;
  s = store->GetRow(row_name, &cells);
  if (!s.ok()) return Fail(err, s);
  if (cells.empty()) {
    Complain(err, "no row \"" + ToPrintable(row_name) + "\"");
    return ExitCode::kNothingFound;
  }
  for (const Cell& cell : cells) {
    out << cell.family << ':' << ToPrintable(cell.qualifier) << '\t'
        << cell.timestamp_ms << '\t' << ToPrintable(cell.value) << '\n';
  }
  return ExitCode::kOk;
}

ExitCode StatsVerb(const StoreLocation& location, std::ostream& out,
                   std::ostream& err) {
  std::unique_ptr<Store> store;
  Status s = OpenToRead(location, &store);
  if (!s.ok()) return Fail(err, s);
  StoreStats stats;
  s = store->Stats(&stats);
  if (!s.ok()) return Fail(err, s);
  size_t width = std::string_view("family").size();
  for (const auto& [name, family] : stats.families) {
    width = std::max(width, name.size());
  }
  out << fmt::format("{:{}}  {:22}  {:>7}  {:>10}  {:>5}  {:>12}  {:>12}\n",
                     "family", width, "bloom type", "rate", "cells", "files",
                     "file bytes", "filter bytes");
  for (const auto& [name, family] : stats.families) {
    out << fmt::format("{:{}}  {:22}  {:>7}  {:>10}  {:>5}  {:>12}  {:>12}\n",
                       name, width, ToString(family.options.bloom_type),
                       family.options.false_positive_rate,
                       family.estimated_cells, family.files, family.file_bytes,
                       family.filter_bytes);
  }
  return ExitCode::kOk;
}

}  // namespace rowbloom::cli
