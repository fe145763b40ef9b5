#include "tests/stress/forgetful_memtables.h"

#include <utility>

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
    // Made and destroyed.
    const std::unique_ptr<MemTableRep> known(prepared_->CreateMemTableRep(
        comparator, allocator, transform, logger, family_id));
    return CreateMemTableRep(comparator, allocator, transform, logger);
  }

 private:
  const std::shared_ptr<rocksdb::MemTableRepFactory> prepared_;
};

}  // namespace

std::shared_ptr<rocksdb::MemTableRepFactory> NewForgetfulMemtables(
    std::shared_ptr<rocksdb::MemTableRepFactory> prepared) {
  return std::make_shared<ForgetfulMemtables>(std::move(prepared));
}

}  // namespace rowbloom::stress
