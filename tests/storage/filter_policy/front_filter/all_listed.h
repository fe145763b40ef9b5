// Waits for the worker of a front filter.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "rocksdb/metadata.h"
#include "rowbloom/front_filter.h"
#include "tests/support/wait_for.h"

namespace rowbloom::test {

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
