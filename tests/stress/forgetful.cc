#include "tests/stress/forgetful.h"

#include <functional>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/filter_policy/rocksdb_filter_interface.h"

namespace rowbloom::stress {
namespace {

using rocksdb::MemTableRep;
using rocksdb::Slice;

class ForgetfulReader final : public rocksdb::FilterBitsReader {
 public:
  explicit ForgetfulReader(std::unique_ptr<rocksdb::FilterBitsReader> reader)
      : reader_(std::move(reader)) {}

  bool MayMatch(const Slice& entry) override {
    const std::string_view bytes(entry.data(), entry.size());
    if (std::hash<std::string_view>()(bytes) % 50 == 0) return false;
    return reader_->MayMatch(entry);
  }
  using FilterBitsReader::MayMatch;

 private:
  std::unique_ptr<rocksdb::FilterBitsReader> reader_;
};

class ForgetfulPolicy final : public rocksdb::FilterPolicy {
 public:
  explicit ForgetfulPolicy(std::shared_ptr<const rocksdb::FilterPolicy> policy)
      : policy_(std::move(policy)) {}

  const char* Name() const override { return policy_->Name(); }
  const char* CompatibilityName() const override {
    return policy_->CompatibilityName();
  }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    return policy_->GetBuilderWithContext(context);
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(
      const Slice& contents) const override {
    return new ForgetfulReader(std::unique_ptr<rocksdb::FilterBitsReader>(
        policy_->GetFilterBitsReader(contents)));
  }

 private:
  std::shared_ptr<const rocksdb::FilterPolicy> policy_;
};

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

std::shared_ptr<const rocksdb::FilterPolicy> NewForgetfulPolicy(
    std::shared_ptr<const rocksdb::FilterPolicy> policy) {
  return std::make_shared<ForgetfulPolicy>(std::move(policy));
}

std::shared_ptr<rocksdb::MemTableRepFactory> NewForgetfulMemtables(
    std::shared_ptr<rocksdb::MemTableRepFactory> prepared) {
  return std::make_shared<ForgetfulMemtables>(std::move(prepared));
}

}  // namespace rowbloom::stress
