#pragma once

#include <utility>

#include "stator/storage/store.h"

namespace stator::storage {

// A cursor that has failed before its first record.
class FailedCursor final : public Cursor {
 public:
  explicit FailedCursor(Error error) : error_(std::move(error)) {}
  bool valid() const override { return false; }
  void next() override {}
  BytesView key() const override { return {}; }
  BytesView value() const override { return {}; }
  Result<void> status() const override { return error_; }

 private:
  const Error error_;
};

}  // namespace stator::storage
