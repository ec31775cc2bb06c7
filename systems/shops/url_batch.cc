#include "stator/systems/shops/url_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "stator/model/problem_list.h"
#include "stator/model/types/web_address.h"

namespace stator::systems::shops {
namespace {

using value::AttributeValue;

constexpr int kEntryLevel = 3;  // inside a list inside an object
constexpr std::size_t kBytesPerHeldUrl = 400;
constexpr std::size_t kBytesPerValue = 100;  // of a value or a name, beside its text

// A text, or a list of texts.
bool is_plain(const AttributeValue& content) {
  if (content.as_string() != nullptr) return true;
  const auto* list = content.as_list();
  return list != nullptr &&
         std::ranges::all_of(*list, [](const AttributeValue& element) { return element.as_string() != nullptr; });
}

Error no_batch() { return validation_error(R"(the body is {"urls": [...]})"); }

UrlEntry refused(std::string_view url, std::string problem) {
  return {.index = 0, .news = {}, .refused_url = model::shown_name(url), .problem = std::move(problem)};
}

// About what a change takes in memory.
std::size_t bytes_of(const AttributeValue& content) {
  std::size_t bytes = 2 * kBytesPerValue;
  if (const auto* text = content.as_string()) bytes += text->size();
  if (const auto* list = content.as_list()) {
    for (const auto& element : *list) bytes += kBytesPerValue + element.as_string()->size();
  }
  return bytes;
}
std::size_t bytes_of(const model::PlainObject& changes) {
  std::size_t bytes = changes.nulls.size() * kBytesPerValue;
  for (const auto& [name, content] : changes.values) bytes += bytes_of(content);
  return bytes;
}

// Adds to `bytes` by how much the earlier changes grow.  Reads only the new members and those that they replace.
void merge(model::PlainObject& earlier, const model::PlainObject& later, std::size_t& bytes) {
  for (const auto& [name, content] : later.values) {
    if (const auto* replaced = earlier.values.find(name)) bytes -= bytes_of(*replaced);
    bytes += bytes_of(content);
    earlier.values.set(name, content);
    bytes -= std::erase(earlier.nulls, name) * kBytesPerValue;
  }
  for (const auto& name : later.nulls) {
    if (const auto* replaced = earlier.values.find(name)) bytes -= bytes_of(*replaced);
    earlier.values.erase(name);
    if (std::ranges::count(earlier.nulls, name) > 0) continue;
    earlier.nulls.push_back(name);
    bytes += kBytesPerValue;
  }
}

}  // namespace

Result<std::string> url_of_shop(std::string_view text, std::string_view domain) {
  auto canonical = TRY(model::canonical_url(text));
  if (!model::belongs_to(canonical.host, domain))
    return validation_error(fmt::format("{} is not a host of {}", canonical.host, domain));
  return std::move(canonical.url);
}

Result<std::optional<UrlEntry>> UrlBatchReader::next() {
  std::string name;
  if (!std::exchange(begun_, true)) {
    if (!reader_.open('{') || reader_.peek() != '"') return reader_.failed() ? reader_.error("") : no_batch();
    if (!TRY(reader_.next_member(name)) || name != "urls" || !reader_.open('[')) return no_batch();
  }
  if (!TRY(reader_.next_element())) {
    if (TRY(reader_.next_member(name))) return no_batch();
    TRY(reader_.end());
    return std::optional<UrlEntry>();
  }
  auto entry = TRY(read_entry());
  entry.index = read_++;
  return std::optional(std::move(entry));
}

Result<UrlEntry> UrlBatchReader::read_entry() {
  reader_.forget_values();
  problems_.clear();
  if (reader_.open('{')) return read_object();
  if (reader_.peek() != '"') {
    TRY(reader_.skip(kEntryLevel));
    return refused({}, "an entry is a URL, or an object with one");
  }
  const auto url = TRY(reader_.value({.name = "url"}, kEntryLevel));
  const auto* text = url.as_string();
  return text != nullptr ? entry(*text, {}) : refused({}, "a URL is too long");
}

Result<UrlEntry> UrlBatchReader::read_object() {
  std::optional<std::string> url;
  model::PlainObject changes;
  std::string problem, name;
  while (TRY(reader_.next_member(name))) {
    if (name != "url" && problem.empty()) {
      problem = TRY(read_member(name, changes));
    } else if (name == "url" && !url && reader_.peek() == '"') {
      auto content = TRY(reader_.value({.name = name}, kEntryLevel + 1));
      if (auto* text = content.as_string()) url = std::move(*text);
    } else {
      TRY(reader_.skip(kEntryLevel + 1));
    }
  }
  if (!url) return refused({}, "url is required, and a text");
  if (!problem.empty()) return refused(*url, std::move(problem));
  return entry(*url, std::move(changes));
}

Result<std::string> UrlBatchReader::read_member(const std::string& name, model::PlainObject& changes) {
  const auto attribute = std::ranges::find(known_, name, &model::Attribute::name);
  const bool known = attribute != known_.end();
  const bool repeated = changes.values.find(name) != nullptr || std::ranges::count(changes.nulls, name) > 0;
  if (!known || repeated) {
    TRY(reader_.skip(kEntryLevel + 1));
    return fmt::format("{} is {}", model::shown_name(name), known ? "given twice" : "not known here");
  }
  auto content = TRY(reader_.value({.name = name}, kEntryLevel + 1));
  if (problems_.empty() && content.type() == value::Type::Null) {
    changes.nulls.push_back(name);
    return std::string();
  }
  if (problems_.empty() && !is_plain(content)) return fmt::format("{} is not of its type", name);
  if (problems_.empty()) model::check_value(attribute->type, name, content, problems_);
  if (!problems_.empty()) return fmt::format("{} {}", problems_.front().attribute, problems_.front().problem);
  changes.values.set(name, std::move(content));
  return std::string();
}

UrlEntry UrlBatchReader::entry(std::string_view url, model::PlainObject changes) const {
  auto canonical = url_of_shop(url, domain_);
  if (!canonical) return refused(url, canonical.error().message);
  return {.index = 0,
          .news = {.url = std::move(*canonical), .changes = std::move(changes)},
          .refused_url = {},
          .problem = {}};
}

void RepeatedUrls::note(std::string_view url) {
  hashes_.push_back(std::hash<std::string_view>()(url));
  bytes_ = hashes_.capacity() * sizeof(std::uint64_t);
}

void RepeatedUrls::end_notes() {
  std::ranges::sort(hashes_);
  auto kept = hashes_.begin();
  for (auto at = hashes_.begin(); (at = std::adjacent_find(at, hashes_.end())) != hashes_.end();) {
    const auto hash = *at;
    at = std::upper_bound(at, hashes_.end(), hash);
    *kept++ = hash;
  }
  hashes_.erase(kept, hashes_.end());
  hashes_.shrink_to_fit();
  bytes_ = hashes_.capacity() * sizeof(std::uint64_t);
}

bool RepeatedUrls::hold(UrlNews& news) {
  if (!std::ranges::binary_search(hashes_, std::hash<std::string_view>()(news.url))) return false;
  const auto [place, is_new] = places_.emplace(news.url, held_.size());
  if (is_new) {
    bytes_ += kBytesPerHeldUrl + 2 * news.url.size() + bytes_of(news.changes);
    held_.push_back(std::move(news));
  } else {
    merge(held_[place->second].changes, news.changes, bytes_);
  }
  return true;
}

}  // namespace stator::systems::shops
