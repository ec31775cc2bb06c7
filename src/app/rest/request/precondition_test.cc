#include "stator/app/rest/request/precondition.h"

#include <gtest/gtest.h>

namespace stator::app {
namespace {

http::Request with(const std::vector<http::Header>& headers) {
  http::Request request;
  request.headers = headers;
  return request;
}

// Whether an entity of version 7 may be changed.
bool holds(std::string_view name, std::string_view value, std::optional<std::uint64_t> version = 7) {
  const std::vector<http::Header> headers{{name, value}};
  return precondition_of(with(headers)).holds(version);
}

TEST(Precondition, IfMatchTakesOneOfAListStrongly) {
  for (const auto* value : {R"("7")", "*", R"("1", "7")", R"("1","7" , "9")", R"("x", "7")"})
    EXPECT_TRUE(holds("If-Match", value)) << value;
  for (const auto* value :
       {R"("1")", R"(W/"7")", "7", R"("07")", R"("7)", R"("7" "7")", "x", R"("99999999999999999999")", R"("")", ","})
    EXPECT_FALSE(holds("If-Match", value)) << value;
  EXPECT_FALSE(holds("If-Match", "*", std::nullopt));
  EXPECT_FALSE(holds("If-Match", R"("7")", std::nullopt));
}

TEST(Precondition, IfNoneMatchTakesNoneOfAListWeakly) {
  for (const auto* value : {R"("7")", "*", R"("1", "7")", R"(W/"7")"})
    EXPECT_FALSE(holds("If-None-Match", value)) << value;
  for (const auto* value : {R"("1")", "x", R"("1", W/"2")"}) EXPECT_TRUE(holds("If-None-Match", value)) << value;
  EXPECT_TRUE(holds("If-None-Match", "*", std::nullopt));
  EXPECT_TRUE(precondition_of({}).holds(7));
  EXPECT_TRUE(precondition_of({}).holds(std::nullopt));
}

TEST(Precondition, WhatACallerHasAlready) {
  const auto has = [](std::string_view value) {
    const std::vector<http::Header> headers{{"If-None-Match", value}};
    return has_already(with(headers), R"("7")");
  };
  for (const auto* value : {R"("7")", R"(W/"7")", R"("1", "7")", "*"}) EXPECT_TRUE(has(value)) << value;
  for (const auto* value : {R"("1")", "7", "", R"("77")"}) EXPECT_FALSE(has(value)) << value;
}

}  // namespace
}  // namespace stator::app
