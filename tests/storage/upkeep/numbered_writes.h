// Writes with numbers, which another process makes, and a model that has made
// them up to one of them. The number of the last one is in each state.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rowbloom/store.h"
#include "rowbloom/write_batch.h"
#include "tests/storage/store/store_model.h"
#include "tests/support/random.h"

namespace rowbloom::test {

inline const std::map<std::string, FamilyOptions> kWrittenFamilies = {
    {"client", {.timestamps = Timestamps::kClient, .max_versions = 2}},
    {"latest", {}},
};
inline std::vector<FamilyDescriptor> WrittenFamilies() {
  return Descriptors(kWrittenFamilies);
}

// This family comes and goes, and has the number in the cell counter, extra:n.
inline constexpr char kExtra[] = "extra";
inline bool HasExtra(uint64_t number) { return number % 400 < 200; }

// The timestamp in `latest` families, where the store gives another one.
inline constexpr uint64_t kAnyTime = 1;

// Adds write number `number`, from 1, to a batch, and makes it in the model.
inline void MakeWrite(uint64_t number, WriteBatch* batch, StoreModel* model) {
  Random random(number);
  for (uint64_t left = 1 + random.Below(4); left > 0; --left) {
    const std::string row = "r" + std::to_string(random.Below(6));
    const std::string qualifier(random.Below(2), 'q');
    const std::string value =
        std::to_string(number) + std::string(random.Below(200), 'v');
    const uint64_t ms = 1 + random.Below(50);
    switch (random.Below(12)) {
      case 0:
        batch->Delete(row, "client", qualifier, ms / 4);
        model->Delete(row, "client", qualifier, ms / 4);
        break;
      case 1:
        batch->DeleteVersion(row, "client", qualifier, ms);
        model->DeleteVersion(row, "client", qualifier, ms);
        break;
      case 2:
        batch->DeleteFamily(row, "client", ms / 8);
        model->DeleteFamily(row, "client", ms / 8);
        break;
      case 3:
        batch->Delete(row, "latest", qualifier);
        model->Delete(row, "latest", qualifier, kAnyTime);
        break;
      case 4:
        batch->DeleteFamily(row, "latest");
        model->DeleteFamily(row, "latest", kAnyTime);
        break;
      case 5:
      case 6:
      case 7:
        batch->Put(row, "latest", qualifier, value);
        model->Put(row, "latest", qualifier, kAnyTime, value);
        break;
      default:
        batch->Put(row, "client", qualifier, value, ms);
        model->Put(row, "client", qualifier, ms, value);
    }
  }
  batch->Put("counter", "latest", "n", std::to_string(number));
  model->Put("counter", "latest", "n", kAnyTime, std::to_string(number));
}

// All versions of both families, with kAnyTime in `latest` ones.
inline ScanOptions AllWritten() {
  return {.row = {.columns = {{"client"}, {"latest"}}, .max_versions = 9}};
}
inline std::vector<Row> WithoutGivenTimes(std::vector<Row> rows) {
  for (Row& row : rows) {
    for (Cell& cell : row.cells) {
      if (cell.family == "latest") cell.timestamp_ms = kAnyTime;
    }
  }
  return rows;
}

}  // namespace rowbloom::test
