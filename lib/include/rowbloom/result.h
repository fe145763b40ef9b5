// A value or an error message: std::expected's subset that C++20 lacks.
//
// lib/ has no RocksDB and no exceptions of its own, so functions that can fail
// on user input return a Result. The storage layer turns the message into a
// rocksdb::Status.
//
//   Result<KeyLayout> layout = KeyLayout::FromString(text);
//   if (!layout) return Fail(layout.error());
//   Use(*layout);
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace rowbloom {

// The reason for a failure, as one sentence for a person: what, where, expected
// and found.
struct Error {
  std::string message;
};

// Holds a T or an Error. value(), * and -> REQUIRE has_value(); error()
// REQUIRES !has_value(); else the process ends. As thread-safe as T.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  const T& value() const& noexcept { return std::get<0>(state_); }
  T& value() & noexcept { return std::get<0>(state_); }
  T&& value() && noexcept { return std::get<0>(std::move(state_)); }
  const T& operator*() const& noexcept { return value(); }
  T& operator*() & noexcept { return value(); }
  T&& operator*() && noexcept { return std::move(*this).value(); }
  const T* operator->() const noexcept { return &value(); }
  T* operator->() noexcept { return &value(); }

  const std::string& error() const noexcept {
    return std::get<1>(state_).message;
  }

 private:
  std::variant<T, Error> state_;
};

}  // namespace rowbloom
