// Adds one to each counter that is named, in a database of its own, and prints all counters.
//
//   embedded FOLDER COUNTER...

#include <stator/database.h>

#include <cstdint>
#include <iostream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace {

namespace api = stator::api;
namespace expr = stator::expr;
using stator::value::AttributeValue;
using stator::value::Item;

// The value of a result; its error becomes an exception.
template <typename T, typename E>
T must(stator::Result<T, E> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}

void make_table_if_missing(stator::Database& database) {
  const auto made = database.ask(api::CreateTableRequest{
      .table = "Counters",
      .definitions = {{.name = "Group"}, {.name = "Name"}},  // texts; numbers have .type = Type::N
      .keys = {{.name = "Group", .role = api::KeyRole::Hash}, {.name = "Name", .role = api::KeyRole::Range}},
      .billing_mode = api::BillingMode::PayPerRequest});
  if (!made && made.error().name() != "ResourceInUseException") throw std::runtime_error(made.error().message);
}

Item key_of(std::string_view name) {
  return {{"Group", AttributeValue::string("examples")}, {"Name", AttributeValue::string(name)}};
}

void add_one(stator::Database& database, std::string_view name) {
  must(database.ask(
      api::UpdateItemRequest{.table = "Counters",
                             .key = key_of(name),
                             .update = expr::UpdateBuilder().add("Count", AttributeValue::number(1)).finish()}));
}

std::int64_t count_of(stator::Database& database, std::string_view name) {
  auto got = must(database.ask(api::GetItemRequest{.table = "Counters", .key = key_of(name), .consistent = true}));
  if (!got.item) return 0;
  return must(std::move(*got.item).take()).integer("Count");
}

void print_all(stator::Database& database) {
  const auto group = AttributeValue::string("examples");
  const auto condition =
      must(expr::bind_key_condition("#g = :g", {.names = {{"#g", "Group"}}, .values = {{":g", group}}}));
  api::QueryRequest query{.page = {.table = "Counters"}, .condition = condition};
  do {
    auto page = must(database.ask(query));
    for (const auto& item : must(std::move(page.items).take())) {
      std::cout << item.text("Name") << ' ' << item.integer("Count") << '\n';
    }
    query.page.start = page.last_key;  // where the next page begins
  } while (query.page.start);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: embedded FOLDER COUNTER...\n";
    return 2;
  }
  try {
    stator::Database database({.data_folder = argv[1]});
    make_table_if_missing(database);
    for (const std::string name : std::span(argv + 2, argv + argc)) {
      add_one(database, name);
      std::cout << name << " is now " << count_of(database, name) << '\n';
    }
    print_all(database);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "embedded: " << error.what() << '\n';
    return 1;
  }
}
