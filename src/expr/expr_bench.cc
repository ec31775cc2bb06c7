#include <benchmark/benchmark.h>

#include "stator/expr/binder.h"
#include "stator/expr/parser.h"

namespace stator::expr {
namespace {

using value::AttributeValue;

constexpr std::string_view kCondition =
    "attribute_exists(#pk) AND version = :old AND (size(tags) < :max OR owner_id = :me)";
constexpr std::string_view kUpdate = "SET #v = #v + :one, title = :title, updated = :now REMOVE draft";

Names names() { return {{"#pk", "pk"}, {"#v", "version"}}; }
Values values() {
  return {{":old", AttributeValue::number(7)},   {":max", AttributeValue::number(10)},
          {":me", AttributeValue::string("u1")}, {":one", AttributeValue::number(1)},
          {":now", AttributeValue::number(17)},  {":title", AttributeValue::string("a title of some length")}};
}
value::Item item() {
  value::Item result;
  result.set("pk", AttributeValue::string("user#1"));
  result.set("version", AttributeValue::number(7));
  result.set("title", AttributeValue::string("another title of some length"));
  result.set("tags", AttributeValue(value::List(5, AttributeValue::string("tag"))));
  result.set("draft", AttributeValue::string("x"));
  return result;
}

void Parse(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(parse(Kind::Condition, kCondition));
}
BENCHMARK(Parse);

void BindCachedCondition(benchmark::State& state) {
  Cache cache;
  Binder binder(names(), values(), cache);
  for (auto _ : state) benchmark::DoNotOptimize(binder.condition(Kind::Condition, kCondition));
}
BENCHMARK(BindCachedCondition)->Iterations(200000);

void EvaluateCondition(benchmark::State& state) {
  Cache cache;
  const auto condition = *Binder(names(), values(), cache).condition(Kind::Condition, kCondition);
  const value::Item document = item();
  for (auto _ : state) benchmark::DoNotOptimize(condition.matches(document));
}
BENCHMARK(EvaluateCondition);

void BindAndApplyUpdate(benchmark::State& state) {
  Cache cache;
  const value::Item document = item();
  Binder binder(names(), values(), cache);
  for (auto _ : state) benchmark::DoNotOptimize(binder.update(kUpdate)->apply(document));
}
BENCHMARK(BindAndApplyUpdate)->Iterations(200000);

}  // namespace
}  // namespace stator::expr

BENCHMARK_MAIN();
