// Runs sst_inspect in this process, and makes the files that its tests inspect.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "rowbloom/filter_policy.h"
#include "tools/sst/sst_file.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::test {

struct Output {
  int code = -1;
  std::string out;
  std::string err;
};

inline Output RunTool(const std::vector<std::string>& args) {
  std::ostringstream out;
  std::ostringstream err;
  std::istringstream in;
  const int code = sst_inspect::Run(args, {.in = in, .out = out, .err = {err}});
  return {code, out.str(), err.str()};
}

inline std::shared_ptr<const rocksdb::FilterPolicy> RowbloomPolicy(
    const FilterPolicyOptions& options) {
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  const rocksdb::Status status = NewFilterPolicy(options, &policy);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return policy;
}

inline std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

inline std::vector<std::string> Words(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream in(line);
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// The records of this kind in output of --json.
inline std::vector<nlohmann::json> Records(const Output& output,
                                           const std::string& kind) {
  std::vector<nlohmann::json> records;
  for (const std::string& line : Lines(output.out)) {
    nlohmann::json record = nlohmann::json::parse(line);
    if (record.at("record") == kind) records.push_back(std::move(record));
  }
  return records;
}

// The contents of each filter block of a file, in order.
inline std::vector<std::string> FilterBlocks(const std::string& path) {
  std::unique_ptr<sst::SstFile> file;
  rocksdb::Status status = sst::SstFile::Open(path, &file);
  std::vector<sst::FilterPartition> partitions;
  if (status.ok()) status = file->FilterPartitions(&partitions);
  std::vector<std::string> blocks;
  for (const auto& partition : partitions) {
    if (status.ok()) {
      status = file->ReadBlock(partition.handle, &blocks.emplace_back());
    }
  }
  EXPECT_TRUE(status.ok()) << status.ToString();
  return blocks;
}

// The handle of the filter block with this number (from 0).
inline sst::BlockHandle FilterHandle(const std::string& path, size_t number) {
  std::unique_ptr<sst::SstFile> file;
  rocksdb::Status status = sst::SstFile::Open(path, &file);
  std::vector<sst::FilterPartition> partitions;
  if (status.ok()) status = file->FilterPartitions(&partitions);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return partitions.at(number).handle;
}

}  // namespace rowbloom::test
