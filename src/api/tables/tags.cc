// TagResource, UntagResource and ListTagsOfResource.  A table's tags are part of its record.
#include "stator/api/tables/tags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "stator/api/functions.h"
#include "stator/api/tables/table_name.h"

namespace stator::api {
namespace {

constexpr std::size_t kMaxTags = 50;
constexpr std::size_t kMaxKeyCharacters = 128;
constexpr std::size_t kMaxValueCharacters = 256;

// Blocks of Unicode that hold neither letters, numbers nor spaces: punctuation, symbols, private use, emoji.
struct Range {
  std::uint32_t first, last;
};
constexpr Range kSymbols[] = {{0x7F, 0x9F},     {0xA1, 0xA9},     {0xAB, 0xB1},       {0x2010, 0x2027},
                              {0x202A, 0x202E}, {0x2030, 0x205E}, {0x20A0, 0x20CF},   {0x2190, 0x245F},
                              {0x2500, 0x2775}, {0x2794, 0x2BFF}, {0x3001, 0x3004},   {0xE000, 0xF8FF},
                              {0xFE00, 0xFE6F}, {0xFFF9, 0xFFFF}, {0x1F000, 0x1F0FF}, {0x1F10D, 0x1FBEF}};

bool may_be_in_tag(std::uint32_t code_point) {
  if (code_point < 0x7F) {
    const char c = static_cast<char>(code_point);
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view(" +-=._:/@").find(c) != std::string_view::npos;
  }
  return std::none_of(std::begin(kSymbols), std::end(kSymbols),
                      [&](const Range& range) { return code_point >= range.first && code_point <= range.last; });
}

// The next character of valid UTF-8.
std::uint32_t take_code_point(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  std::uint32_t code_point = size == 1 ? lead : lead & (0x7Fu >> size);
  for (std::size_t i = 1; i < size; ++i) code_point = code_point << 6 | (static_cast<unsigned char>(text[i]) & 0x3Fu);
  text.remove_prefix(size);
  return code_point;
}

bool is_tag_text(std::string_view text, std::size_t max_characters) {
  std::size_t characters = 0;
  while (!text.empty()) {
    if (++characters > max_characters || !may_be_in_tag(take_code_point(text))) return false;
  }
  return true;
}

Result<std::string> tag_key(const std::optional<std::string>& key) {
  if (!key || key->empty() || !is_tag_text(*key, kMaxKeyCharacters)) {
    return validation_error(fmt::format("The Tag Key provided is invalid, Key: {}", key.value_or("null")));
  }
  const auto is = [&](std::size_t i, char lower) { return ((*key)[i] | 0x20) == lower; };
  if (key->size() >= 4 && is(0, 'a') && is(1, 'w') && is(2, 's') && (*key)[3] == ':') {
    return validation_error(fmt::format("Tag Key cannot be prefixed with aws:, Key: {}", *key));
  }
  return *key;
}

Result<std::string> tag_value(const std::optional<std::string>& value) {
  if (!value || !is_tag_text(*value, kMaxValueCharacters)) {
    return validation_error(fmt::format("The Tag Value provided is invalid, Value: {}", value.value_or("null")));
  }
  return *value;
}

Error too_many_tags() {
  return validation_error("Number of Tags exceed the current limit for the provided ResourceArn");
}

Error resource_not_found(std::string_view arn) {
  return {ErrorCode::ResourceNotFound, fmt::format("Requested resource not found: ResourceArn: {} not found", arn)};
}

Error missing(std::string_view member) {
  return validation_error(fmt::format(
      "1 validation error detected: Value null at '{}' failed to satisfy constraint: Member must not be null", member));
}

// The name of the table that a ResourceArn means; whether there is one is found out last.
Result<std::string> tagged_table(const std::optional<std::string>& arn) {
  if (!arn) return validation_error("Invalid TableArn");
  return std::string(TRY(table_of_resource_arn(*arn)));
}

Result<Tags> read_tags_to_set(const TagResourceRequest& request) {
  if (!request.tags) return missing("tags");
  auto tags = TRY(read_tags(*request.tags));
  if (tags.empty()) return validation_error("Atleast one Tag needs to be provided as Input.");
  return tags;
}

Result<std::set<std::string>> read_keys_to_remove(const UntagResourceRequest& request) {
  if (!request.keys) return missing("tagKeys");
  std::set<std::string> keys;
  for (const auto& key : *request.keys) keys.insert(TRY(tag_key(key)));
  if (keys.empty()) return validation_error("Atleast one Tag Key needs to be provided as Input.");
  return keys;
}

Result<engine::Table> with_tags(engine::Table table, const Tags& tags) {
  for (const auto& tag : tags) {
    const auto same_key = [&](const auto& existing) { return existing.first == tag.first; };
    const auto found = std::find_if(table.tags.begin(), table.tags.end(), same_key);
    if (found == table.tags.end()) {
      table.tags.push_back(tag);
    } else {
      found->second = tag.second;
    }
  }
  if (table.tags.size() > kMaxTags) return too_many_tags();
  return table;
}

using TableChange = std::function<Result<engine::Table>(engine::Table)>;

// Changes the table's record.
void change_tags(CallContext call, std::string arn, std::string table, TableChange change,
                 Done<ChangedTagsAnswer> done) {
  call.about_table(table);
  auto& engine = call.engine();
  engine.update_table(
      std::move(table), std::move(change),
      [call = std::move(call), arn = std::move(arn), done = std::move(done)](Result<engine::TablePtr> changed) mutable {
        if (changed) return done(call, ChangedTagsAnswer());
        const bool gone = changed.error().code == ErrorCode::ResourceNotFound;
        done(call, to_fault(gone ? resource_not_found(arn) : changed.error()));
      });
}

}  // namespace

Result<Tags> read_tags(const std::vector<Tag>& asked) {
  Tags tags;
  std::set<std::string_view> seen;
  for (const auto& tag : asked) {
    auto key = TRY(tag_key(tag.key));
    tags.emplace_back(std::move(key), TRY(tag_value(tag.value)));
    if (!seen.insert(*tag.key).second) {
      return validation_error(
          fmt::format("Duplicate Tag Keys provided as input: Duplicate Tag Key found {}", tags.back().first));
    }
  }
  if (tags.size() > kMaxTags) return too_many_tags();
  return tags;
}

void run(CallContext call, TagResourceRequest request, Done<ChangedTagsAnswer> done) {
  auto table = tagged_table(request.arn);
  if (!table) return done(call, to_fault(table.error()));
  auto tags = read_tags_to_set(request);
  if (!tags) return done(call, to_fault(tags.error()));
  change_tags(
      std::move(call), std::move(*request.arn), std::move(*table),
      [tags = std::move(*tags)](engine::Table current) { return with_tags(std::move(current), tags); },
      std::move(done));
}

void run(CallContext call, UntagResourceRequest request, Done<ChangedTagsAnswer> done) {
  auto table = tagged_table(request.arn);
  if (!table) return done(call, to_fault(table.error()));
  auto keys = read_keys_to_remove(request);
  if (!keys) return done(call, to_fault(keys.error()));
  change_tags(
      std::move(call), std::move(*request.arn), std::move(*table),
      [keys = std::move(*keys)](engine::Table current) -> Result<engine::Table> {
        std::erase_if(current.tags, [&](const auto& tag) { return keys.contains(tag.first); });
        return current;
      },
      std::move(done));
}

// The service gives all fifty in one answer, so NextToken never leads anywhere; it ignores one it is given.
Result<ListTagsAnswer> run(CallContext& call, const ListTagsOfResourceRequest& request) {
  const auto name = TRY(tagged_table(request.arn));
  const auto table = call.engine().catalog().find(name);
  if (table == nullptr) return resource_not_found(*request.arn);
  call.about_table(name);
  ListTagsAnswer answer;
  for (const auto& [key, text] : table->tags) answer.tags.push_back({.key = key, .value = text});
  return answer;
}

}  // namespace stator::api
