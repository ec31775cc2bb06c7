#include "stator/bench/workload.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <functional>
#include <utility>

namespace stator::bench {
namespace {

constexpr std::uint64_t kItemsPerPartition = 10;
constexpr std::uint64_t kBatch = 25;
constexpr std::uint64_t kTransaction = 4;

void append_number(std::string& out, std::uint64_t value, int width) {
  std::array<char, 24> text{};
  const int n = std::snprintf(text.data(), text.size(), "%0*llu", width, static_cast<unsigned long long>(value));
  out.append(text.data(), static_cast<std::size_t>(n));
}

void append_key(std::string& out, std::uint64_t item) {
  out += R"("PK":{"S":"CUSTOMER#)";
  append_number(out, item / kItemsPerPartition, 6);
  out += R"("},"SK":{"S":"ORDER#)";
  append_number(out, item % kItemsPerPartition, 2);
  out += R"("})";
}

void append_index_partition(std::string& out, std::uint64_t item) {
  out += R"({"S":"WAREHOUSE#)";
  append_number(out, item / kItemsPerPartition, 6);
  out += R"("})";
}

// An order of about 1 KB by DynamoDB's count.  `version` varies what an overwrite changes, the index sort key included.
void append_item(std::string& out, std::uint64_t item, std::uint64_t version) {
  static const std::string kText = [] {
    std::string text;
    while (text.size() < 780) text += "The quick brown fox jumps over the lazy dog. ";
    text.resize(780);
    return text;
  }();
  out += '{';
  append_key(out, item);
  out += R"(,"GSI1PK":)";
  append_index_partition(out, item);
  out += R"(,"GSI1SK":{"S":"SHIPPED#)";
  append_number(out, version % 1'000'000, 6);
  out += '#';
  append_number(out, item % kItemsPerPartition, 2);
  out +=
      R"("},"n":{"N":"0"},"total":{"N":"129.95"},"paid":{"BOOL":true},"tags":{"SS":["express","gift"]},)"
      R"("address":{"M":{"city":{"S":"Utrecht"},"zip":{"S":"3511AB"}}},"lines":{"L":[{"S":"sku-1"},{"N":"3"}]},"text":{"S":")";
  out += kText;
  out += R"("}})";
}

std::optional<std::string> expect(bool ok, std::string_view what, std::string_view body) {
  if (ok) return std::nullopt;
  return std::string("expected ").append(what).append(", got ").append(body.substr(0, 300));
}

std::optional<std::uint64_t> number_after(std::string_view body, std::string_view name) {
  const auto at = body.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(body.data() + at + name.size(), body.data() + body.size(), value);
  return error == std::errc{} ? std::optional(value) : std::nullopt;
}

// The `i`th of `count` different items, without remembering any: steps from `start` that are no multiple of the table's
// size.
std::uint64_t spread_item(std::uint64_t start, std::uint64_t i, std::uint64_t count, std::uint64_t items) {
  return (start + i * (items / count + 1)) % items;
}

// A client whose requests are independent of each other.
class RandomClient : public Client {
 public:
  RandomClient(const Dataset& dataset, std::uint64_t number)
      : data_(dataset), rng_(dataset.seed * 1'000'003 + number) {}

 protected:
  std::uint64_t random_item() { return rng_() % data_.items; }
  std::uint64_t random_number() { return rng_(); }

  void begin(std::string& body) const {
    body += R"({"TableName":")";
    body += data_.table;
    body += R"(",)";
  }

  const Dataset& data_;
  std::mt19937_64 rng_;
};

class Put : public RandomClient {
 public:
  using RandomClient::RandomClient;
  std::string_view operation() const override { return "PutItem"; }
  bool next(std::string& body) override {
    begin(body);
    body += R"("Item":)";
    append_item(body, random_item(), random_number());
    body += '}';
    return true;
  }
  std::optional<std::string> check(std::string_view body) override { return expect(body == "{}", "{}", body); }
};

