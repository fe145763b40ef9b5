// make_policy: what rowbloom says to the RocksDB library that this program runs
// on, of which it uses nothing more. With --library, prints that one's version.
// Exit status: 0 a policy was made, 1 it was refused.
#include <cstdio>
#include <memory>
#include <string_view>

#include "rocksdb/version.h"
#include "rowbloom/filter_policy.h"

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--library") {
    std::printf("%s\n", rocksdb::GetRocksVersionAsString().c_str());
    return 0;
  }
  const rocksdb::Status registered = rowbloom::RegisterRowbloom();
  if (!registered.ok()) std::printf("%s\n", registered.ToString().c_str());
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  const rocksdb::Status status = rowbloom::NewFilterPolicy(
      {.key_layout = rowbloom::KeyLayout::FixedRow(8)}, &policy);
  std::printf("%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
