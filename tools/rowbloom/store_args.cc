#include "tools/rowbloom/store_args.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <utility>

#include "rowbloom/printable.h"
#include "storage/settings/duration.h"
#include "storage/settings/family_spec.h"
#include "tools/cli/arguments.h"

namespace rowbloom::cli {

using rocksdb::Status;

namespace {

// Returns the settings of a family that are not as given.
std::string Differences(const FamilyOptions& kept, const FamilyOptions& given) {
  const auto wanted = FamilySpec::SettingsOf(given);
  std::string text;
  size_t at = 0;
  for (const auto& [setting, value] : FamilySpec::SettingsOf(kept)) {
    const std::string& other = wanted[at++].second;
    if (value == other) continue;
    text += fmt::format("{}{}={}, not {}", text.empty() ? "" : "; ", setting,
                        value, other);
  }
  return text;
}

// Does with an open store what Store::Open would do: checks the key layout and
// the families, and creates missing ones, all or none.
Status OpenAgain(const std::string& db,
                 const std::optional<KeyLayout>& expected,
                 const std::vector<FamilyDescriptor>& families, Store* store) {
  const KeyLayout layout = *store->Options().key_layout;
  if (expected && *expected != layout) {
    return Status::InvalidArgument(
        fmt::format("the store at {} has key layout {}, not {}", db,
                    layout.ToString(), expected->ToString()));
  }
  const auto existing = store->Families();
  std::vector<FamilyDescriptor> missing;
  for (const FamilyDescriptor& family : families) {
    const auto found = existing.find(family.name);
    if (found == existing.end()) {
      missing.push_back(family);
    } else if (found->second != family.options) {
      return Status::InvalidArgument(
          fmt::format("family \"{}\" has {}: alter changes settings",
                      ToPrintable(family.name),
                      Differences(found->second, family.options)));
    }
  }
  return missing.empty() ? Status::OK() : store->CreateFamilies(missing);
}

}  // namespace

void StoreArgs::AddTo(CLI::App* command) {
  AddOptionTo(command, "--db", &db, "Directory of the store", "DIR")
      ->required();
  AddOptionTo(command, "--key-layout", &key_layout,
              "How the store lays out rows: escaped, or fixed:N for rows of N "
              "bytes; by default as it was created, a new one escaped",
              "LAYOUT");
}

void PrintingStoreArgs::AddTo(CLI::App* command) {
  StoreArgs::AddTo(command);
  AddJsonTo(command, &json);
}

StoreOptions StoreArgs::Options() const {
  StoreOptions options;
  if (key_layout) {
    options.key_layout = Require(KeyLayout::FromString(*key_layout));
  }
  options.create_if_missing = false;
  // A command reads too few rows to be worth the reading of all ROW sections.
  options.front_filter_limit_bytes = 0;
  return options;
}

Status StoreArgs::TryOpen(const StoreOptions& options,
                          const std::vector<FamilyDescriptor>& families,
                          const Streams& streams, std::shared_ptr<Store>* store,
                          bool quiet) const {
  if (streams.session != nullptr && db == streams.session->db) {
    *store = streams.session->store;
    return OpenAgain(db, options.key_layout, families, store->get());
  }
  std::unique_ptr<Store> opened;
  const Status s = Store::Open(options, db, families, &opened);
  *store = std::move(opened);
  if (!s.ok() || quiet) return s;
  for (const std::string& warning : (*store)->Warnings()) {
    Complain(streams.err, warning);
  }
  return s;
}

std::shared_ptr<Store> StoreArgs::Open(
    const StoreOptions& options, const std::vector<FamilyDescriptor>& families,
    const Streams& streams) const {
  std::shared_ptr<Store> store;
  Require(TryOpen(options, families, streams, &store));
  return store;
}

std::shared_ptr<Store> StoreArgs::OpenToRead(const Streams& streams) const {
  StoreOptions options = Options();
  options.read_only = true;
  return Open(options, {}, streams);
}

std::shared_ptr<Store> StoreArgs::OpenToWrite(const Streams& streams) const {
  return Open(Options(), {}, streams);
}

CLI::Option* AddFamilySpecsTo(CLI::App* command,
                              std::vector<std::string>* families,
                              const char* meaning) {
  command->footer(FamilySpec::Help());
  return AddListTo(command, "--family", families, meaning,
                   "F[,SETTING=VALUE...]");
}

void AddFamilyTo(CLI::App* command, std::string* family, const char* meaning) {
  AddBytesTo(command, "--family", family, meaning, "F")
      ->check(CLI::Validator(
          [](const std::string& name) -> std::string {
            return name.empty() ? "expected the name of a family, found \"\""
                                : "";
          },
          /*validator_desc=*/""));
}

void AddTtlTo(CLI::App* command, std::optional<uint64_t>* ttl_ms,
              std::optional<uint64_t> forever_ms) {
  const char* const by_default =
      forever_ms ? "as long as the version that it is made of" : "forever";
  command
      ->add_option_function<std::string>(
          "--ttl",
          [ttl_ms, forever_ms](const std::string& text) {
            const auto duration = ParseDuration(text);
            if (!duration) {
              throw CLI::ValidationError("--ttl", duration.error());
            }
            const bool is_forever = *duration == 0;
            if (is_forever && text != DurationText(0)) {
              throw CLI::ValidationError(
                  "--ttl",
                  fmt::format("expected a time above 0, or forever, found "
                              "\"{}\"",
                              text));
            }
            *ttl_ms = is_forever ? forever_ms : *duration;
          },
          fmt::format("How long it is seen, from its timestamp on, and no "
                      "longer than its family says: 250ms, 60s, 5m, 24h, 7d, "
                      "or forever; default {}",
                      by_default))
      ->type_name("TIME");
}

void AddRowArgumentTo(CLI::App* command, std::string* row) {
  AddArgumentTo(command, "ROW", row, "\\xHH stands for any byte")
      ->transform(FromPrintable);
}

void AddRowRangeTo(CLI::App* command, std::string* start_row,
                   std::string* stop_row) {
  AddBytesTo(command, "--start", start_row, "The first row, inclusive", "ROW");
  AddBytesTo(command, "--stop", stop_row, "The end, exclusive", "ROW");
}

Column ParseColumn(const std::string& text) {
  const size_t colon = text.find(':');
  Column column = {.family = FromPrintable(text.substr(0, colon))};
  if (colon != std::string::npos) {
    column.qualifier = FromPrintable(text.substr(colon + 1));
  }
  return column;
}

Column ParseCellColumn(const std::string& text) {
  Column column = ParseColumn(text);
  if (!column.qualifier) {
    Require(Error{"expected FAMILY:QUALIFIER, found \"" + ToPrintable(text) +
                  "\""});
  }
  return column;
}

Record SettingsOf(const FamilyOptions& options) {
  Record settings;
  for (const auto& [setting, value] : FamilySpec::SettingsOf(options)) {
    settings.Text(setting, value);
  }
  return settings;
}

}  // namespace rowbloom::cli
