// Says where an error happened, and what it was.
#pragma once

#include <string>

#include "rocksdb/status.h"

namespace rowbloom {

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
