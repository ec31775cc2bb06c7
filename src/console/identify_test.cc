#include "stator/console/identify.h"

#include <gtest/gtest.h>

#include "stator/model/check/load.h"

namespace stator::console {
namespace {

constexpr std::string_view kShelves = R"(model: shelves
table:
  name: Shelves
  key: [PK, SK]
  indexes:
    GSI1: { key: [GSI1PK, GSI1SK] }
entities:
  SHELF:
    path: /shelves/{shelfId}
    owner: ownerId
    keys: { PK: "owner#{ownerId}", SK: "shelf#{shelfId}" }
    attributes:
      ownerId: string
      shelfId: string
  BOOK:
    path: /shelves/{shelfId}/books/{bookId}
    owner: ownerId
    parents:
      shelf: { entity: SHELF, on_delete: cascade }
    keys:
      PK: "owner#{ownerId}"
      SK: "shelf#{shelfId}#book#{bookId}"
      GSI1PK: "owner#{ownerId}"
      GSI1SK: "title#{title}"
    attributes:
      ownerId: string
      shelfId: string
      bookId: string
      title: string
)";

std::string identity_of(std::string_view item) {
  const auto loaded = model::load_model(kShelves, "shelves.yaml");
  EXPECT_TRUE(loaded.model);
  if (!loaded.model) return {};
  value::JsonParser parser;
  const auto json = parser.parse(item);
  std::string out;
  value::JsonWriter writer(out);
  write_identity(writer, *loaded.model, value::decode_item(*json).value());
  return out;
}

TEST(Identify, TellsTheEntityItsParentsAndItsIndexRows) {
  EXPECT_EQ(identity_of(R"({"PK":{"S":"owner#ann"},"SK":{"S":"shelf#1#book#2"},"GSI1PK":{"S":"owner#ann"},
                            "GSI1SK":{"S":"title#Dune"},"EntityType":{"S":"BOOK"},"ownerId":{"S":"ann"},
                            "shelfId":{"S":"1"},"bookId":{"S":"2"},"title":{"S":"Dune"}})"),
            R"({"entity":"BOOK","record":"main","path":"/shelves/1/books/2","parents":[{"entity":"SHELF",)"
            R"("relation":"shelf","key":{"PK":{"S":"owner#ann"},"SK":{"S":"shelf#1"}}}],)"
            R"("indexRows":[{"index":"GSI1","partition":"owner#ann","sort":"title#Dune"}]})");
}

TEST(Identify, KnowsNothingOfOtherItems) {
  EXPECT_EQ(identity_of(R"({"PK":{"S":"x"},"EntityType":{"S":"FILM"}})"),
            R"({"entity":null,"path":null,"parents":[],"indexRows":[]})");
  EXPECT_EQ(identity_of(R"({"PK":{"N":"1"},"EntityType":{"N":"7"}})"),
            R"({"entity":null,"path":null,"parents":[],"indexRows":[]})");
}

}  // namespace
}  // namespace stator::console
