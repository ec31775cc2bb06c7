#include "stator/app/rest/answer.h"

#include <gtest/gtest.h>

namespace stator::app {
namespace {

TEST(ListBody, IsOneObjectWithItemsAndTheTokenIfThereIsOne) {
  const model::TableDesign table;
  EXPECT_EQ(list_body(table, {}, ""), R"({"items":[]})");
  EXPECT_EQ(list_body(table, {}, "a\"b"), R"({"items":[],"nextToken":"a\"b"})");
}

TEST(AppendObject, IsOneObjectWithObjectsInside) {
  model::TableDesign table;
  table.type_attribute = "type";
  table.version_attribute = "version";
  model::Entity shelf;
  shelf.name = "SHELF";
  runtime::Object inner;
  inner.entity = &shelf;
  runtime::Object outer = inner;
  outer.version = 7;
  outer.nested_as = "shelves";
  outer.nested = {inner, inner};
  std::string out = "x";
  append_object(out, table, outer);
  EXPECT_EQ(out, R"(x{"type":"SHELF","version":7,"shelves":[{"type":"SHELF"},{"type":"SHELF"}]})");
}

TEST(Answers, HaveTheStatusOfTheirProblem) {
  EXPECT_EQ(no_content().status, 204);
  EXPECT_EQ(json_answer(201, "{}").content_type, kJsonType);
  const auto answer = problem_answer(nothing_there());
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.body, R"({"code":"NotFound","message":"there is no such thing","details":[]})");
}

TEST(Answers, SayWhenToTryAgain) {
  const auto headers = [](runtime::ProblemKind kind, std::string_view code) {
    return problem_answer(problem(kind, code, "later")).headers;
  };
  EXPECT_EQ(headers(runtime::ProblemKind::Conflict, runtime::kStillGoing), "Retry-After: 1\r\n");
  EXPECT_EQ(headers(runtime::ProblemKind::Unavailable, "Overloaded"), "Retry-After: 1\r\n");
  EXPECT_EQ(headers(runtime::ProblemKind::Conflict, "Exists"), "");
}

}  // namespace
}  // namespace stator::app
