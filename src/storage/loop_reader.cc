#include "stator/storage/loop_reader.h"

namespace stator::storage {
namespace {

Error not_read_ahead() { return {ErrorCode::Busy, "this has not been read ahead"}; }

}  // namespace

class AheadCursor final : public Cursor {
 public:
  AheadCursor(const ReadAhead& ahead, const KeyRange& range, Direction direction) : ahead_(ahead) {
    const auto& wish = ahead.wish_.entries;
    is_wished_ =
        wish && wish->direction == direction && wish->range.begin == range.begin && wish->range.end == range.end;
  }
  bool valid() const override { return is_wished_ && at_ < ahead_.entries_.size(); }
  void next() override { ++at_; }
  BytesView key() const override { return ahead_.entries_[at_].key; }
  BytesView value() const override { return ahead_.entries_[at_].value; }
  Result<void> status() const override {
    if (!is_wished_ || (!valid() && !ahead_.complete_)) return not_read_ahead();
    return {};
  }

 private:
  const ReadAhead& ahead_;
  bool is_wished_ = false;
  std::size_t at_ = 0;
};

namespace {

class AheadSnapshot final : public Snapshot {
 public:
  explicit AheadSnapshot(const ReadAhead& ahead) : ahead_(ahead) {}
  Result<std::optional<Bytes>> get(BytesView key) const override { return ahead_.get(key); }
  std::unique_ptr<Cursor> cursor(const KeyRange& range, Direction direction) const override {
    return std::make_unique<AheadCursor>(ahead_, range, direction);
  }

 private:
  const ReadAhead& ahead_;
};

}  // namespace

Result<std::optional<Bytes>> ReadAhead::get(BytesView key) const {
  for (std::size_t i = 0; i < wish_.keys.size(); ++i) {
    if (wish_.keys[i] == key) return values_[i];
  }
  return not_read_ahead();
}

std::unique_ptr<Snapshot> ReadAhead::snapshot() const { return std::make_unique<AheadSnapshot>(*this); }

}  // namespace stator::storage