class Get : public RandomClient {
 public:
  using RandomClient::RandomClient;
  std::string_view operation() const override { return "GetItem"; }
  bool next(std::string& body) override {
    key_.clear();
    append_key(key_, random_item());
    begin(body);
    body += R"("Key":{)";
    body += key_;
    body += "}}";
    return true;
  }
  std::optional<std::string> check(std::string_view body) override {
    const std::string_view sort = std::string_view(key_).substr(key_.find(R"("SK")"));
    const std::string_view partition = std::string_view(key_).substr(0, key_.find(R"(,"SK")"));
    return expect(body.starts_with(R"({"Item":{)") && body.find(partition) != body.npos &&
                      body.find(sort) != body.npos && body.find("quick brown fox") != body.npos,
                  "the item asked for", body);
  }

 private:
  std::string key_;
};

class Query : public RandomClient {
 public:
  using RandomClient::RandomClient;
  std::string_view operation() const override { return "Query"; }
  bool next(std::string& body) override {
    partition_.clear();
    append_number(partition_, random_item() / kItemsPerPartition, 6);
    begin(body);
    body +=
        R"-("KeyConditionExpression":"PK = :p AND begins_with(SK, :s)","ExpressionAttributeValues":{":p":{"S":"CUSTOMER#)-";
    body += partition_;
    body += R"("},":s":{"S":"ORDER#"}}})";
    return true;
  }
  std::optional<std::string> check(std::string_view body) override {
    return expect(
        number_after(body, R"("Count":)") == kItemsPerPartition && body.find("CUSTOMER#" + partition_) != body.npos,
        "ten items of the partition", body);
  }
  std::uint64_t items() const override { return kItemsPerPartition; }

 protected:
  std::string partition_;
};

class QueryIndex : public Query {
 public:
  using Query::Query;
  bool next(std::string& body) override {
    partition_.clear();
    append_number(partition_, random_item() / kItemsPerPartition, 6);
    begin(body);
    body +=
        R"("IndexName":"GSI1","KeyConditionExpression":"GSI1PK = :p","ExpressionAttributeValues":{":p":{"S":"WAREHOUSE#)";
    body += partition_;
    body += R"("}}})";
    return true;
  }
};

class Update : public RandomClient {
 public:
  using RandomClient::RandomClient;
  std::string_view operation() const override { return "UpdateItem"; }
  bool next(std::string& body) override {
    begin(body);
    body += R"("Key":{)";
    append_key(body, random_item());
    body += R"-(},"UpdateExpression":"SET n = n + :one","ConditionExpression":"attribute_exists(PK) AND n >= :zero",)-"
            R"("ExpressionAttributeValues":{":one":{"N":"1"},":zero":{"N":"0"}},"ReturnValues":"UPDATED_NEW"})";
    return true;
  }
  std::optional<std::string> check(std::string_view body) override {
    return expect(body.starts_with(R"({"Attributes":{"n":{"N":")"), "the new count", body);
  }
};

void append_batch(std::string& body, const Dataset& data, std::uint64_t first, std::uint64_t last,
                  const std::function<std::uint64_t(std::uint64_t)>& item, std::uint64_t version) {
  body += R"({"RequestItems":{")";
  body += data.table;
  body += R"(":[)";
  for (auto i = first; i < last; ++i) {
    if (i > first) body += ',';
    body += R"({"PutRequest":{"Item":)";
    append_item(body, item(i), version);
    body += "}}";
  }
  body += "]}}";
}

std::optional<std::string> check_batch(std::string_view body) {
  return expect(body.find(R"("UnprocessedItems":{})") != body.npos, "no unprocessed items", body);
}

class Batch : public RandomClient {
 public:
  using RandomClient::RandomClient;
  std::string_view operation() const override { return "BatchWriteItem"; }
  bool next(std::string& body) override {
    const auto start = random_item();
    append_batch(
        body, data_, 0, kBatch, [&](std::uint64_t i) { return spread_item(start, i, kBatch, data_.items); },
        random_number());
    return true;
  }
  std::optional<std::string> check(std::string_view body) override { return check_batch(body); }
  std::uint64_t items() const override { return kBatch; }
};

class Transact : public RandomClient {
 public:
  using RandomClient::RandomClient;
  std::string_view operation() const override { return "TransactWriteItems"; }
  bool next(std::string& body) override {
    const auto start = random_item(), version = random_number();
    body += R"({"TransactItems":[)";
    for (std::uint64_t i = 0; i < kTransaction; ++i) {
      if (i > 0) body += ',';
      body += R"({"Put":)";
      begin(body);
      body += R"("Item":)";
      append_item(body, spread_item(start, i, kTransaction, data_.items), version);
      body += "}}";
    }
    body += "]}";
    return true;
  }
  std::optional<std::string> check(std::string_view body) override { return expect(body == "{}", "{}", body); }
  std::uint64_t items() const override { return kTransaction; }
};

