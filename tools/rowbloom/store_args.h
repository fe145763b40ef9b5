// The arguments that verbs on a store take, and the store they name.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/status.h"
#include "rowbloom/result.h"
#include "rowbloom/store.h"
#include "tools/cli/output.h"
#include "tools/cli/record.h"
#include "tools/cli/report.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace rowbloom::cli {

// The store that a shell has open, and its directory: the default of --db.
struct Session {
  std::shared_ptr<Store> store;
  std::string db;
};

struct StoreArgs {
  std::string db;
  std::string key_layout;  // empty: the store's own

  // Adds --db and --key-layout. The command must not outlive this.
  void AddTo(CLI::App* command);

  // Options for this store; writes, and creates nothing.
  StoreOptions Options() const;

  // The store that the shell has open, whose missing families are created and
  // whose options stay, or else the store that this opens, whose warnings are
  // told unless it is `quiet`. Another key layout than the store's is refused.
  rocksdb::Status TryOpen(const StoreOptions& options,
                          const std::vector<FamilyDescriptor>& families,
                          const Streams& streams, std::shared_ptr<Store>* store,
                          bool quiet = false) const;
  // The same, with warnings. An error ends the verb (Require).
  std::shared_ptr<Store> Open(const StoreOptions& options,
                              const std::vector<FamilyDescriptor>& families,
                              const Streams& streams) const;

  // Open of a store that is there.
  std::shared_ptr<Store> OpenToRead(const Streams& streams) const;
  std::shared_ptr<Store> OpenToWrite(const Streams& streams) const;

  // The error of a family that is not among the store's.
  std::optional<Error> CheckFamily(
      std::string_view family,
      const std::map<std::string, FamilyOptions>& families) const;
};

// The same for verbs that print something.
struct PrintingStoreArgs : StoreArgs {
  bool json = false;

  // Adds --json, too.
  void AddTo(CLI::App* command);

  // The output of the verb, whose text is not indented. The streams must
  // outlive it.
  Output To(const Streams& streams) const {
    return {streams.out, streams.err, json, /*indent=*/0};
  }
};

// These must not outlive the variables that they set.

// Adds --family, the specs of families (FamilySpec), and how to write them.
CLI::Option* AddFamilySpecsTo(CLI::App* command,
                              std::vector<std::string>* families,
                              const char* meaning);

// Adds --ttl, which sets the TTL of what a verb puts. `forever_ms` stands for
// `forever`; nullopt: none, which a verb that changes a version would take for
// the TTL of that version.
void AddTtlTo(CLI::App* command, std::optional<uint64_t>* ttl_ms,
              std::optional<uint64_t> forever_ms = std::nullopt);

// Add ROW, and --start and --stop, a range of rows: \xHH stands for any byte in
// them (FromPrintable).
void AddRowArgumentTo(CLI::App* command, std::string* row);
void AddRowRangeTo(CLI::App* command, std::string* start_row,
                   std::string* stop_row);

// "FAMILY:QUALIFIER", or "FAMILY" for all its columns. \xHH stands for any byte
// in both (FromPrintable).
Column ParseColumn(const std::string& text);

// The column of a cell. One without a qualifier ends the verb.
Column ParseCellColumn(const std::string& text);

// The settings of a family, as members of an object.
Record SettingsOf(const FamilyOptions& options);

}  // namespace rowbloom::cli
