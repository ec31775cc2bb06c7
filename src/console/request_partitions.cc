#include "stator/console/request_partitions.h"

#include <algorithm>
#include <utility>

#include "stator/value/json.h"

namespace stator::console {
namespace {

using value::JsonElement;
using value::JsonObject;

// "arn:...:table/Books/index/x" is Books.
std::string_view without_arn(std::string_view table) {
  constexpr std::string_view kTable = ":table/";
  const auto at = table.find(kTable);
  if (at == std::string_view::npos) return table;
  table.remove_prefix(at + kTable.size());
  return table.substr(0, table.find('/'));
}

// The text in {"S": "..."}, {"N": "..."} or {"B": "..."}.
std::optional<std::string> key_text(JsonElement value) {
  for (const auto* type : {"S", "N", "B"}) {
    std::string_view text;
    if (value[type].get(text)) return std::string(text);
  }
  return std::nullopt;
}

// Words of a key condition: names, placeholders and signs.
std::vector<std::string_view> words_of(std::string_view condition) {
  constexpr std::string_view kBreaks = " \t\r\n()";
  std::vector<std::string_view> words;
  while (!condition.empty() && words.size() < 64) {
    const auto start = condition.find_first_not_of(kBreaks);
    if (start == std::string_view::npos) break;
    condition.remove_prefix(start);
    const auto end = condition.front() == '=' ? 1 : condition.find_first_of(" \t\r\n()=");
    words.push_back(condition.substr(0, end));
    condition.remove_prefix(words.back().size());
  }
  return words;
}

class Finder {
 public:
  explicit Finder(const PartitionKeyOf& key_of) : key_of_(key_of) {}

  void look_at(JsonObject request) {
    if (const auto table = request.get<std::string_view>("TableName")) look_at(*table, request);
    for (const auto [table, asked] : request["RequestItems"].object()) look_at_batch(table, asked);
    for (const auto item : request["TransactItems"].array()) {
      for (const auto [kind, each] : item.object()) {
        if (const auto table = each.object().get<std::string_view>("TableName")) look_at(*table, each.object());
      }
    }
  }
  std::vector<Partition> found() && { return std::move(found_); }

 private:
  void look_at(std::string_view table, JsonObject request) {
    add(table, request["Key"]);
    add(table, request["Item"]);
    if (const auto condition = request.get<std::string_view>("KeyConditionExpression")) {
      add_condition(table, request, *condition);
    }
  }

  void look_at_batch(std::string_view table, JsonElement asked) {
    for (const auto key : asked["Keys"].array()) add(table, key);
    for (const auto write : asked.array()) {
      add(table, write["PutRequest"]["Item"]);
      add(table, write["DeleteRequest"]["Key"]);
    }
  }

  void add(std::string_view table, JsonElement item) {
    if (!item || found_.size() >= kMostPartitions) return;
    const auto name = key_of_(without_arn(table), {});
    if (!name) return;
    if (auto text = key_text(item[*name])) add_found(table, std::move(*text));
  }

  // "#p = :p AND ...": the value that the partition key is compared with.
  void add_condition(std::string_view table, JsonObject request, std::string_view condition) {
    const auto name = key_of_(without_arn(table), request.get<std::string_view>("IndexName").value_or(""));
    if (!name) return;
    const auto is_key = [&](std::string_view word) {
      if (!word.starts_with('#')) return word == *name;
      return request["ExpressionAttributeNames"].object().get<std::string_view>(word) == *name;
    };
    const auto words = words_of(condition);
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
      if (words[i] != "=") continue;
      const bool turned = is_key(words[i + 1]);
      if (!turned && !is_key(words[i - 1])) continue;
      auto text = key_text(request["ExpressionAttributeValues"][turned ? words[i - 1] : words[i + 1]]);
      if (text) add_found(table, std::move(*text));
      return;
    }
  }

  void add_found(std::string_view table, std::string key) {
    Partition partition{.table = std::string(without_arn(table)), .key = std::move(key)};
    const auto same = [&](const Partition& other) {
      return other.table == partition.table && other.key == partition.key;
    };
    if (std::ranges::none_of(found_, same)) found_.push_back(std::move(partition));
  }

  const PartitionKeyOf& key_of_;
  std::vector<Partition> found_;
};

}  // namespace

std::vector<Partition> partitions_of(std::string_view body, const PartitionKeyOf& key_of) {
  if (body.size() > kMostPartitionBytes || !key_of) return {};
  value::JsonParser parser;
  const auto json = parser.parse(body);
  if (!json) return {};
  Finder finder(key_of);
  finder.look_at(json->object());
  return std::move(finder).found();
}

std::string table_of(std::string_view body) {
  if (body.size() > kMostPartitionBytes) return {};
  value::JsonParser parser;
  const auto json = parser.parse(body);
  const auto table = json ? json->object().get<std::string_view>("TableName") : std::nullopt;
  return table ? std::string(without_arn(*table)) : std::string();
}

}  // namespace stator::console
