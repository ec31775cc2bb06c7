#include "stator/expr/unbinder.h"

#include <gtest/gtest.h>

#include "stator/expr/binder.h"

namespace stator::expr {
namespace {

using value::AttributeValue;

Names request_names() { return {{"#s", "size"}, {"#n", "name"}}; }
Values request_values() { return {{":a", AttributeValue::string("a")}, {":b", AttributeValue::string("b")}}; }

// The expression after it was bound, written and bound again.
std::string again(Kind kind, const std::string& text) {
  Cache cache;
  Binder binder(request_names(), request_values(), cache);
  Unbinder unbinder;
  std::string written;
  switch (kind) {
    case Kind::Update: written = unbinder.text(*binder.update(text)); break;
    case Kind::Projection: written = unbinder.text(*binder.projection(text)); break;
    case Kind::KeyCondition: written = unbinder.text(*binder.key_condition(text)); break;
    default: written = unbinder.text(*binder.condition(kind, text));
  }
  for (const auto& [placeholder, name] : unbinder.names()) written += ' ' + placeholder + '=' + name;
  for (const auto& [placeholder, value] : unbinder.values()) written += ' ' + placeholder + '=' + *value.as_string();
  return written;
}

TEST(Unbinder, WritesABoundExpressionWithPlaceholdersOfItsOwn) {
  struct Written {
    Kind kind;
    std::string text, written;
  };
  for (const auto& [kind, text, written] : {
           Written{Kind::Condition, "attribute_exists(#s)", "attribute_exists(#0) #0=size"},
           Written{Kind::Condition, "x = :a OR x = :b", "(#0 = :0) OR (#0 = :1) #0=x :0=a :1=b"},
           Written{Kind::Filter, "x IN (:a, :b) AND NOT contains(y.z[3], :a)",
                   "(#0 IN (:0, :1)) AND (NOT (contains(#1.#2[3], :2))) #0=x #1=y #2=z :0=a :1=b :2=a"},
           Written{Kind::Update, "SET x = :a, #s = if_not_exists(z, :b) REMOVE y",
                   "SET #0 = :0, #1 = if_not_exists(#2, :1) REMOVE #3 #0=x #1=size #2=z #3=y :0=a :1=b"},
           Written{Kind::Projection, "#s, a.#n[0]", "#0, #1.#2[0] #0=size #1=a #2=name"},
           Written{Kind::KeyCondition, "p = :a AND s BETWEEN :a AND :b",
                   "#0 = :0 AND #1 BETWEEN :1 AND :2 #0=p #1=s :0=a :1=a :2=b"},
           Written{Kind::KeyCondition, "p = :a AND begins_with(s, :b)",
                   "#0 = :0 AND begins_with(#1, :1) #0=p #1=s :0=a :1=b"},
       }) {
    EXPECT_EQ(again(kind, text), written) << text;
  }
}

TEST(Unbinder, GivesOneRequestsExpressionsOneSetOfPlaceholders) {
  Cache cache;
  Binder binder(std::nullopt, request_values(), cache);
  Unbinder unbinder;
  EXPECT_EQ(unbinder.text(*binder.update("SET x = :a")), "SET #0 = :0");
  EXPECT_EQ(unbinder.text(*binder.condition(Kind::Condition, "y <> :b AND x = :a")), "(#1 <> :1) AND (#0 = :2)");
}

}  // namespace
}  // namespace stator::expr
