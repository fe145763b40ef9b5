// upkeep_writer PATH LIMIT: goes on with the numbered writes of a store up to
// that number, and prints the number of each write that was acknowledged.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "tests/storage/upkeep/numbered_writes.h"

namespace rowbloom::test {
namespace {

void Require(const rocksdb::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "upkeep_writer: %s\n", status.ToString().c_str());
  std::exit(1);
}

void Write(const std::string& path, uint64_t limit) {
  std::unique_ptr<Store> store;
  Require(Store::Open({.write_buffer_bytes = size_t{64} << 10,
                       .front_filter_limit_bytes = 0,
                       .kept_log_seconds = 3600},
                      path, WrittenFamilies(), &store));
  std::optional<std::string> last;
  Require(store->Get("counter", "latest", "n", &last));
  StoreModel model(kWrittenFamilies);
  for (uint64_t number = std::stoull(last.value_or("0")) + 1; number <= limit;
       ++number) {
    const bool has_extra = store->Families().contains(kExtra);
    if (HasExtra(number) && !has_extra) {
      Require(store->CreateFamily(kExtra, {}));
    } else if (!HasExtra(number) && has_extra) {
      Require(store->DropFamily(kExtra));
    }
    WriteBatch batch;
    MakeWrite(number, &batch, &model);
    if (HasExtra(number)) {
      batch.Put("counter", kExtra, "n", std::to_string(number));
    }
    Require(store->Write(batch));
    if (number % 100 == 0) Require(store->Flush());
    if (number % 250 == 0) Require(store->Compact());
    std::printf("%llu\n", static_cast<unsigned long long>(number));
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace rowbloom::test

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  rowbloom::test::Write(argv[1], std::stoull(argv[2]));
  return 0;
}
