// Says where an error happened, and what it was.
#pragma once

#include <string>

#include "lib/bytes/text.h"
#include "rocksdb/status.h"

namespace rowbloom {

// Errors whose message is the parts one after another.
template <typename... Parts>
rocksdb::Status InvalidArgument(const Parts&... parts) {
  return rocksdb::Status::InvalidArgument(Concat(parts...));
}
template <typename... Parts>
rocksdb::Status Corruption(const Parts&... parts) {
  return rocksdb::Status::Corruption(Concat(parts...));
}
template <typename... Parts>
rocksdb::Status NotSupported(const Parts&... parts) {
  return rocksdb::Status::NotSupported(Concat(parts...));
}
template <typename... Parts>
rocksdb::Status NotFound(const Parts&... parts) {
  return rocksdb::Status::NotFound(Concat(parts...));
}
template <typename... Parts>
rocksdb::Status TryAgain(const Parts&... parts) {
  return rocksdb::Status::TryAgain(Concat(parts...));
}
template <typename... Parts>
rocksdb::Status Aborted(const Parts&... parts) {
  return rocksdb::Status::Aborted(Concat(parts...));
}

// The same kind of error with `prefix` before its message. Kinds that carry
// more than a message (a full disk, for one) stay as they are.
inline rocksdb::Status Prefixed(const std::string& prefix,
                                const rocksdb::Status& status) {
  using rocksdb::Status;
  const char* state = status.getState();
  const std::string message = prefix + (state == nullptr ? "" : state);
  if (status.IsInvalidArgument()) return Status::InvalidArgument(message);
  if (status.IsNotSupported()) return Status::NotSupported(message);
  if (status.IsCorruption()) return Status::Corruption(message);
  return status;
}

}  // namespace rowbloom
