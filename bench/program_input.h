// The input and output that the programs that write databases share: the cells
// and the directory of the databases. Errors are thrown: std::runtime_error.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/cells.h"

namespace rowbloom::bench {

// A directory that goes with the object, unless the user named it.
class DatabaseDir {
 public:
  // Makes `wanted` or, if that is "", a temporary directory whose name starts
  // with `program`.
  DatabaseDir(const std::string& wanted, const std::string& program);
  ~DatabaseDir();
  DatabaseDir(const DatabaseDir&) = delete;
  DatabaseDir& operator=(const DatabaseDir&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool temporary_ = false;
};

// Reads a package index or TSV; "-" is standard input. A cell's family is part
// of its qualifier.
std::vector<InputCell> ReadCells(const std::string& input);

// 1234567 -> "1,234,567".
std::string Grouped(uint64_t number);

// "" or what is wrong with a shape, "ROWSxCOLUMNS", both at least 1, as CLI11
// wants it.
std::string CheckShape(const std::string& text);

// ReadCells or, where `input` is "", made up cells of `shape`. REQUIRES one
// that CheckShape takes.
std::vector<InputCell> ReadOrMakeCells(const std::string& input,
                                       const std::string& shape);

// The name that results have for these cells.
std::string InputName(const std::string& input, const std::string& shape);

}  // namespace rowbloom::bench
