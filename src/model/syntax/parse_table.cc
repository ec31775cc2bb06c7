#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "stator/model/syntax/parse.h"

namespace stator::model {
namespace {

constexpr std::int64_t kMaxCapacity = 1'000'000'000;

// DynamoDB's rule for the names of tables and indexes.
void check_dynamodb_name(const Text& name, std::string_view what, Report& report) {
  const bool fits =
      name.text.size() >= 3 && name.text.size() <= 255 && std::all_of(name.text.begin(), name.text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
               c == '.';
      });
  if (!fits)
    report.error(name.position, "bad-name",
                 fmt::format("{} has 3 to 255 letters, digits, dashes, dots and underscores: \"{}\" cannot be one",
                             what, name.text));
}

// "PK", or "PK:N".
std::optional<KeyDesign> parse_key_attribute(const YamlNode& node, Report& report) {
  const auto text = read_text(node, "a key attribute", report);
  if (!text) return std::nullopt;
  KeyDesign key{.name = text->text, .type = value::Type::S, .position = text->position};
  if (const auto colon = text->text.find(':'); colon != std::string::npos) {
    key.name = text->text.substr(0, colon);
    const std::string_view type = std::string_view(text->text).substr(colon + 1);
    if (type == "N") {
      key.type = value::Type::N;
    } else if (type == "B") {
      key.type = value::Type::B;
    } else if (type != "S") {
      report.error(text->at(colon + 1), "unknown-value",
                   fmt::format("a key attribute has type S, N or B, not {}", type));
    }
  }
  if (!check_name({.text = key.name, .position = text->position, .lead = 0}, "the name of a key attribute", report))
    return std::nullopt;
  return key;
}

std::vector<KeyDesign> parse_key_part(const YamlNode& node, Report& report) {
  std::vector<KeyDesign> attributes;
  for (const auto& item : read_list(node)) {
    if (auto attribute = parse_key_attribute(item, report)) attributes.push_back(std::move(*attribute));
  }
  return attributes;
}

void parse_table_key(const YamlNode& node, TableDesign& table, Report& report) {
  const auto parts = read_list(node);
  if (parts.empty() || parts.size() > 2) {
    report.error(node.position, "wrong-type", "the key of a table is [PARTITION] or [PARTITION, SORT]");
    return;
  }
  if (auto partition = parse_key_attribute(parts[0], report)) table.partition = std::move(*partition);
  if (parts.size() == 2) table.sort = parse_key_attribute(parts[1], report);
}

void parse_projection(const YamlNode& node, IndexDesign& index, std::vector<Text>& included, Report& report) {
  if (node.is_scalar()) {
    constexpr std::array kWords{Choice<ProjectionKind>("all", ProjectionKind::All),
                                Choice<ProjectionKind>("keys", ProjectionKind::KeysOnly)};
    if (const auto projection = read_choice(node, "a projection, unless it is a list of attributes,", kWords, report))
      index.projection = *projection;
    return;
  }
  index.projection = ProjectionKind::Include;
  for (auto& name : read_texts(node, "an included attribute", report)) {
    index.included.push_back(name.text);
    included.push_back(std::move(name));
  }
}

void parse_index(const YamlNode& node, TableSyntax& syntax, Report& report) {
  TableDesign& table = syntax.design;
  check_dynamodb_name(node.key, "the name of an index", report);
  IndexSyntax written;
  IndexDesign index;
  index.name = node.key.text;
  index.position = node.key.position;
  Words words(node, "an index", report);
  index.description = parse_description(words, report);
  const YamlNode* key = words.find("key");
  const YamlNode* local = words.find("local");
  if (key != nullptr && local != nullptr) {
    written.local = local->key.position;
  } else if (key != nullptr) {
    const auto parts = read_list(*key);
    if (parts.empty() || parts.size() > 2) {
      report.error(key->position, "wrong-type", "the key of an index is [PARTITION] or [PARTITION, SORT]");
    } else {
      written.partition = parts[0].position;
      index.partition = parse_key_part(parts[0], report);
      if (parts.size() == 2) {
        written.sort = parts[1].position;
        index.sort = parse_key_part(parts[1], report);
      }
    }
  } else if (local != nullptr) {
    index.local = true;
    index.partition = {table.partition};
    if (auto sort = parse_key_attribute(*local, report)) index.sort = {std::move(*sort)};
  } else {
    written.has_key = !words.is_map();
  }
  if (const YamlNode* projection = words.find("projection"))
    parse_projection(*projection, index, syntax.included, report);
  words.done();
  syntax.indexes.push_back(written);
  table.indexes.push_back(std::move(index));
}

void parse_billing(const YamlNode& node, TableDesign& table, Report& report) {
  if (node.is_scalar()) {
    constexpr std::array kWords{Choice<bool>("on_demand", true)};
    (void)read_choice(node, "billing, unless it is { read: 5, write: 5 },", kWords, report);
    return;
  }
  Words words(node, "billing", report);
  Throughput throughput;
  for (const auto& [word, member] : {std::pair("read", &Throughput::read), std::pair("write", &Throughput::write)}) {
    if (const YamlNode* units = words.need(word))
      throughput.*member = read_integer(*units, "a capacity", {.min = 1, .max = kMaxCapacity}, report).value_or(1);
  }
  words.done();
  table.provisioned = throughput;
}

}  // namespace

void for_each_key(const TableDesign& table, const std::function<void(const KeyDesign&)>& visit) {
  std::set<std::string_view> seen;
  const auto show = [&](const KeyDesign& key) {
    if (seen.insert(key.name).second) visit(key);
  };
  show(table.partition);
  if (table.sort) show(*table.sort);
  for (const auto& index : table.indexes) {
    for (const auto& key : index.partition) show(key);
    for (const auto& key : index.sort) show(key);
  }
}

void parse_table(const YamlNode& node, TableSyntax& syntax, Report& report) {
  TableDesign& table = syntax.design;
  table.position = node.position;
  Words words(node, "a table", report);
  table.description = parse_description(words, report);
  if (const YamlNode* name = words.need("name")) {
    if (const auto text = read_text(*name, "the name of a table", report)) {
      check_dynamodb_name(*text, "the name of a table", report);
      table.name = text->text;
    }
  }
  if (const YamlNode* key = words.need("key")) parse_table_key(*key, table, report);
  if (const YamlNode* indexes = words.find("indexes")) {
    for (const auto& index : read_members(*indexes, "`indexes`", report)) parse_index(index, syntax, report);
  }
  const auto attribute = [&](std::string_view word, auto& member) {
    const YamlNode* value = words.find(word);
    if (value == nullptr) return;
    const auto text = read_text(*value, "the name of an attribute", report);
    if (text && check_name(*text, "the name of an attribute", report)) member = text->text;
  };
  attribute("type_attribute", table.type_attribute);
  attribute("version_attribute", table.version_attribute);
  attribute("ttl", table.ttl_attribute);
  if (const YamlNode* stream = words.find("stream")) {
    constexpr std::array kViews{
        Choice<StreamView>("new_and_old_images", StreamView::NewAndOldImages),
        Choice<StreamView>("new_image", StreamView::NewImage),
        Choice<StreamView>("old_image", StreamView::OldImage),
        Choice<StreamView>("keys_only", StreamView::KeysOnly),
        Choice<StreamView>("none", StreamView::None),
    };
    if (const auto view = read_choice(*stream, "a stream", kViews, report)) table.stream = *view;
  }
  if (const YamlNode* billing = words.find("billing")) parse_billing(*billing, table, report);
  words.done();
}

}  // namespace stator::model
