// Runs sst_inspect in this process, and makes the files that its tests inspect.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/storage/filter_policy/test_db.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/sst/make_sst.h"
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

// Does so, and expects its success.
inline Output RunFine(const std::vector<std::string>& args) {
  Output output = RunTool(args);
  EXPECT_EQ(output.code, 0) << args[0] << "\n" << output.out << output.err;
  return output;
}

// A test of one SST.
class SstTest : public testing::Test {
 protected:
  void Write(const SstSpec& spec, size_t keys = 1000) {
    ASSERT_NO_FATAL_FAILURE(WriteSst(spec, path_, NumberedKeys(keys)));
  }

  const TempDir dir_;
  const std::string path_ = dir_.File("a.sst");
};

// Runs the program itself, and returns the most memory that it took, in KiB.
inline int64_t MemoryOf(std::vector<std::string> args) {
  args.insert(args.begin(), "sst_inspect");
  std::vector<char*> argv;
  for (std::string& arg : args) argv.push_back(arg.data());
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    if (freopen("/dev/null", "w", stdout) == nullptr) _exit(126);
    execv(ROWBLOOM_SST_INSPECT, argv.data());
    _exit(127);
  }
  int status = 0;
  struct rusage usage {};
  EXPECT_EQ(wait4(child, &status, 0, &usage), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  return usage.ru_maxrss;
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
  const auto file = OpenSst(path);
  std::vector<sst::FilterPartition> partitions;
  rocksdb::Status status = file->FilterPartitions(&partitions);
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
  const auto file = OpenSst(path);
  std::vector<sst::FilterPartition> partitions;
  const rocksdb::Status status = file->FilterPartitions(&partitions);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return partitions.at(number).handle;
}

}  // namespace rowbloom::test
