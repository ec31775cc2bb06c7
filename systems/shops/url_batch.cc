#include "stator/systems/shops/url_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "stator/model/web_address.h"
#include "stator/value/json.h"

namespace stator::systems::shops {
namespace {

using value::AttributeValue;
using value::JsonElement;

std::optional<AttributeValue> plain_value(JsonElement json) {
  std::string_view text;
  if (json.get(text) == simdjson::SUCCESS) return AttributeValue::string(text);
  value::JsonArray array;
  if (json.get(array) != simdjson::SUCCESS) return std::nullopt;
  value::List list;
  for (const auto element : array) {
    if (element.get(text) != simdjson::SUCCESS) return std::nullopt;
    list.push_back(AttributeValue::string(text));
  }
  return AttributeValue(std::move(list));
}

// Reads the entries of one body.
class BatchReader {
 public:
  BatchReader(std::string_view domain, const std::vector<model::Attribute>& known) : domain_(domain), known_(known) {}

  void read(JsonElement json) {
    std::string_view url;
    value::JsonObject object;
    if (json.get(url) == simdjson::SUCCESS) return take(url, {});
    if (json.get(object) != simdjson::SUCCESS) return refuse({}, "an entry is a URL, or an object with one");
    if (object.at_key("url").get(url) != simdjson::SUCCESS) return refuse({}, "url is required, and a text");
    model::PlainObject changes;
    for (const auto& [name, content] : object) {
      if (name == "url") continue;
      if (const auto problem = read_member(name, content, changes)) return refuse(url, *problem);
    }
    take(url, std::move(changes));
  }

  UrlBatch finish() && { return std::move(batch_); }

 private:
  // What is wrong with a member, if anything.
  std::optional<std::string> read_member(std::string_view name, JsonElement content, model::PlainObject& changes) {
    const auto attribute = std::ranges::find(known_, name, &model::Attribute::name);
    if (attribute == known_.end()) return fmt::format("{} is not known here", name);
    const bool repeated = changes.values.find(name) != nullptr || std::ranges::count(changes.nulls, name) > 0;
    if (repeated) return fmt::format("{} is given twice", name);
    if (content.is_null()) {
      changes.nulls.emplace_back(name);
      return std::nullopt;
    }
    auto value = plain_value(content);
    if (!value) return fmt::format("{} is not of its type", name);
    problems_.clear();
    model::check_value(attribute->type, name, *value, problems_);
    if (!problems_.empty()) return fmt::format("{} {}", problems_.front().attribute, problems_.front().problem);
    changes.values.set(name, std::move(*value));
    return std::nullopt;
  }

  void take(std::string_view text, model::PlainObject changes) {
    auto url = url_of_shop(text, domain_);
    if (!url) return refuse(text, url.error().message);
    const auto [place, is_new] = places_.emplace(*url, batch_.news.size());
    if (is_new) {
      batch_.news.push_back({.url = std::move(*url), .changes = std::move(changes)});
    } else {
      merge(batch_.news[place->second].changes, changes);
    }
  }

  static void merge(model::PlainObject& earlier, const model::PlainObject& later) {
    for (const auto& [name, content] : later.values) {
      earlier.values.set(name, content);
      std::erase(earlier.nulls, name);
    }
    for (const auto& name : later.nulls) {
      earlier.values.erase(name);
      if (std::ranges::count(earlier.nulls, name) == 0) earlier.nulls.push_back(name);
    }
  }

  void refuse(std::string_view url, std::string problem) {
    batch_.refused.push_back({.url = std::string(url), .problem = std::move(problem)});
  }

  const std::string_view domain_;
  const std::vector<model::Attribute>& known_;
  UrlBatch batch_;
  std::unordered_map<std::string, std::size_t> places_;  // URL -> its news
  std::vector<model::Problem> problems_;
};

}  // namespace

Result<std::string> url_of_shop(std::string_view text, std::string_view domain) {
  auto canonical = TRY(model::canonical_url(text));
  if (!model::belongs_to(canonical.host, domain))
    return validation_error(fmt::format("{} is not a host of {}", canonical.host, domain));
  return std::move(canonical.url);
}

Result<UrlBatch> read_url_batch(std::string_view json, std::string_view domain,
                                const std::vector<model::Attribute>& known) {
  value::JsonParser parser;
  const auto root = parser.parse(json);
  if (!root) return validation_error(root.error().message);
  value::JsonObject object;
  value::JsonArray urls;
  const bool readable = root->get(object) == simdjson::SUCCESS && object.size() == 1 &&
                        object.at_key("urls").get(urls) == simdjson::SUCCESS;
  if (!readable) return validation_error(R"(the body is {"urls": [...]})");
  BatchReader reader(domain, known);
  for (const auto entry : urls) reader.read(entry);
  return std::move(reader).finish();
}

}  // namespace stator::systems::shops
