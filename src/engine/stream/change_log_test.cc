#include "stator/engine/stream/change_log.h"

#include <gtest/gtest.h>

#include "stator/engine/test_page.h"
#include "stator/engine/test_support.h"

namespace stator::engine {
namespace {

using namespace testing;
using value::Item;
using value::StoredItem;

constexpr WallTime kTime{std::chrono::microseconds{1'700'000'000'123'456}};

ChangeRecord record_with(ChangeKind kind, std::optional<Item> new_image, std::optional<Item> old_image) {
  ChangeRecord record{
      .time = kTime, .kind = kind, .keys = StoredItem::from(Item{{"pk", S("a")}}), .new_image = {}, .old_image = {}};
  if (new_image) record.new_image = StoredItem::from(*new_image);
  if (old_image) record.old_image = StoredItem::from(*old_image);
  return record;
}

void expect_same(const ChangeRecord& a, const ChangeRecord& b) {
  EXPECT_EQ(a.time, b.time);
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.by, b.by);
  EXPECT_EQ(a.keys.bytes(), b.keys.bytes());
  ASSERT_EQ(a.new_image.has_value(), b.new_image.has_value());
  ASSERT_EQ(a.old_image.has_value(), b.old_image.has_value());
  if (a.new_image) {
    EXPECT_EQ(a.new_image->bytes(), b.new_image->bytes());
  }
  if (a.old_image) {
    EXPECT_EQ(a.old_image->bytes(), b.old_image->bytes());
  }
}

TEST(ChangeRecord, ReadsBackWhatWasWritten) {
  const Item one{{"pk", S("a")}, {"n", N(1)}};
  const Item large{{"pk", S("a")}, {"text", S(std::string(100'000, 'x'))}};
  for (const auto kind : {ChangeKind::Insert, ChangeKind::Modify, ChangeKind::Remove}) {
    for (const auto by : {ChangeBy::User, ChangeBy::TimeToLive}) {
      for (const auto& new_image : {std::optional<Item>(), std::optional<Item>(one), std::optional<Item>(large)}) {
        for (const auto& old_image : {std::optional<Item>(), std::optional<Item>(large)}) {
          auto record = record_with(kind, new_image, old_image);
          record.by = by;
          const auto read = ChangeRecord::decode(record.encode());
          ASSERT_TRUE(read) << read.error().message;
          expect_same(*read, record);
        }
      }
    }
  }
}

TEST(ChangeRecord, GetsItsTimeWhenItIsCommitted) {
  auto record = record_with(ChangeKind::Insert, Item{{"pk", S("a")}}, {});
  record.time = {};
  auto bytes = record.encode();
  set_change_time(bytes, kTime);
  EXPECT_EQ(ChangeRecord::decode(bytes).value().time, kTime);
}

// The example of docs/formats/change_log.md comes from here.
TEST(ChangeRecord, IsWhatItsPageShows) {
  const auto bytes = record_with(ChangeKind::Modify, Item{{"pk", S("a")}, {"n", N(1)}}, {}).encode();
  const auto text = page("docs/formats/change_log.md");
  std::size_t at = 0;
  for (const std::size_t length : {1U, 8U, 1U, 1U, 19U, 33U, 1U}) {
    const auto line = "\n" + hex(BytesView(bytes).substr(at, length)) + "\n";
    EXPECT_NE(text.find(line), std::string::npos) << "docs/formats/change_log.md lacks the line" << line;
    at += length;
  }
  EXPECT_EQ(at, bytes.size());
}

TEST(ChangeRecord, ReportsWhatIsCutShort) {
  const auto whole = record_with(ChangeKind::Modify, Item{{"pk", S("a")}, {"n", N(1)}}, Item{{"pk", S("a")}}).encode();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto read = ChangeRecord::decode(BytesView(whole).substr(0, size));
    ASSERT_FALSE(read) << size;
    EXPECT_EQ(read.error().code, ErrorCode::Corruption);
  }
}

TEST(ChangeRecord, ReportsWhatIsNoRecord) {
  struct Case {
    std::size_t at;
    char byte;
    std::string_view why;
  };
  const auto whole = record_with(ChangeKind::Remove, {}, Item{{"pk", S("a")}}).encode();
  for (const auto& [at, byte, why] :
       {Case{0, 2, "a newer version"}, Case{0, 0, "no version"}, Case{9, 3, "an unknown kind"},
        Case{10, 2, "an unknown author"}, Case{11, 0, "no keys"}}) {
    SCOPED_TRACE(why);
    auto bytes = whole;
    bytes[at] = byte;
    const auto read = ChangeRecord::decode(bytes);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::Corruption);
  }
  const auto longer = ChangeRecord::decode(whole + "x");
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().code, ErrorCode::Corruption);
}

}  // namespace
}  // namespace stator::engine