// Writes every item once; the clients take batches from a shared counter.
class Load : public Client {
 public:
  Load(const Dataset& dataset, std::uint64_t& position) : data_(dataset), position_(position) {}
  std::string_view operation() const override { return "BatchWriteItem"; }
  bool next(std::string& body) override {
    if (position_ >= data_.items) return false;
    const auto first = position_;
    const auto last = std::min(first + kBatch, data_.items);
    position_ = last;
    count_ = last - first;
    append_batch(body, data_, first, last, [](std::uint64_t i) { return i; }, 0);
    return true;
  }
  std::optional<std::string> check(std::string_view body) override { return check_batch(body); }
  std::uint64_t items() const override { return count_; }

 private:
  const Dataset& data_;
  std::uint64_t& position_;
  std::uint64_t count_ = 0;
};

// Reads the whole table page by page, again and again; each whole pass must have seen every item.
class Scan : public RandomClient {
 public:
  using RandomClient::RandomClient;
  std::string_view operation() const override { return "Scan"; }
  bool next(std::string& body) override {
    begin(body);
    if (start_key_.empty()) {
      body.back() = '}';
    } else {
      body += R"("ExclusiveStartKey":)";
      body += start_key_;
      body += '}';
    }
    return true;
  }
  std::optional<std::string> check(std::string_view body) override {
    const auto count = number_after(body, R"("Count":)");
    if (!count) return expect(false, "a page", body);
    page_ = *count;
    seen_ += *count;
    static constexpr std::string_view kLast = R"("LastEvaluatedKey":)";
    const auto at = body.rfind(kLast);  // no item has an attribute of that name
    if (at != body.npos) {
      const auto begin = at + kLast.size();
      int depth = 0;
      auto end = begin;
      do {
        if (end >= body.size()) return expect(false, "a whole LastEvaluatedKey", body.substr(at));
        depth += body[end] == '{' ? 1 : body[end] == '}' ? -1 : 0;
        ++end;
      } while (depth > 0);
      start_key_.assign(body.substr(begin, end - begin));
      return std::nullopt;
    }
    start_key_.clear();
    const auto seen = std::exchange(seen_, 0);
    return expect(seen == data_.items, "every item in one pass", "a pass with " + std::to_string(seen));
  }
  std::uint64_t items() const override { return page_; }

 private:
  std::string start_key_;
  std::uint64_t seen_ = 0, page_ = 0;
};

template <typename C>
class Of : public Workload {
 public:
  explicit Of(const Dataset& dataset) : data_(dataset) {}
  std::unique_ptr<Client> client(std::uint64_t number) override { return std::make_unique<C>(data_, number); }

 private:
  const Dataset data_;
};

class Loading : public Workload {
 public:
  explicit Loading(const Dataset& dataset) : data_(dataset) {}
  std::unique_ptr<Client> client(std::uint64_t) override { return std::make_unique<Load>(data_, position_); }

 private:
  const Dataset data_;
  std::uint64_t position_ = 0;
};

}  // namespace

std::unique_ptr<Workload> make_workload(std::string_view name, const Dataset& dataset) {
  if (name == "load") return std::make_unique<Loading>(dataset);
  if (name == "put") return std::make_unique<Of<Put>>(dataset);
  if (name == "get") return std::make_unique<Of<Get>>(dataset);
  if (name == "query") return std::make_unique<Of<Query>>(dataset);
  if (name == "query-gsi") return std::make_unique<Of<QueryIndex>>(dataset);
  if (name == "update") return std::make_unique<Of<Update>>(dataset);
  if (name == "batch") return std::make_unique<Of<Batch>>(dataset);
  if (name == "transact") return std::make_unique<Of<Transact>>(dataset);
  if (name == "scan") return std::make_unique<Of<Scan>>(dataset);
  return nullptr;
}

std::string_view workload_names() { return "load put get query query-gsi update batch transact scan"; }

}  // namespace stator::bench
