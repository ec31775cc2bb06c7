// TagResource, UntagResource and ListTagsOfResource.  A table's tags are part of its record.
#include "stator/api/tags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "stator/api/table_name.h"

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

Result<std::string> tag_key(std::optional<std::string_view> key) {
  if (!key || key->empty() || !is_tag_text(*key, kMaxKeyCharacters)) {
    return validation_error(fmt::format("The Tag Key provided is invalid, Key: {}", key.value_or("null")));
  }
  const auto is = [&](std::size_t i, char lower) { return ((*key)[i] | 0x20) == lower; };
  if (key->size() >= 4 && is(0, 'a') && is(1, 'w') && is(2, 's') && (*key)[3] == ':') {
    return validation_error(fmt::format("Tag Key cannot be prefixed with aws:, Key: {}", *key));
  }
  return std::string(*key);
}

Result<std::string> tag_value(std::optional<std::string_view> value) {
  if (!value || !is_tag_text(*value, kMaxValueCharacters)) {
    return validation_error(fmt::format("The Tag Value provided is invalid, Value: {}", value.value_or("null")));
  }
  return std::string(*value);
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

// The name of the table that the request's ResourceArn means; whether there is one is found out last.
Result<std::string> tagged_table(const OperationCall& call) {
  const auto arn = call.request().string("ResourceArn");
  if (!arn) return validation_error("Invalid TableArn");
  return std::string(TRY(table_of_resource_arn(*arn)));
}

Result<Tags> read_tags_to_set(const Request& request) {
  if (!request.has("Tags")) return missing("tags");
  auto tags = TRY(read_tags(request));
  if (tags.empty()) return validation_error("Atleast one Tag needs to be provided as Input.");
  return tags;
}

Result<std::set<std::string>> read_keys_to_remove(const Request& request) {
  if (!request.has("TagKeys")) return missing("tagKeys");
  std::set<std::string> keys;
  for (const auto& json : request.elements("TagKeys")) {
    std::string_view text;
    keys.insert(TRY(tag_key(json.get(text) ? std::optional(text) : std::nullopt)));
  }
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

// Changes the table's record and answers with an empty body, as the service does.
void change_tags(OperationCall call, std::string table, std::function<Result<engine::Table>(engine::Table)> change) {
  call.about_table(table);
  auto& engine = call.engine();
  auto arn = std::string(call.request().string("ResourceArn").value_or(""));
  engine.update_table(std::move(table), std::move(change),
                      [call = std::move(call), arn = std::move(arn)](Result<engine::TablePtr> changed) mutable {
                        if (changed) return call.succeed("");
                        const bool gone = changed.error().code == ErrorCode::ResourceNotFound;
                        call.fail(gone ? resource_not_found(arn) : changed.error());
                      });
}

Result<std::string> run_list(OperationCall& call) {
  const auto name = TRY(tagged_table(call));
  const auto table = call.engine().catalog().find(name);
  if (table == nullptr) return resource_not_found(*call.request().string("ResourceArn"));
  call.about_table(name);
  std::string body;
  value::JsonWriter json(body);
  json.begin_object().key("Tags").begin_array();
  for (const auto& [key, text] : table->tags) {
    json.begin_object().key("Key").string(key).key("Value").string(text).end_object();
  }
  json.end_array().end_object();
  return body;
}

}  // namespace

Result<Tags> read_tags(const Request& request) {
  Tags tags;
  std::set<std::string_view> seen;
  for (const auto& tag : request.objects("Tags")) {
    auto key = TRY(tag_key(tag.string("Key")));
    tags.emplace_back(std::move(key), TRY(tag_value(tag.string("Value"))));
    if (!seen.insert(*tag.string("Key")).second) {
      return validation_error(
          fmt::format("Duplicate Tag Keys provided as input: Duplicate Tag Key found {}", tags.back().first));
    }
  }
  if (tags.size() > kMaxTags) return too_many_tags();
  return tags;
}

void tag_resource(OperationCall call) {
  auto table = tagged_table(call);
  if (!table) return call.fail(table.error());
  auto tags = read_tags_to_set(call.request());
  if (!tags) return call.fail(tags.error());
  change_tags(std::move(call), std::move(*table),
              [tags = std::move(*tags)](engine::Table current) { return with_tags(std::move(current), tags); });
}

void untag_resource(OperationCall call) {
  auto table = tagged_table(call);
  if (!table) return call.fail(table.error());
  auto keys = read_keys_to_remove(call.request());
  if (!keys) return call.fail(keys.error());
  change_tags(std::move(call), std::move(*table),
              [keys = std::move(*keys)](engine::Table current) -> Result<engine::Table> {
                std::erase_if(current.tags, [&](const auto& tag) { return keys.contains(tag.first); });
                return current;
              });
}

// The service gives all fifty in one answer, so NextToken never leads anywhere; it ignores one it is given.
void list_tags_of_resource(OperationCall call) { immediate<run_list>(std::move(call)); }

}  // namespace stator::api
