#include <benchmark/benchmark.h>

#include "stator/value/json.h"
#include "stator/value/stored_item.h"

namespace stator::value {
namespace {

// About 1 KB in 10 attributes: keys, text, numbers, a flag, a set, a list and a map.
const std::string kItemJson =
    R"({"PK":{"S":"owner#6b1f7c1e-8d0f-4f6e-9c55-0d0a8a1f2b3c"},"SK":{"S":"library#42#collection#7#book#0815"},)"
    R"("EntityType":{"S":"BOOK"},"Title":{"S":"The Left Hand of Darkness"},"Pages":{"N":"304"},)"
    R"("Price":{"N":"12.99"},"Available":{"BOOL":true},"Tags":{"SS":["fiction","hugo","nebula"]},)"
    R"("Authors":{"L":[{"M":{"Name":{"S":"Ursula K. Le Guin"},"Born":{"N":"1929"}}}]},"Summary":{"S":")" +
    std::string(560, 's') + R"("}})";

Item parsed_item() {
  JsonParser parser;
  return decode_item(parser.parse(kItemJson).value()).value();
}

void parse_json(benchmark::State& state) {
  JsonParser parser;
  std::string text = kItemJson;
  text.reserve(text.size() + kJsonPadding);
  for (auto _ : state) benchmark::DoNotOptimize(parser.parse_padded(text).ok());
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
}
BENCHMARK(parse_json);

void decode_parsed_item(benchmark::State& state) {
  JsonParser parser;
  const auto json = parser.parse(kItemJson).value();
  for (auto _ : state) benchmark::DoNotOptimize(decode_item(json));
}
BENCHMARK(decode_parsed_item);

void store_item(benchmark::State& state) {
  const Item item = parsed_item();
  for (auto _ : state) benchmark::DoNotOptimize(StoredItem::from(item));
}
BENCHMARK(store_item);

void decode_and_store(benchmark::State& state) {  // what a PutItem does with its item, once the body is parsed
  JsonParser parser;
  const auto json = parser.parse(kItemJson).value();
  for (auto _ : state) benchmark::DoNotOptimize(StoredItem::from(decode_item(json).value()));
}
BENCHMARK(decode_and_store);

void parse_stored_item(benchmark::State& state) {  // what a condition or filter costs
  const StoredItem stored = StoredItem::from(parsed_item());
  for (auto _ : state) benchmark::DoNotOptimize(stored.parse());
}
BENCHMARK(parse_stored_item);

void encode_item(benchmark::State& state) {
  const Item item = parsed_item();
  std::string out;
  for (auto _ : state) {
    out.clear();
    append_json(out, item);
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(encode_item);

void escape_string(benchmark::State& state) {
  const std::string text(static_cast<std::size_t>(state.range(0)), 'x');
  std::string out;
  for (auto _ : state) {
    out.clear();
    append_json_string(out, text);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetBytesProcessed(state.range(0) * state.iterations());
}
BENCHMARK(escape_string)->Arg(10)->Arg(100)->Arg(10'000);

void parse_number(benchmark::State& state, std::string_view text) {
  for (auto _ : state) benchmark::DoNotOptimize(Number::parse(text));
}
BENCHMARK_CAPTURE(parse_number, short, "304");
BENCHMARK_CAPTURE(parse_number, time, "1700000000123");
BENCHMARK_CAPTURE(parse_number, longest, "3.1415926535897932384626433832795028841");

void order_number(benchmark::State& state, std::string_view text) {
  const Number number = Number::parse(text).value();
  Bytes out;
  for (auto _ : state) {
    out.clear();
    number.append_ordered(out);
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK_CAPTURE(order_number, time, "1700000000123");
BENCHMARK_CAPTURE(order_number, longest, "3.1415926535897932384626433832795028841");

}  // namespace
}  // namespace stator::value

BENCHMARK_MAIN();
