#include "tests/stress/forgetful_memtables.h"

#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace rowbloom::stress {
namespace {

using rocksdb::MemTableRep;

class ForgetfulMemtables final : public rocksdb::SkipListFactory {
 public:
  explicit ForgetfulMemtables(
      std::shared_ptr<rocksdb::MemTableRepFactory> prepared)
      : prepared_(std::move(prepared)) {}

  // Attach looks for the prepared one.
  const rocksdb::Customizable* Inner() const override {
    return prepared_.get();
  }
  using SkipListFactory::CreateMemTableRep;
  MemTableRep* CreateMemTableRep(const MemTableRep::KeyComparator& comparator,
                                 rocksdb::Allocator* allocator,
                                 const rocksdb::SliceTransform* transform,
                                 rocksdb::Logger* logger,
                                 uint32_t family_id) override {
    {
      // Those that the front filter counts, and that nobody inserts into.
      const std::lock_guard lock(mutex_);
      auto& known = known_[family_id];
      if (!known.empty()) known.back()->MarkReadOnly();
      known.emplace_back(prepared_->CreateMemTableRep(
          comparator, allocator, transform, logger, family_id));
    }
    return CreateMemTableRep(comparator, allocator, transform, logger);
  }

 private:
  std::mutex mutex_;
  std::map<uint32_t, std::vector<std::unique_ptr<MemTableRep>>> known_;
  const std::shared_ptr<rocksdb::MemTableRepFactory> prepared_;
};

}  // namespace

std::shared_ptr<rocksdb::MemTableRepFactory> NewForgetfulMemtables(
    std::shared_ptr<rocksdb::MemTableRepFactory> prepared) {
  return std::make_shared<ForgetfulMemtables>(std::move(prepared));
}

}  // namespace rowbloom::stress
