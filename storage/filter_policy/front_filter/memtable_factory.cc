#include "storage/filter_policy/front_filter/memtable_factory.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "lib/block/hash.h"
#include "rocksdb/version.h"

namespace rowbloom::front_filter {
namespace {

using rocksdb::KeyHandle;
using rocksdb::MemTableRep;
using rocksdb::MemTableRepFactory;
using rocksdb::Slice;

// The sequence number and type that follow a user key.
constexpr size_t kSuffixBytes = 8;

// The user key of a memtable's entry, which begins with the length of the key
// and its suffix as a varint32. memtablerep.h promises this form.
std::string_view UserKeyOf(const char* entry) {
  uint32_t size = 0;
  for (int shift = 0; shift < 35; shift += 7) {
    const auto byte = static_cast<unsigned char>(*entry++);
    size |= uint32_t{byte & 0x7fU} << shift;
    if (byte < 0x80) break;
  }
  return {entry, size - kSuffixBytes};
}

// A skip list whose handles are the entries themselves.
class Memtable final : public MemTableRep {
 public:
  // Takes `inner` once there is memory for this.
  Memtable(rocksdb::Allocator* allocator, const std::shared_ptr<Core>& core,
           Family* family, std::shared_ptr<MemtableRows> rows,
           std::unique_ptr<MemTableRep>* inner)
      : MemTableRep(allocator),
        inner_(std::move(*inner)),
        core_(core),
        family_(family),
        rows_(std::move(rows)) {}

  ~Memtable() override {
    inner_.reset();
    rows_->Set(MemtableRows::State::kGone);
    core_->Wake(family_);
  }

  KeyHandle Allocate(const size_t bytes, char** buffer) override {
    return inner_->Allocate(bytes, buffer);
  }

  // RocksDB publishes an entry of a single writer after the insert. So the
  // row's bits are fetched from memory during the insert, and set after it.
  void Insert(KeyHandle handle) override {
    const RowOfOneWriter row(this, handle);
    inner_->Insert(handle);
  }
  bool InsertKey(KeyHandle handle) override {
    const RowOfOneWriter row(this, handle);
    return inner_->InsertKey(handle);
  }
  void InsertWithHint(KeyHandle handle, void** hint) override {
    const RowOfOneWriter row(this, handle);
    inner_->InsertWithHint(handle, hint);
  }
  bool InsertKeyWithHint(KeyHandle handle, void** hint) override {
    const RowOfOneWriter row(this, handle);
    return inner_->InsertKeyWithHint(handle, hint);
  }
  // An unordered write may be visible once inserted: its bits are set first.
  void InsertWithHintConcurrently(KeyHandle handle, void** hint) override {
    AddRow(handle, Writers::kMany);
    inner_->InsertWithHintConcurrently(handle, hint);
  }
  bool InsertKeyWithHintConcurrently(KeyHandle handle, void** hint) override {
    AddRow(handle, Writers::kMany);
    return inner_->InsertKeyWithHintConcurrently(handle, hint);
  }
  void InsertConcurrently(KeyHandle handle) override {
    AddRow(handle, Writers::kMany);
    inner_->InsertConcurrently(handle);
  }
  bool InsertKeyConcurrently(KeyHandle handle) override {
    AddRow(handle, Writers::kMany);
    return inner_->InsertKeyConcurrently(handle);
  }

