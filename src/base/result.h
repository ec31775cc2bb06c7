#pragma once

#include <string_view>
#include <utility>
#include <variant>

#include "stator/base/assert.h"
#include "stator/base/error.h"

namespace stator {

// A T, or the E that stands in its place.  Dropping one unread is a compile error; ignore_error() says why it is fine.
template <typename T, typename E = Error>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(E error) : state_(std::in_place_index<1>, std::move(error)) {}
  template <typename U>
    requires std::is_convertible_v<U&&, T> && (!std::is_same_v<std::remove_cvref_t<U>, T>) &&
             (!std::is_same_v<std::remove_cvref_t<U>, E>) && (!std::is_same_v<std::remove_cvref_t<U>, Result>)
  Result(U&& value) : state_(std::in_place_index<0>, std::forward<U>(value)) {}

  explicit operator bool() const { return state_.index() == 0; }
  bool ok() const { return state_.index() == 0; }

  T& value() & { return checked(), std::get<0>(state_); }
  const T& value() const& { return checked(), std::get<0>(state_); }
  T&& value() && { return checked(), std::get<0>(std::move(state_)); }

  const E& error() const& { return std::get<1>(state_); }
  E&& error() && { return std::get<1>(std::move(state_)); }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  void checked() const { STATOR_ASSERT(state_.index() == 0, "value() of a Result that holds an error"); }

  std::variant<T, E> state_;
};

template <typename E>
class [[nodiscard]] Result<void, E> {
 public:
  Result() = default;
  Result(E error) : error_(std::move(error)), ok_(false) {}

  explicit operator bool() const { return ok_; }
  bool ok() const { return ok_; }
  void value() const { STATOR_ASSERT(ok_, "value() of a Result that holds an error"); }
  const E& error() const& { return error_; }
  E&& error() && { return std::move(error_); }

 private:
  E error_;
  bool ok_ = true;
};

// Drops a result on purpose; the reason is for the reader.
template <typename T, typename E>
void ignore_error(const Result<T, E>&, std::string_view /*reason*/) {}

}  // namespace stator

// For Stator's own sources.  Programs that include this header keep the short name.
#ifdef STATOR_SOURCES
#define STATOR_CONCAT_INNER(a, b) a##b
#define STATOR_CONCAT(a, b) STATOR_CONCAT_INNER(a, b)
#define STATOR_TRY(name, ...)         \
  __extension__({                     \
    auto&& name = (__VA_ARGS__);      \
    if (!name) [[unlikely]]           \
      return std::move(name).error(); \
    std::move(name).value();          \
  })

// The value of a Result, or return its error to the caller.
#define TRY(...) STATOR_TRY(STATOR_CONCAT(try_result_, __COUNTER__), __VA_ARGS__)
#endif
