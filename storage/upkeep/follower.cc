#include "rowbloom/follower.h"

#include <algorithm>
#include <utility>

#include "rocksdb/env.h"
#include "storage/format/no_exceptions.h"
#include "storage/store/found_store.h"

namespace rowbloom {
namespace {

using rocksdb::Env;
using rocksdb::Status;

// Reads the last bytes of the files that grow, and leaves out files that cannot
// be read. A store that was restored and then got other writes may have files
// of the same names and sizes, but not with these bytes.
std::map<std::string, std::string> EndsOf(Env* env, const std::string& path,
                                          const WrittenFiles& files) {
  constexpr uint64_t kEndBytes = 4096;
  std::map<std::string, std::string> ends;
  for (const auto& [name, bytes] : files) {
    if (bytes == 0) continue;
    std::unique_ptr<rocksdb::RandomAccessFile> file;
    std::string buffer(std::min(bytes, kEndBytes), '\0');
    rocksdb::Slice end;
    Status s = env->NewRandomAccessFile(path + "/" + name, &file,
                                        rocksdb::EnvOptions());
    if (s.ok()) {
      s = file->Read(bytes - buffer.size(), buffer.size(), &end, buffer.data());
    }
    if (s.ok()) ends[name] = end.ToString();
  }
  return ends;
}

}  // namespace

Follower::Follower(StoreOptions options, std::string path)
    : path_(std::move(path)), options_(std::move(options)) {
  options_.read_only = true;
}

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
    Seen now;
    // A copy has no identity until it is opened for writing.
    ReadFileToString(env, path_ + "/IDENTITY", &now.identity)
        .PermitUncheckedError();
    Status s = FindWrittenFiles(env, path_, &now.files);
    now.ends = EndsOf(env, path_, now.files);
    if (store_ != nullptr && s.ok() && now == seen_) return s;
    std::unique_ptr<Store> next;
    s = Store::Open(options_, path_, {}, &next);
    if (!s.ok()) return s;
    options_.block_cache = next->Options().block_cache;
    std::shared_ptr<Store> before = std::move(next);
    seen_ = std::move(now);
    const std::lock_guard lock(mutex_);
    // The old store is closed, unless a reader has it, after the unlock.
    store_.swap(before);
    return s;
  });
}

std::shared_ptr<Store> Follower::store() const {
  const std::lock_guard lock(mutex_);
  return store_;
}

}  // namespace rowbloom
