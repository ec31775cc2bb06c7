#include <gtest/gtest.h>

#include "stator/engine/test_page.h"
#include "stator/engine/test_support.h"

namespace stator::engine {
namespace {

using namespace testing;

constexpr WallTime time_at(std::int64_t micros) { return WallTime{std::chrono::microseconds{micros}}; }

// A table with every field set to something other than its default, and different from its neighbours.
Table full_table() {
  Table t = table("Music.Library-1_x", keys({"pk:S"}, {"sk:N"}));
  t.id = {4'000'000'000};
  t.uuid = "5d1f2a4e-0c4b-4f43-9d0e-0a3a0f9c1c11";
  t.created = time_at(1'700'000'000'000'001);
  t.attribute_definitions = {attribute("sk:N"), attribute("pk:S"), attribute("g:B"), attribute("h:N"),
                             attribute("i:S")};
  auto& gsi = add_index(t, "gsi", IndexKind::Global, keys({"g:B", "i:S"}, {"h:N", "sk:N"}),
                        {ProjectionKind::Include, {"zebra", "apple \"quoted\" \n"}});
  gsi.throughput = {3, 4};
  gsi.on_demand = OnDemandThroughput{-1, 12};
  gsi.warm = Throughput{12'000, 4'000};
  auto& lsi = add_index(t, "lsi", IndexKind::Local, keys({"pk:S"}, {"h:N"}), {ProjectionKind::KeysOnly, {}});
  lsi.on_demand = OnDemandThroughput{{}, 5};
  add_index(t, "all", IndexKind::Global, keys({"h:N"}));
  t.next_index_id = 40'000;
  t.billing_mode = BillingMode::PayPerRequest;
  t.billing_mode_given = true;
  t.pay_per_request_since = time_at(2);
  t.throughput = {5, 6};
  t.last_increase = time_at(3);
  t.last_decrease = time_at(4);
  t.decreases_today = 7;
  t.on_demand = OnDemandThroughput{8, -1};
  t.warm = Throughput{9, 10};
  t.stream = {.enabled = true, .view = StreamView::NewAndOldImages, .label = "2024-01-01T00:00:00.000"};
  t.stream.since = time_at(12);
  t.ttl_attribute = "until";
  t.encryption = Encryption{"arn:aws:kms:us-east-1:000000000000:key/1"};
  t.deletion_protection = true;
  t.table_class = "STANDARD_INFREQUENT_ACCESS";
  t.table_class_changed = time_at(11);
  t.tags = {{"b", "2"}, {"a", ""}};
  return t;
}

void expect_same(const std::optional<OnDemandThroughput>& a, const std::optional<OnDemandThroughput>& b) {
  ASSERT_EQ(a.has_value(), b.has_value());
  if (!a) return;
  EXPECT_EQ(a->max_read_units, b->max_read_units);
  EXPECT_EQ(a->max_write_units, b->max_write_units);
}

void expect_same(const Table& a, const Table& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.uuid, b.uuid);
  EXPECT_EQ(a.created, b.created);
  EXPECT_EQ(a.keys, b.keys);
  EXPECT_EQ(a.next_index_id, b.next_index_id);
  EXPECT_EQ(a.attribute_definitions, b.attribute_definitions);
  EXPECT_EQ(a.billing_mode, b.billing_mode);
  EXPECT_EQ(a.billing_mode_given, b.billing_mode_given);
  EXPECT_EQ(a.pay_per_request_since, b.pay_per_request_since);
  EXPECT_EQ(a.throughput, b.throughput);
  EXPECT_EQ(a.last_increase, b.last_increase);
  EXPECT_EQ(a.last_decrease, b.last_decrease);
  EXPECT_EQ(a.decreases_today, b.decreases_today);
  expect_same(a.on_demand, b.on_demand);
  EXPECT_EQ(a.warm, b.warm);
  EXPECT_EQ(a.stream.enabled, b.stream.enabled);
  EXPECT_EQ(a.stream.view, b.stream.view);
  EXPECT_EQ(a.stream.label, b.stream.label);
  EXPECT_EQ(a.stream.since, b.stream.since);
  EXPECT_EQ(a.ttl_attribute, b.ttl_attribute);
  EXPECT_EQ(a.encryption, b.encryption);
  EXPECT_EQ(a.deletion_protection, b.deletion_protection);
  EXPECT_EQ(a.table_class, b.table_class);
  EXPECT_EQ(a.table_class_changed, b.table_class_changed);
  EXPECT_EQ(a.tags, b.tags);
  ASSERT_EQ(a.indexes.size(), b.indexes.size());
  for (std::size_t i = 0; i < a.indexes.size(); ++i) {
    const auto& one = a.indexes[i];
    const auto& other = b.indexes[i];
    SCOPED_TRACE(one.name);
    EXPECT_EQ(one.id, other.id);
    EXPECT_EQ(one.name, other.name);
    EXPECT_EQ(one.kind, other.kind);
    EXPECT_EQ(one.keys, other.keys);
    EXPECT_EQ(one.projection.kind, other.projection.kind);
    EXPECT_EQ(one.projection.non_key_attributes, other.projection.non_key_attributes);
    EXPECT_EQ(one.throughput, other.throughput);
    expect_same(one.on_demand, other.on_demand);
    EXPECT_EQ(one.warm, other.warm);
  }
}

void expect_corrupt(BytesView bytes, std::string_view message) {
  const auto read = decode_table(bytes);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::Corruption);
  EXPECT_NE(read.error().message.find(message), std::string::npos) << read.error().message;
}

TEST(TableRecord, ReadsBackEveryField) { expect_same(decode_table(encode_table(full_table())).value(), full_table()); }

TEST(TableRecord, ReadsBackATableOfDefaults) {
  const auto plain = table("T", keys({"pk:B"}));
  expect_same(decode_table(encode_table(plain)).value(), plain);
}

// A field that a newer program adds is ignored by this one, and one that an older program did not write has its
// default.
TEST(TableRecord, LetsFieldsComeAndGo) {
  const auto read =
      decode_table("\x01{\"id\":3,\"name\":\"T\",\"partition\":[[\"pk\",\"N\"]],\"of_the_future\":{\"x\":1}}");
  ASSERT_TRUE(read) << read.error().message;
  auto expected = table("T", keys({"pk:N"}));
  expected.id = {3};
  expected.uuid = "";
  expect_same(*read, expected);
}

TEST(TableRecord, RefusesANewerFormatInOneLine) {
  auto bytes = encode_table(full_table());
  bytes[0] = 2;
  expect_corrupt(bytes, "format 2");
  expect_corrupt("", "empty");
}

TEST(TableRecord, ReportsWhatIsNoTable) {
  expect_corrupt("\x01", "");
  expect_corrupt("\x01[]", "");
  expect_corrupt("\x01{}", "lacks");
  expect_corrupt("\x01{\"id\":3,\"name\":\"T\"}", "lacks");
  const auto whole = encode_table(full_table());
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const auto read = decode_table(BytesView(whole).substr(0, size));
    ASSERT_FALSE(read) << size;
    ASSERT_EQ(read.error().code, ErrorCode::Corruption) << size;
  }
}

TEST(TableRecord, ReportsAFieldOfAnotherKind) {
  expect_corrupt("\x01{\"id\":3,\"name\":\"T\",\"partition\":[[\"pk\",\"X\"]]}", "type");
  expect_corrupt("\x01{\"id\":3,\"name\":\"T\",\"partition\":[[\"pk\",\"S\"]],\"indexes\":[{\"id\":1,\"name\":\"i\"}]}",
                 "index without");
  expect_corrupt(
      "\x01{\"id\":3,\"name\":\"T\",\"partition\":[[\"pk\",\"S\"]],\"indexes\":[{\"id\":1,\"name\":\"i\","
      "\"partition\":[[\"pk\",\"S\"]],\"projection\":7}]}",
      "projection");
  expect_corrupt("\x01{\"id\":3,\"name\":\"T\",\"partition\":[[\"pk\",\"S\"]],\"stream_view\":9}", "stream view");
}

// The example of docs/formats/catalog.md comes from here.
TEST(TableRecord, IsWhatItsPageShows) {
  Table music = table("Music", keys({"Artist:S"}, {"Year:N"}));
  music.created = time_at(1'700'000'000'000'000);
  add_index(music, "ByGenre", IndexKind::Global, keys({"Genre:S"}), {ProjectionKind::Include, {"Label"}});
  music.attribute_definitions = {attribute("Artist:S"), attribute("Year:N"), attribute("Genre:S")};
  const auto record = encode_table(music);
  EXPECT_EQ(record[0], 1);
  // The page breaks the line for readers.
  const auto squeezed = [](std::string text) {
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
    return text;
  };
  EXPECT_NE(squeezed(page("docs/formats/catalog.md")).find(squeezed(record.substr(1))), std::string::npos)
      << "docs/formats/catalog.md lacks\n"
      << record.substr(1);
}

}  // namespace
}  // namespace stator::engine