  bool Contains(const char* key) const override {
    return inner_->Contains(key);
  }
  void MarkReadOnly() override {
    rows_->Set(MemtableRows::State::kSealed);
    inner_->MarkReadOnly();
  }
  void MarkFlushed() override {
    rows_->Set(MemtableRows::State::kFlushed);
    inner_->MarkFlushed();
  }
  void Get(const rocksdb::LookupKey& key, void* argument,
           bool (*callback)(void* argument, const char* entry)) override {
    inner_->Get(key, argument, callback);
  }
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 1007
  using Validate = std::function<rocksdb::Status(const char* key, bool)>;
  rocksdb::Status GetAndValidate(const rocksdb::LookupKey& key, void* argument,
                                 bool (*callback)(void* argument,
                                                  const char* entry),
                                 bool allow_data_in_error, bool detect_disorder,
                                 const Validate& validate) override {
    return inner_->GetAndValidate(key, argument, callback, allow_data_in_error,
                                  detect_disorder, validate);
  }
#elif ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 906
  rocksdb::Status GetAndValidate(const rocksdb::LookupKey& key, void* argument,
                                 bool (*callback)(void* argument,
                                                  const char* entry),
                                 bool allow_data_in_error) override {
    return inner_->GetAndValidate(key, argument, callback, allow_data_in_error);
  }
#endif
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 1101
  rocksdb::Status MultiGet(size_t count, const char* const* keys,
                           void** arguments,
                           bool (*callback)(void* argument, const char* entry),
                           bool allow_data_in_errors, bool detect_disorder,
                           const Validate& validate) override {
    return inner_->MultiGet(count, keys, arguments, callback,
                            allow_data_in_errors, detect_disorder, validate);
  }
#endif
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 1004
  void BatchPostProcess() override { inner_->BatchPostProcess(); }
#endif
  uint64_t ApproximateNumEntries(const Slice& start,
                                 const Slice& end) override {
    return inner_->ApproximateNumEntries(start, end);
  }
  void UniqueRandomSample(const uint64_t entry_count,
                          const uint64_t sample_size,
                          std::unordered_set<const char*>* entries) override {
    inner_->UniqueRandomSample(entry_count, sample_size, entries);
  }
  size_t ApproximateMemoryUsage() override {
    return inner_->ApproximateMemoryUsage();
  }
  Iterator* GetIterator(rocksdb::Arena* arena) override {
    return inner_->GetIterator(arena);
  }
  Iterator* GetDynamicPrefixIterator(rocksdb::Arena* arena) override {
    return inner_->GetDynamicPrefixIterator(arena);
  }
  bool IsMergeOperatorSupported() const override {
    return inner_->IsMergeOperatorSupported();
  }
  bool IsSnapshotSupported() const override {
    return inner_->IsSnapshotSupported();
  }

 private:
  struct HashedRow {
    uint64_t hash;
    bool is_bare;
  };
  // A key outside the layout has no row, and lookups skip it, too.
  std::optional<HashedRow> RowOf(KeyHandle handle) const noexcept {
    const std::string_view key = UserKeyOf(static_cast<const char*>(handle));
    try {
      const size_t row_bytes = family_->rules().layout.RowBytes(key);
      if (row_bytes == KeyLayout::kNoRow) return std::nullopt;
      return HashedRow{.hash = HashRow(key.substr(0, row_bytes)),
                       .is_bare = row_bytes == key.size()};
    } catch (...) {  // a custom layout may throw
      rows_->AddEverything();
      return std::nullopt;
    }
  }

  void Add(const HashedRow& row, Writers writers) const noexcept {
    rows_->Add(row.hash, writers);
    if (row.is_bare) rows_->Add(HashBareRow(row.hash), writers);
  }
  void AddRow(KeyHandle handle, Writers writers) const noexcept {
    const auto row = RowOf(handle);
    if (row) Add(*row, writers);
  }

  // Starts loading the words of a row's bits; the destructor sets the bits.
  class RowOfOneWriter {
   public:
    RowOfOneWriter(const Memtable* memtable, KeyHandle handle)
        : memtable_(*memtable), row_(memtable->RowOf(handle)) {
      if (row_) memtable_.rows_->Prefetch(row_->hash);
    }
    ~RowOfOneWriter() {
      if (row_) memtable_.Add(*row_, Writers::kOne);
    }
    RowOfOneWriter(const RowOfOneWriter&) = delete;
    RowOfOneWriter& operator=(const RowOfOneWriter&) = delete;

   private:
    const Memtable& memtable_;
    const std::optional<HashedRow> row_;
  };

