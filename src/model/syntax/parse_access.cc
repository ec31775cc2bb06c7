#include <fmt/format.h>

#include <algorithm>

#include "stator/model/syntax/parse.h"

namespace stator::model {
namespace {

constexpr std::string_view kRole = "role:";

NamePairs parse_pairs(const YamlNode* node, std::string_view what, Report& report) {
  NamePairs pairs;
  if (node == nullptr) return pairs;
  for (const auto& item : read_members(*node, what, report)) {
    if (auto value = read_text(item, "an attribute", report)) pairs.emplace_back(item.key, std::move(*value));
  }
  return pairs;
}

}  // namespace

AccessSyntax parse_access(const YamlNode& node, Report& report) {
  AccessSyntax list;
  Access& access = list.access;
  access.position = node.position;
  for (const auto& item : read_list(node)) {
    if (item.is_map()) {
      Words words(item, "access", report);
      if (const YamlNode* condition = words.need("public")) list.anyone_when = read_expression(*condition, report);
      words.done();
      if (list.anyone_when) access.anyone_when = list.anyone_when->value;
      continue;
    }
    const auto read = read_text(item, "access", report);
    if (!read) continue;
    const Text& text = *read;
    if (text.text == "public") {
      access.anyone = true;
    } else if (text.text == "signed-in") {
      access.signed_in = true;
    } else if (text.text == "owner") {
      access.owner = true;
    } else if (text.text.starts_with(kRole)) {
      const Text role{.text = text.text.substr(kRole.size()), .position = text.at(kRole.size()), .lead = 0};
      if (check_name(role, "the name of a role", report, Dashes::Yes)) access.roles.push_back(role.text);
    } else {
      list.grants.push_back(text);
    }
  }
  return list;
}

void parse_grant(const YamlNode& node, Syntax& syntax, Report& report) {
  if (!check_name(node.key, "the name of a grant", report, Dashes::Yes)) return;
  if (node.key.text == "public" || node.key.text == "signed-in" || node.key.text == "owner") {
    syntax.reserved.push_back({.name = node.key, .what = "a grant"});
    return;
  }
  GrantSyntax written;
  Grant& grant = written.grant;
  grant.name = node.key.text;
  grant.position = node.key.position;
  Words words(node, "a grant", report);
  grant.description = parse_description(words, report);
  if (const YamlNode* entity = words.need("pointer")) written.pointer = read_text(*entity, "the pointer", report);
  written.key = parse_pairs(words.need("key"), "the key of a grant", report);
  written.gives = parse_pairs(words.need("gives"), "a grant's `gives`", report);
  words.done();
  for (const auto& [pointers, asked] : written.key) grant.key.emplace_back(pointers.text, asked.text);
  for (const auto& [given, pointers] : written.gives) grant.gives.emplace_back(given.text, pointers.text);
  syntax.grants.push_back(std::move(written));
}

}  // namespace stator::model
