// The cases of tests/data/hbase/scans: the writes to one family, and what
// HBase's region scanner then answered. The README there says how they were
// made.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "rowbloom/cell.h"
#include "rowbloom/read_options.h"
#include "rowbloom/store_options.h"

namespace rowbloom::test {

// HBase's types of cells. All but puts are deletes.
enum class HBaseType : uint8_t {
  kPut,
  kDelete,               // the version of one timestamp
  kDeleteColumn,         // the versions of a column up to a timestamp
  kDeleteFamily,         // the versions of a row up to a timestamp
  kDeleteFamilyVersion,  // the versions of a row of one timestamp
};

struct HBaseWrite {
  HBaseType type = HBaseType::kPut;
  std::string row;
  std::string qualifier;  // empty for deletes of a family
  uint64_t timestamp_ms = 0;
  std::string value;
};

// One version in an answer.
struct HBaseCell {
  std::string row;
  std::string qualifier;
  uint64_t timestamp_ms = 0;
  std::string value;

  friend bool operator==(const HBaseCell&, const HBaseCell&) = default;
};
void PrintTo(const HBaseCell& cell, std::ostream* out);

struct HBaseQuery {
  // The first row of the scan, inclusive, and its end; nullopt: none. A
  // reversed scan goes from a higher row to a lower one.
  std::optional<std::string> start_row;
  std::optional<std::string> stop_row;
  bool include_stop = false;
  bool reversed = false;
  uint32_t max_versions = 1;
  TimeRange time_range;
  // The columns asked for by name, in order; nullopt: all.
  std::optional<std::vector<std::string>> qualifiers;
  // The answer of HBase while nothing was dropped from its files.
  std::vector<HBaseCell> answer;

  bool IsGet() const {
    return start_row && start_row == stop_row && include_stop;
  }
};

struct HBaseCase {
  std::string id;
  FamilyOptions family;            // timestamps are the client's
  uint64_t now_ms = 0;             // time of all writes and reads
  std::vector<HBaseWrite> writes;  // in order of arrival
  std::vector<HBaseQuery> queries;
};

// A store has a case in the family of its options, its rows with its id before
// them. As what expires depends on how long ago it was alone, cases with a TTL
// have their timestamps moved by what their time is before the store's.

// The time of the store. No case has a later one.
inline constexpr uint64_t kHBaseStoreMs = 2'000'000'000'000;
std::string FamilyName(const HBaseCase& of);
std::string RowPrefix(const HBaseCase& of);
uint64_t MovedMs(const HBaseCase& of);
// The query of a case as a scan of the store.
ScanOptions ToScan(const HBaseCase& of, const HBaseQuery& query);

// All cases of both files. Throws std::exception for a file that is not as its
// README says.
std::vector<HBaseCase> ReadHBaseCases();

}  // namespace rowbloom::test
