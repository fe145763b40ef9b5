// The arguments of verbs that use a store, and the store that they name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rocksdb/status.h"
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
  std::optional<std::string> key_layout;  // nullopt: the store's own

  // Adds --db and --key-layout. The command must not outlive this.
  void AddTo(CLI::App* command);

  // Returns options that open this store for writing and do not create it.
  StoreOptions Options() const;

  // Gives the shell's open store if --db names it: creates its missing
  // families, and keeps its options. Otherwise opens the store, and prints its
  // warnings unless `quiet`. Refuses a key layout other than the store's.
  rocksdb::Status TryOpen(const StoreOptions& options,
                          const std::vector<FamilyDescriptor>& families,
                          const Streams& streams, std::shared_ptr<Store>* store,
                          bool quiet = false) const;
  // Calls TryOpen, with warnings. An error ends the verb (Require).
  std::shared_ptr<Store> Open(const StoreOptions& options,
                              const std::vector<FamilyDescriptor>& families,
                              const Streams& streams) const;

  // Open an existing store.
  std::shared_ptr<Store> OpenToRead(const Streams& streams) const;
  std::shared_ptr<Store> OpenToWrite(const Streams& streams) const;
};

// StoreArgs for verbs that print something.
struct PrintingStoreArgs : StoreArgs {
  bool json = false;

  // Adds --json, too.
  void AddTo(CLI::App* command);

  // Returns the output of the verb, without an indent of text. The streams must
  // outlive it.
  Output To(const Streams& streams) const {
    return {streams.out, streams.err, json, /*indent=*/0};
  }
};

// The variables that the options below set must outlive the command.

// Adds --family, for specs of families (FamilySpec), and help on their syntax.
CLI::Option* AddFamilySpecsTo(CLI::App* command,
                              std::vector<std::string>* families,
                              const char* meaning);

// Adds --family, which names one family. An empty name, as that of a variable
// that is not set, would mean all.
void AddFamilyTo(CLI::App* command, std::string* family, const char* meaning);

// Adds --ttl, which sets the TTL of a put. `forever` sets `forever_ms`;
// nullopt: no TTL. Verbs that change a version need a number, since without a
// TTL they keep that of the version.
void AddTtlTo(CLI::App* command, std::optional<uint64_t>* ttl_ms,
              std::optional<uint64_t> forever_ms = std::nullopt);

// Add ROW, and --start and --stop, a range of rows. \xHH stands for any byte
// (FromPrintable).
void AddRowArgumentTo(CLI::App* command, std::string* row);
void AddRowRangeTo(CLI::App* command, std::string* start_row,
                   std::string* stop_row);

// Parses "FAMILY:QUALIFIER", or "FAMILY" for all its columns. \xHH stands for
// any byte in both (FromPrintable).
Column ParseColumn(const std::string& text);

// Parses the column of a cell. One without a qualifier ends the verb.
Column ParseCellColumn(const std::string& text);

// Returns the settings of a family as members of an object.
Record SettingsOf(const FamilyOptions& options);

}  // namespace rowbloom::cli
