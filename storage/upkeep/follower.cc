#include "rowbloom/follower.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "lib/bytes/text.h"
#include "rocksdb/cache.h"
#include "rocksdb/env.h"
#include "storage/format/directory.h"
#include "storage/format/no_exceptions.h"

namespace rowbloom {
namespace {

using rocksdb::Env;
using rocksdb::Status;

// The database's id, and the names and sizes of the files that a write changes.
// Empty: they cannot be told, as one was removed meanwhile.
std::string SignatureOf(Env* env, const std::string& path) {
  std::vector<std::string> names;
  if (!ListDirectory(env, path, &names).ok()) return "";
  std::sort(names.begin(), names.end());
  std::string signature;
  if (!ReadFileToString(env, path + "/IDENTITY", &signature).ok()) return "";
  for (const std::string& name : names) {
    if (!name.ends_with(".log") && !name.starts_with("MANIFEST-")) continue;
    uint64_t bytes = 0;
    if (!env->GetFileSize(path + "/" + name, &bytes).ok()) return "";
    signature += Concat(name, " ", bytes, "\n");
  }
  return signature;
}

StoreOptions ToFollow(StoreOptions options) {
  options.read_only = true;
  if (options.block_cache == nullptr) {
    options.block_cache = rocksdb::NewLRUCache(options.block_cache_bytes);
  }
  return options;
}

}  // namespace

Follower::Follower(StoreOptions options, std::string path)
    : options_(ToFollow(std::move(options))), path_(std::move(path)) {}

Status Follower::Open(const StoreOptions& options, const std::string& path,
                      std::unique_ptr<Follower>* follower) {
  return CatchExceptions([&] {
    std::unique_ptr<Follower> opened(new Follower(options, path));
    Status s = opened->Follow();
    if (s.ok()) *follower = std::move(opened);
    return s;
  });
}

Status Follower::Follow() {
  return CatchExceptions([&] {
    const std::lock_guard one_at_a_time(follow_mutex_);
    Env* const env = options_.env != nullptr ? options_.env : Env::Default();
    std::string now = SignatureOf(env, path_);
    if (store_ != nullptr && !now.empty() && now == seen_) return Status::OK();
    std::unique_ptr<Store> next;
    Status s = Store::Open(options_, path_, {}, &next);
    if (!s.ok()) return s;
    std::shared_ptr<Store> before = std::move(next);
    seen_ = std::move(now);
    const std::lock_guard lock(mutex_);
    // Closed, unless somebody reads it, after the lock is given up.
    store_.swap(before);
    return s;
  });
}

std::shared_ptr<Store> Follower::store() const {
  const std::lock_guard lock(mutex_);
  return store_;
}

}  // namespace rowbloom
