#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>

#include "stator/api/json/request_check.h"

namespace stator::api {
namespace {

void check(benchmark::State& state, std::string_view operation, const std::string& body) {
  value::JsonParser parser;
  const auto parsed = parser.parse(body);
  const auto& shape = *input_shape(operation);
  for (auto _ : state) benchmark::DoNotOptimize(check_request(shape, *parsed).ok());
}

void BM_PutItemOfTenAttributes(benchmark::State& state) {
  std::string item;
  for (int i = 0; i < 10; ++i) {
    item += fmt::format(R"({}"attribute_{}":{{"{}":"{}"}})", i == 0 ? "" : ",", i, i % 3 == 0 ? "N" : "S", 1234567 + i);
  }
  check(state, "PutItem", fmt::format(R"({{"TableName":"Orders","Item":{{{}}},"ReturnValues":"NONE"}})", item));
}
BENCHMARK(BM_PutItemOfTenAttributes);

void BM_GetItem(benchmark::State& state) {
  check(state, "GetItem",
        R"({"TableName":"Orders","Key":{"pk":{"S":"user#1"},"sk":{"S":"order#1"}},"ConsistentRead":true})");
}
BENCHMARK(BM_GetItem);

void BM_PutItemOfOneKilobyteOfBinary(benchmark::State& state) {
  check(state, "PutItem",
        fmt::format(R"({{"TableName":"Orders","Item":{{"pk":{{"B":"{}"}}}}}})", std::string(1368, 'A')));
}
BENCHMARK(BM_PutItemOfOneKilobyteOfBinary);

}  // namespace
}  // namespace stator::api

BENCHMARK_MAIN();
