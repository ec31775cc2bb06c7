#include "stator/systems/shops/url_batch.h"

#include <gtest/gtest.h>

namespace stator::systems::shops {
namespace {

std::vector<model::Attribute> told() {
  std::vector<model::Attribute> attributes(3);
  attributes[0].name = "type";
  attributes[0].type.max = value::Number::from_int(50);
  attributes[1].name = "hash";
  attributes[2].name = "standards_used";
  attributes[2].type.kind = model::Kind::List;
  return attributes;
}

struct UrlBatch {
  std::vector<UrlNews> news;  // those that come several times are last
  std::vector<UrlEntry> refused;
};

// A batch read twice, as it is when it is written.
Result<UrlBatch> read(std::string_view json) {
  const auto known = told();
  RepeatedUrls repeated;
  TextSource once(json), again(json);
  UrlBatchReader first(once, "example.com", known), second(again, "example.com", known);
  while (auto entry = TRY(first.next())) {
    if (entry->problem.empty()) repeated.note(entry->news.url);
  }
  repeated.end_notes();
  UrlBatch batch;
  while (auto entry = TRY(second.next())) {
    if (!entry->problem.empty()) {
      batch.refused.push_back(std::move(*entry));
    } else if (!repeated.hold(entry->news)) {
      batch.news.push_back(std::move(entry->news));
    }
  }
  for (auto& news : repeated.take()) batch.news.push_back(std::move(news));
  return batch;
}

TEST(UrlBatch, TakesPlainUrlsAndObjects) {
  const auto batch = read(R"({"urls": ["https://example.com/a", {"url": "https://EXAMPLE.com/b#top", "type": "product",
                              "hash": null, "standards_used": ["json-ld"]}]})");
  ASSERT_TRUE(batch);
  ASSERT_EQ(batch->news.size(), 2);
  EXPECT_EQ(batch->news[0].url, "https://example.com/a");
  EXPECT_TRUE(batch->news[0].changes.values.empty());
  EXPECT_EQ(batch->news[1].url, "https://example.com/b");
  EXPECT_EQ(*batch->news[1].changes.values.find("type")->as_string(), "product");
  EXPECT_EQ(batch->news[1].changes.nulls, std::vector<std::string>{"hash"});
}

TEST(UrlBatch, MergesWhatIsSaidTwice) {
  const auto batch = read(R"({"urls": [{"url": "https://example.com/a", "type": "page", "hash": "1"},
                              {"url": "https://example.com:443/a", "type": null}, {"url": "https://example.com/a", "hash": "2"}]})");
  ASSERT_TRUE(batch);
  ASSERT_EQ(batch->news.size(), 1);
  EXPECT_EQ(batch->news[0].changes.values.find("type"), nullptr);
  EXPECT_EQ(batch->news[0].changes.nulls, std::vector<std::string>{"type"});
  EXPECT_EQ(*batch->news[0].changes.values.find("hash")->as_string(), "2");
}

TEST(UrlBatch, CountsWhatItHolds) {
  const auto news = [](const std::string& hash) {
    UrlNews said{.url = "https://example.com/a", .changes = {}};
    said.changes.values.set("hash", value::AttributeValue::string(hash));
    return said;
  };
  RepeatedUrls repeated;
  repeated.note("https://example.com/a");
  repeated.note("https://example.com/a");
  repeated.end_notes();
  const auto empty = repeated.bytes();
  auto first = news("1"), larger = news(std::string(5000, 'x')), again = news("1");
  EXPECT_TRUE(repeated.hold(first));
  const auto held = repeated.bytes();
  EXPECT_GT(held, empty + 500);
  EXPECT_TRUE(repeated.hold(larger));
  EXPECT_EQ(repeated.bytes(), held + 4999);
  EXPECT_TRUE(repeated.hold(again));
  EXPECT_EQ(repeated.bytes(), held);
}

TEST(UrlBatch, RefusesEachBadEntryAlone) {
  struct Case {
    std::string_view entry, problem;
  };
  const auto longer = R"({"url": "https://example.com/", "type": ")" + std::string(51, 'x') + "\"}";
  for (const auto& [entry, problem] :
       {Case{R"("https://other.org/")", "other.org is not a host of example.com"},
        Case{R"("ftp://example.com/")", "a URL begins with http:// or https://"},
        Case{R"(7)", "an entry is a URL, or an object with one"},
        Case{R"({"type": "page"})", "url is required, and a text"},
        Case{R"({"url": "https://example.com/", "is_product": 1})", "is_product is not known here"},
        Case{R"({"url": "https://example.com/", "type": 1})", "type is not of its type"},
        Case{R"({"url": "https://example.com/", "type": "a", "type": "b"})", "type is given twice"},
        Case{longer, "type must have at most 50 characters"}}) {
    const auto batch = read("{\"urls\": [\"https://example.com/fine\", " + std::string(entry) + "]}");
    ASSERT_TRUE(batch) << entry;
    EXPECT_EQ(batch->news.size(), 1) << entry;
    ASSERT_EQ(batch->refused.size(), 1) << entry;
    EXPECT_EQ(batch->refused[0].problem, problem);
    EXPECT_EQ(batch->refused[0].index, 1);
  }
}

TEST(UrlBatch, IsRefusedAsAWholeWhenItIsNone) {
  for (const auto* json : {"", "[]", "{}", R"({"urls": "x"})", R"({"urls": [], "more": 1})", R"({"urls": [)"})
    EXPECT_FALSE(read(json)) << json;
}

}  // namespace
}  // namespace stator::systems::shops
