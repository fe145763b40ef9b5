// Input files of tests/data. CMake's ROWBLOOM_TEST_DATA_DIR says where it is.
#pragma once

#include <string>

namespace rowbloom::test {

// The path of a file or folder of tests/data: DataPath("hbase/2.6/row.hfile").
inline std::string DataPath(const std::string& name) {
  return ROWBLOOM_TEST_DATA_DIR "/" + name;
}

}  // namespace rowbloom::test
