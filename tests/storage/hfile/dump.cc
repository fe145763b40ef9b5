#include "tests/storage/hfile/dump.h"

#include <gtest/gtest.h>

namespace rowbloom::test {
namespace {

// "# trailer a=1, b=x, ...", the parts of which have no ", " inside.
void ReadTrailer(const std::string& line, Dump* dump) {
  size_t at = 0;
  while (at < line.size()) {
    const size_t comma = line.find(", ", at);
    const size_t end = comma == std::string::npos ? line.size() : comma;
    const size_t equals = line.find('=', at);
    if (equals < end) {
      dump->trailer[line.substr(at, equals - at)] =
          line.substr(equals + 1, end - equals - 1);
    }
    at = comma == std::string::npos ? end : end + 2;
  }
}

void ReadComment(const std::string& line, Dump* dump) {
  const size_t kind_end = line.find(' ', 2);
  const std::string kind = line.substr(2, kind_end - 2);
  const std::string rest = line.substr(kind_end + 1);
  if (kind == "trailer") {
    ReadTrailer(rest, dump);
  } else if (kind == "info") {
    const size_t space = rest.find(' ');
    dump->file_info[rest.substr(0, space)] =
        space == std::string::npos ? "" : FromHex(rest.substr(space + 1));
  } else if (kind == "bloom") {
    dump->bloom = rest;
  } else if (kind == "cells") {
    dump->cell_count = std::stoull(rest);
  } else if (kind != "midkey") {  // by which HBase splits files
    ADD_FAILURE() << "unknown line: " << line;
  }
}

}  // namespace

std::vector<std::string> SplitAt(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t at = 0;
  while (true) {
    const size_t end = text.find(separator, at);
    parts.push_back(text.substr(at, end - at));
    if (end == std::string::npos) return parts;
    at = end + 1;
  }
}

Dump ReadDump(const std::string& path) {
  Dump dump;
  for (const std::string& line : ReadGzipLines(path)) {
    if (line.starts_with("# ")) {
      ReadComment(line, &dump);
      continue;
    }
    const std::vector<std::string> fields = SplitAt(line, '\t');
    if (fields.size() != 8) {
      ADD_FAILURE() << path << ": " << fields.size() << " fields: " << line;
      return dump;
    }
    HFileCell cell;
    cell.row = FromHex(fields[0]);
    cell.family = FromHex(fields[1]);
    cell.qualifier = FromHex(fields[2]);
    cell.timestamp_ms = std::stoll(fields[3]);
    cell.type = static_cast<HFileCellType>(std::stoi(fields[4]));
    cell.mvcc = std::stoll(fields[5]);
    cell.value = FromHex(fields[6]);
    cell.tags = FromHex(fields[7]);
    dump.cells.push_back(std::move(cell));
  }
  return dump;
}

}  // namespace rowbloom::test
