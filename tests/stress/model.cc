#include "tests/stress/model.h"

#include <utility>

#include "tests/stress/journal.h"

namespace rowbloom::stress {
namespace {

class AppendOperator final : public rocksdb::AssociativeMergeOperator {
 public:
  const char* Name() const override { return "rowbloom.stress.Append"; }
  bool Merge(const rocksdb::Slice& /*key*/,
             const rocksdb::Slice* existing_value, const rocksdb::Slice& value,
             std::string* new_value,
             rocksdb::Logger* /*logger*/) const override {
    new_value->clear();
    if (existing_value != nullptr) *new_value = existing_value->ToString();
    new_value->append(value.data(), value.size());
    return true;
  }
};

}  // namespace

void Apply(const Changes& changes, Cells* cells) {
  for (const Change& change : changes) {
    switch (change.type) {
      case ChangeType::kPut:
        (*cells)[change.key] = change.value;
        break;
      case ChangeType::kMerge:
        (*cells)[change.key] += change.value;
        break;
      case ChangeType::kDelete:
      case ChangeType::kSingleDelete:
        cells->erase(change.key);
        break;
      case ChangeType::kDeleteRange:
        cells->erase(cells->lower_bound(change.key),
                     cells->lower_bound(change.value));
        break;
    }
  }
}

rocksdb::WriteBatch ToWriteBatch(const Changes& changes) {
  // These fail for batches of gigabytes only.
  rocksdb::WriteBatch batch;
  for (const Change& change : changes) {
    switch (change.type) {
      case ChangeType::kPut:
        batch.Put(change.key, change.value);
        break;
      case ChangeType::kMerge:
        batch.Merge(change.key, change.value);
        break;
      case ChangeType::kDelete:
        batch.Delete(change.key);
        break;
      case ChangeType::kSingleDelete:
        batch.SingleDelete(change.key);
        break;
      case ChangeType::kDeleteRange:
        batch.DeleteRange(change.key, change.value);
        break;
    }
  }
  return batch;
}

std::string Encode(const Changes& changes) {
  std::string bytes;
  for (const Change& change : changes) {
    bytes += static_cast<char>(change.type);
    AppendText(change.key, &bytes);
    AppendText(change.value, &bytes);
  }
  return bytes;
}

void Decode(std::string_view bytes, Changes* changes) {
  changes->clear();
  while (!bytes.empty()) {
    const auto type = static_cast<ChangeType>(bytes.front());
    bytes.remove_prefix(1);
    std::string key = TakeTextOrThrow(&bytes);
    changes->push_back({type, std::move(key), TakeTextOrThrow(&bytes)});
  }
}

std::shared_ptr<rocksdb::MergeOperator> NewAppendOperator() {
  return std::make_shared<AppendOperator>();
}

}  // namespace rowbloom::stress
