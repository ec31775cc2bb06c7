#include "stator/model/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "stator/model/loading.h"

namespace stator::model {
namespace {

constexpr std::streamsize kReadAtMost = 1'048'577;  // one more than a model may have, so that too long is seen

void load_name(const YamlNode& node, Loading& loading) {
  const auto name = read_text(node, "the name of a model", loading.report);
  if (!name) return;
  const auto is_fine = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  if (name->text.empty() || name->text.size() > 63 || name->text.front() == '-' || name->text.back() == '-' ||
      !std::all_of(name->text.begin(), name->text.end(), is_fine))
    loading.report.error(
        name->position, "bad-name",
        fmt::format("the name of a model has lower-case letters, digits and dashes: \"{}\" cannot be one", name->text));
  loading.model.name = name->text;
}

void load_acceptance(const YamlNode& node, Loading& loading) {
  Report& report = loading.report;
  Words words(node, "what is accepted", report);
  Acceptance acceptance;
  acceptance.position = node.position;
  const auto take = [&](const YamlNode* value, std::string_view what, std::string& member) {
    if (value == nullptr) return;
    if (const auto text = read_text(*value, what, report)) member = text->text;
  };
  take(words.need("finding"), "a finding", acceptance.finding);
  take(words.find("on"), "what the finding is on", acceptance.on);
  take(words.need("because"), "the reason", acceptance.because);
  words.done();
  loading.model.accepted.push_back(std::move(acceptance));
}

// An index whose key no entity of this model has is empty, unless another model that shares the table fills it.
void warn_of_unfilled_keys(Loading& loading) {
  const auto is_filled = [&](const KeyDesign& key) {
    const auto& entities = loading.model.entities;
    if (key.name == loading.model.table.type_attribute) return true;
    return std::any_of(entities.begin(), entities.end(), [&](const Entity& entity) {
      return entity.find_attribute(key.name) != nullptr ||
             std::any_of(entity.records.begin(), entity.records.end(),
                         [&](const Record& record) { return record.find_key(key.name) != nullptr; });
    });
  };
  for (const auto& index : loading.model.table.indexes) {
    for (const auto* part : {&index.partition, &index.sort}) {
      for (const auto& key : *part) {
        if (!is_filled(key))
          loading.report.warning(key.position, "unfilled-key",
                                 fmt::format("no entity has {}, so nothing is ever in {}", key.name, index.name),
                                 index.name);
      }
    }
  }
}

// Rows are told apart by their type attribute.
void check_types(Loading& loading) {
  std::map<std::string_view, std::string> taken;
  for (const auto& entity : loading.model.entities) {
    for (const auto& record : entity.records) {
      const auto [earlier, first] = taken.emplace(record.type, fmt::format("{}.{}", entity.name, record.name));
      if (!first)
        loading.report.error(record.position, "same-type",
                             fmt::format("rows of {} and of {}.{} would both have {} = {}", earlier->second,
                                         entity.name, record.name, loading.model.table.type_attribute, record.type));
    }
  }
}

void load_root(const YamlNode& root, Loading& loading) {
  Report& report = loading.report;
  Words words(root, "a model", report);
  if (const YamlNode* name = words.need("model")) load_name(*name, loading);
  loading.model.description = load_description(words, report);
  if (const YamlNode* table = words.need("table")) load_table(*table, loading);
  const auto each = [&](const YamlNode* members, std::string_view what, void (*load)(const YamlNode&, Loading&)) {
    if (members == nullptr) return;
    for (const auto& member : read_members(*members, what, report)) load(member, loading);
  };
  each(words.find("grants"), "`grants`", load_grant);
  each(words.need("entities"), "`entities`", load_entity);
  each(words.find("patterns"), "`patterns`", load_pattern);
  each(words.find("actions"), "`actions`", load_action);
  if (const YamlNode* accepted = words.find("accept")) {
    for (const auto& item : read_list(*accepted)) load_acceptance(item, loading);
  }
  words.done();
  loading.run_rounds();
  check_cycles(loading);
  complete_bounds(loading.model);
  check_types(loading);
  check_routes(loading);
  check_next(loading);
  warn_of_unfilled_keys(loading);
}

Loaded failed(std::string file, std::string message) {
  Report report(std::move(file));
  report.error(Position{}, "unreadable", std::move(message));
  return {.model = std::nullopt, .diagnostics = std::move(report).take()};
}

}  // namespace

std::string load_description(Words& words, Report& report) {
  const YamlNode* node = words.find("description");
  const auto text = node == nullptr ? std::nullopt : read_text(*node, "a description", report);
  return text ? text->text : std::string();
}

Loaded load_model(std::string_view yaml, std::string file, WordListener listener) {
  Loading loading(std::move(file), std::move(listener));
  if (const auto root = read_yaml(yaml, loading.report)) load_root(*root, loading);
  Loaded loaded;
  if (!loading.report.failed()) loaded.model = std::move(loading.model);
  loaded.diagnostics = std::move(loading.report).take();
  return loaded;
}

Loaded load_model_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return failed(path, "this is a folder, not a model");
  std::ifstream in(path, std::ios::binary);
  if (!in) return failed(path, "the file cannot be read");
  std::string text(static_cast<std::size_t>(kReadAtMost), '\0');
  in.read(text.data(), kReadAtMost);
  text.resize(static_cast<std::size_t>(in.gcount()));
  return load_model(text, path);
}

}  // namespace stator::model
