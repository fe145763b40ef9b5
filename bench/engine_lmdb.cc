// LMDB: one B+ tree, keys are row and qualifier. Files are mapped, so that the
// system's page cache is its cache. MDB_NOSYNC: a commit is handed to the
// operating system. Unlike the others, LMDB may lose its file then when the
// machine stops.
#include <lmdb.h>

#include <filesystem>

#include "bench/engines.h"

namespace rowbloom::bench {
namespace {

using rocksdb::Status;

constexpr size_t kMapBytes = size_t{1} << 38;

Status Checked(int result) {
  return result == MDB_SUCCESS ? Status::OK()
                               : Status::IOError("LMDB", mdb_strerror(result));
}

MDB_val ToVal(std::string_view bytes) {
  return {bytes.size(), const_cast<char*>(bytes.data())};
}

std::string_view ToView(const MDB_val& value) {
  return {static_cast<const char*>(value.mv_data), value.mv_size};
}

class LmdbEngine final : public Engine {
 public:
  ~LmdbEngine() override {
    if (cursor_ != nullptr) mdb_cursor_close(cursor_);
    if (reader_ != nullptr) mdb_txn_abort(reader_);
    mdb_env_close(env_);
  }

  Status Open(const std::string& path) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error) return Status::IOError(path, error.message());
    Status s = Checked(mdb_env_create(&env_));
    if (s.ok()) s = Checked(mdb_env_set_mapsize(env_, kMapBytes));
    if (s.ok()) s = Checked(mdb_env_open(env_, path.c_str(), MDB_NOSYNC, 0644));
    MDB_txn* txn = nullptr;
    if (s.ok()) s = Checked(mdb_txn_begin(env_, nullptr, 0, &txn));
    if (!s.ok()) return s;
    s = Checked(mdb_dbi_open(txn, nullptr, MDB_CREATE, &cells_));
    if (!s.ok()) {
      mdb_txn_abort(txn);
      return s;
    }
    s = Checked(mdb_txn_commit(txn));
    if (s.ok()) s = Checked(mdb_txn_begin(env_, nullptr, MDB_RDONLY, &reader_));
    if (s.ok()) s = Checked(mdb_cursor_open(reader_, cells_, &cursor_));
    if (s.ok()) mdb_txn_reset(reader_);
    return s;
  }

  Status Write(std::span<const CellView> cells) override {
    MDB_txn* txn = nullptr;
    Status s = Checked(mdb_txn_begin(env_, nullptr, 0, &txn));
    if (!s.ok()) return s;
    for (const CellView& cell : cells) {
      key_.assign(cell.row).append(cell.qualifier);
      MDB_val key = ToVal(key_);
      MDB_val value = ToVal(cell.value);
      s = Checked(mdb_put(txn, cells_, &key, &value, 0));
      if (!s.ok()) {
        mdb_txn_abort(txn);
        return s;
      }
    }
    return Checked(mdb_txn_commit(txn));
  }

  Status Get(std::string_view row, std::string_view qualifier,
             Answers* answers) override {
    Status s = Checked(mdb_txn_renew(reader_));
    if (!s.ok()) return s;
    key_.assign(row).append(qualifier);
    MDB_val key = ToVal(key_);
    MDB_val value{};
    const int result = mdb_get(reader_, cells_, &key, &value);
    if (result == MDB_SUCCESS) answers->Add({row, qualifier, ToView(value)});
    mdb_txn_reset(reader_);
    return result == MDB_NOTFOUND ? Status::OK() : Checked(result);
  }

  Status GetRow(std::string_view row, Answers* answers) override {
    return Walk(row, 1, /*only_start=*/true, answers);
  }

  Status Scan(std::string_view start, uint64_t rows,
              Answers* answers) override {
    return Walk(start, rows, /*only_start=*/false, answers);
  }

  Status Flush() override { return Checked(mdb_env_sync(env_, 1)); }

 private:
  Status Walk(std::string_view start, uint64_t rows, bool only_start,
              Answers* answers) {
    Status s = Checked(mdb_txn_renew(reader_));
    if (s.ok()) s = Checked(mdb_cursor_renew(reader_, cursor_));
    if (!s.ok()) return s;
    MDB_val key = ToVal(start);
    MDB_val value{};
    row_ = only_start ? start : std::string_view();
    if (only_start) --rows;
    int result = mdb_cursor_get(cursor_, &key, &value, MDB_SET_RANGE);
    for (; result == MDB_SUCCESS;
         result = mdb_cursor_get(cursor_, &key, &value, MDB_NEXT)) {
      const std::string_view bytes = ToView(key);
      if (row_.empty() || !bytes.starts_with(row_)) {
        if (rows-- == 0) break;
        row_ = bytes.substr(0, kEngineRowBytes);
      }
      answers->Add({row_, bytes.substr(kEngineRowBytes), ToView(value)});
    }
    mdb_txn_reset(reader_);
    return result == MDB_NOTFOUND ? Status::OK() : Checked(result);
  }

  MDB_env* env_ = nullptr;
  MDB_dbi cells_ = 0;
  MDB_txn* reader_ = nullptr;  // reset between reads
  MDB_cursor* cursor_ = nullptr;
  std::string key_;
  std::string row_;
};

}  // namespace

Status CreateLmdb(const std::string& path, uint64_t /*cache_bytes*/,
                  std::unique_ptr<Engine>* engine) {
  auto created = std::make_unique<LmdbEngine>();
  const Status s = created->Open(path);
  *engine = std::move(created);
  return s;
}

}  // namespace rowbloom::bench