  std::unique_ptr<MemTableRep> inner_;
  const std::shared_ptr<Core> core_;
  Family* const family_;  // the core's
  const std::shared_ptr<MemtableRows> rows_;
};

class Factory final : public MemTableRepFactory {
 public:
  Factory(std::shared_ptr<MemTableRepFactory> inner, std::shared_ptr<Core> core,
          FamilyRules rules)
      : inner_(std::move(inner)),
        core_(std::move(core)),
        rules_(std::move(rules)) {}

  // Returns a name unique to this copy of rowbloom. CheckedCast calls this.
  static const char* kClassName() {
    static const std::string name =
        "rowbloom.MemtableFactory@" +
        std::to_string(reinterpret_cast<uintptr_t>(&kClassName));
    return name.c_str();
  }

  const char* Name() const override { return inner_->Name(); }
  std::string GetId() const override { return inner_->GetId(); }
  // Denies the class of the inner one, so that casts to it reach Inner().
  bool IsInstanceOf(const std::string& name) const override {
    return name == kClassName();
  }
  const rocksdb::Customizable* Inner() const override { return inner_.get(); }
  const std::shared_ptr<MemTableRepFactory>& inner() const { return inner_; }
  const Core* core() const { return core_.get(); }

  bool IsInsertConcurrentlySupported() const override {
    return inner_->IsInsertConcurrentlySupported();
  }
  bool CanHandleDuplicatedKey() const override {
    return inner_->CanHandleDuplicatedKey();
  }

  // Without an id it is not known which family's rows these are.
  MemTableRep* CreateMemTableRep(const MemTableRep::KeyComparator& comparator,
                                 rocksdb::Allocator* allocator,
                                 const rocksdb::SliceTransform* transform,
                                 rocksdb::Logger* logger) override {
    core_->GiveUp("a memtable was made without the id of its family");
    return inner_->CreateMemTableRep(comparator, allocator, transform, logger);
  }

  MemTableRep* CreateMemTableRep(const MemTableRep::KeyComparator& comparator,
                                 rocksdb::Allocator* allocator,
                                 const rocksdb::SliceTransform* transform,
                                 rocksdb::Logger* logger,
                                 uint32_t family_id) override {
    std::unique_ptr<MemTableRep> inner(inner_->CreateMemTableRep(
        comparator, allocator, transform, logger, family_id));
    if (family_id > Core::kMaxId) return inner.release();
    try {
      Family* const family = core_->FindOrMake(family_id, rules_);
      if (family->rules().layout != rules_.layout) {
        family->Disarm("two families with its id have different key layouts");
      }
      auto rows = family->AddMemtable();
      if (rows == nullptr) return inner.release();
      return new Memtable(allocator, core_, family, std::move(rows), &inner);
    } catch (...) {
      core_->GiveUp("there was no memory for the filter of a memtable");
      return inner.release();
    }
  }

 private:
  const std::shared_ptr<MemTableRepFactory> inner_;
  const std::shared_ptr<Core> core_;
  const FamilyRules rules_;
};

}  // namespace

std::shared_ptr<MemTableRepFactory> NewMemtableFactory(
    std::shared_ptr<MemTableRepFactory> inner, std::shared_ptr<Core> core,
    FamilyRules rules) {
  Factory::kClassName();  // made here: RocksDB's calls must not throw
  return std::make_shared<Factory>(std::move(inner), std::move(core),
                                   std::move(rules));
}

std::shared_ptr<MemTableRepFactory> InnerFactory(
    std::shared_ptr<MemTableRepFactory> factory) {
  if (factory == nullptr || !factory->IsInstanceOf(Factory::kClassName())) {
    return factory;
  }
  return static_cast<const Factory&>(*factory).inner();
}

bool AddsRowsTo(const MemTableRepFactory& factory, const Core& core) {
  const auto* const ours = factory.CheckedCast<Factory>();
  return ours != nullptr && ours->core() == &core;
}

}  // namespace rowbloom::front_filter
