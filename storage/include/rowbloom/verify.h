// Store::Verify checks a whole store for damage:
//
//   rowbloom::VerifyReport report;
//   rocksdb::Status s = store->Verify({}, &report);
//   for (const auto& problem : report.problems) Show(problem);
//
// doc/store.md says what to do about damage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rowbloom {

struct VerifyOptions {
  // Compares the checksum of every block of every SST, blocks of row deletes in
  // `latest` families (FamilyOptions) included, and the checksum that the
  // MANIFEST has of every whole SST and blob file. So SSTs are read twice.
  bool files = true;
  // Reads the MANIFEST, and the store's records about itself.
  bool records = true;
  // Decodes every cell of every family, with the row deletes of `versioned`
  // families. Values in blob files are read with their checksums.
  bool cells = true;
  // The most problems that are listed; more are only counted.
  size_t max_problems = 1000;
};

// A problem and its place. Members that are not known are empty.
struct VerifyProblem {
  std::string file;  // a path
  std::string family;
  std::string row;        // any bytes; the first one that is affected
  std::string qualifier;  // any bytes
  std::string problem;    // what was expected, and what was found
};

struct VerifyReport {
  uint64_t files = 0;  // SSTs and blob files that were read, whole or damaged
  uint64_t file_bytes = 0;
  uint64_t records = 0;
  uint64_t cells = 0;        // decoded, with all their versions
  uint64_t row_deletes = 0;  // of `versioned` families
  uint64_t problem_count = 0;
  std::vector<VerifyProblem> problems;  // the first max_problems

  bool ok() const { return problem_count == 0; }
};

}  // namespace rowbloom
