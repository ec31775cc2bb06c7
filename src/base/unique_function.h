#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace stator {

// std::function for callables that can only be moved, such as one that owns the way to answer a client.
template <typename Signature>
class UniqueFunction;

template <typename R, typename... Args>
class UniqueFunction<R(Args...)> {
 public:
  UniqueFunction() = default;
  template <typename F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, UniqueFunction>) && std::is_invocable_r_v<R, F&, Args...>
  UniqueFunction(F&& callable) : target_(std::make_unique<Holder<std::remove_cvref_t<F>>>(std::forward<F>(callable))) {}

  explicit operator bool() const { return target_ != nullptr; }
  R operator()(Args... args) { return target_->call(std::forward<Args>(args)...); }

 private:
  struct Target {
    virtual ~Target() = default;
    virtual R call(Args... args) = 0;
  };
  template <typename F>
  struct Holder final : Target {
    explicit Holder(F f) : callable(std::move(f)) {}
    R call(Args... args) override { return callable(std::forward<Args>(args)...); }
    F callable;
  };
  std::unique_ptr<Target> target_;
};

}  // namespace stator
