// Statuses whose messages say where an error happened, and what it was.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/bytes/text.h"
#include "rocksdb/status.h"

namespace rowbloom {

// Return errors whose messages join the parts.
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

template <typename... Parts>
rocksdb::Status IOError(const Parts&... parts) {
  return rocksdb::Status::IOError(Concat(parts...));
}
template <typename... Parts>
rocksdb::Status MemoryLimit(const Parts&... parts) {
  return rocksdb::Status::MemoryLimit(Concat(parts...));
}

// Returns the same kind of error with `prefix` before its message. Kinds with
// more than a message, such as a full disk, are unchanged. So are errors of the
// operating system, which already say where they happened.
inline rocksdb::Status Prefixed(const std::string& prefix,
                                const rocksdb::Status& status) {
  using rocksdb::Status;
  const char* state = status.getState();
  const std::string message = prefix + (state == nullptr ? "" : state);
  if (status.IsInvalidArgument()) return Status::InvalidArgument(message);
  if (status.IsNotSupported()) return Status::NotSupported(message);
  if (status.IsCorruption()) return Status::Corruption(message);
  if (status.IsMemoryLimit()) return Status::MemoryLimit(message);
  return status;
}

// Adds the place to a problem in a file: "PATH: WHAT at offset N: problem". The
// problem says what was expected and what was found.
inline rocksdb::Status Located(const std::string& path, std::string_view what,
                               uint64_t offset_bytes,
                               const rocksdb::Status& problem) {
  return Prefixed(Concat(path, ": ", what, " at offset ", offset_bytes, ": "),
                  problem);
}

// Says what could not be done to a file or directory: "PATH: cannot WHAT: ...".
// The error is an IOError, or NoSpace when the disk is full. OK stays OK.
inline rocksdb::Status Cannot(std::string_view what, const std::string& path,
                              const rocksdb::Status& status) {
  if (status.ok()) return status;
  const std::string message =
      Concat(path, ": cannot ", what, ": ", status.ToString());
  return status.IsNoSpace() ? rocksdb::Status::NoSpace(message)
                            : rocksdb::Status::IOError(message);
}

}  // namespace rowbloom
