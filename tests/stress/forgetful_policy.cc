#include "tests/stress/forgetful_policy.h"

#include <functional>
#include <string_view>
#include <utility>

#include "storage/filter_policy/rocksdb_filter_interface.h"

namespace rowbloom::stress {
namespace {

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

}  // namespace

std::shared_ptr<const rocksdb::FilterPolicy> NewForgetfulPolicy(
    std::shared_ptr<const rocksdb::FilterPolicy> policy) {
  return std::make_shared<ForgetfulPolicy>(std::move(policy));
}

}  // namespace rowbloom::stress
