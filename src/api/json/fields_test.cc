#include "stator/api/json/fields.h"

#include <gtest/gtest.h>

#include "stator/api/json/statement_fields.h"
#include "stator/api/json/stream_fields.h"
#include "stator/api/json/table_fields.h"

namespace stator::api {
namespace {

// The object that was read, as JSON again; or the error.
template <typename T>
std::string read_back(std::string_view text) {
  value::JsonParser parser;
  T object;
  const auto read = read_fields(JsonMembers(parser.parse(text)->object()), object);
  return read ? fields_to_json(object) : read.error().message;
}

TEST(Fields, NameTheMemberThatIsMissing) {
  EXPECT_EQ(read_back<ExecuteStatementAnswer>("{}"), "The member Items is missing");
  EXPECT_EQ(read_back<ExecuteStatementAnswer>(R"({"Items":7})"), "The member Items is not of its type");
  EXPECT_EQ(read_back<ExecuteStatementAnswer>(R"({"Items":[]})"), R"({"Items":[]})");
}

TEST(Fields, DoNotReadAListWithAnElementOfAnotherType) {
  EXPECT_EQ(read_back<ListTablesAnswer>(R"({"TableNames":["a","b"]})"), R"({"TableNames":["a","b"]})");
  EXPECT_NE(read_back<ListTablesAnswer>(R"({"TableNames":["a",7]})"), R"({"TableNames":["a",""]})");
}

TEST(Fields, HaveANameForEveryTypeOfAttribute) {
  for (std::size_t i = 0; i <= static_cast<std::size_t>(value::Type::Bool); ++i) {
    const auto type = static_cast<value::Type>(i);
    EXPECT_EQ(wire_name(type), value::type_name(type));
    EXPECT_EQ(from_wire_name<value::Type>(value::type_name(type)), type);
  }
  EXPECT_EQ(from_wire_name<value::Type>("X"), std::nullopt);
}

}  // namespace
}  // namespace stator::api
