// The boundary between C and C++: errors and bytes are returned in memory of
// malloc, and no exception crosses it.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "rocksdb/status.h"
#include "storage/format/no_exceptions.h"

namespace rowbloom::c {

// The message if there is no memory for one; rowbloom_free does not free it.
extern char no_memory_message[];

inline std::string_view View(const void* data, size_t size) {
  return {static_cast<const char*>(data), size};
}

// Copies the bytes to memory of malloc and appends a byte 0. May throw
// std::bad_alloc.
inline char* NewBytes(std::string_view bytes) {
  auto* const copy = static_cast<char*>(std::malloc(bytes.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  if (!bytes.empty()) std::memcpy(copy, bytes.data(), bytes.size());
  copy[bytes.size()] = '\0';
  return copy;
}

// Runs `body`, which returns a status, and sets *error to NULL, or to the
// message of its status or exception. Returns whether it was OK.
template <typename Body>
bool Run(char** error, Body&& body) noexcept {
  *error = nullptr;
  try {
    const rocksdb::Status status = CatchExceptions(std::forward<Body>(body));
    if (!status.ok()) *error = NewBytes(status.ToString());
  } catch (...) {  // not even memory for the message
    *error = no_memory_message;
  }
  return *error == nullptr;
}

}  // namespace rowbloom::c
