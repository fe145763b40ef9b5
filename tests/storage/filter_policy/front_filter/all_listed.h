// Front filters for tests, and waiting for their worker.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "rocksdb/metadata.h"
#include "rowbloom/front_filter.h"
#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/wait_for.h"

namespace rowbloom::test {

// A front filter for a database that is opened with these options.
inline std::shared_ptr<FrontFilter> PrepareFilter(
    rocksdb::Options* options, const FrontFilterOptions& filter_options = {}) {
  std::shared_ptr<FrontFilter> filter;
  ExpectOk(FrontFilter::Create(filter_options, &filter));
  ExpectOk(filter->Prepare(options, options));
  return filter;
}

// Waits until the front filter has listed, and read, every file of a database
// with the default column family alone.
inline void WaitUntilAllListed(FrontFilterDB* db) {
  const auto family = [db] {
    return db->front_filter()->Stats().families.at(0);
  };
  EXPECT_TRUE(WaitFor([&] {
    std::vector<rocksdb::LiveFileMetaData> files;
    db->GetLiveFilesMetaData(&files);
    const FrontFilterFamilyStats stats = family();
    return stats.files_known == files.size() && stats.files_unknown == 0;
  })) << family().files_known
      << " known files and " << family().files_unknown << " unknown ones";
}

}  // namespace rowbloom::test
