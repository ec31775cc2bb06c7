#include <fmt/format.h>

#include <algorithm>

#include "stator/model/loading.h"

namespace stator::model {
namespace {

constexpr std::string_view kRole = "role:";

std::vector<std::string> in_both(const std::vector<std::string>& a, bool a_lets_all, const std::vector<std::string>& b,
                                 bool b_lets_all) {
  if (a_lets_all) return b;
  if (b_lets_all) return a;
  std::vector<std::string> both;
  std::copy_if(a.begin(), a.end(), std::back_inserter(both),
               [&](const std::string& name) { return std::find(b.begin(), b.end(), name) != b.end(); });
  return both;
}

using Pairs = std::vector<std::pair<Text, Text>>;

Pairs load_pairs(const YamlNode* node, std::string_view what, Report& report) {
  Pairs pairs;
  if (node == nullptr) return pairs;
  for (const auto& item : read_members(*node, what, report)) {
    if (auto value = read_text(item, "an attribute", report)) pairs.emplace_back(item.key, std::move(*value));
  }
  return pairs;
}

// A grant is applied to entities that name it: those have the attributes by which the pointer is found and what it gives.
void check_use(const Grant& grant, const Pairs& key, const Pairs& gives, const Entity& entity, Loading& loading) {
  const auto names = [&](const Access& access) {
    return std::find(access.grants.begin(), access.grants.end(), grant.name) != access.grants.end();
  };
  if (!names(entity.create) && !names(entity.read) && !names(entity.update) && !names(entity.remove)) return;
  for (const auto& [pointers, asked] : key) {
    if (asked.text != "me") loading.need_attribute(entity, asked);
  }
  for (const auto& [given, pointers] : gives) loading.need_attribute(entity, given);
  const bool gives_owner = entity.owner && std::any_of(gives.begin(), gives.end(), [&](const auto& pair) {
                             return pair.first.text == *entity.owner;
                           });
  if (!gives_owner)
    loading.report.error(grant.position, "grant-lacks-owner",
                         fmt::format("{} lets callers in through {}, which does not give its owner{}", entity.name,
                                     grant.name, entity.owner ? fmt::format(", {}", *entity.owner) : std::string()));
}

void check_grant(const Grant& grant, const Text& pointer_name, const Pairs& key, const Pairs& gives, Loading& loading) {
  const Entity* pointer = loading.need_entity(pointer_name);
  if (pointer == nullptr) return;
  for (const auto& [pointers, asked] : key) loading.need_attribute(*pointer, pointers);
  for (const auto& [given, pointers] : gives) loading.need_attribute(*pointer, pointers);
  for (const auto& name : pointer->identity(loading.model.table)) {
    const bool is_given =
        std::any_of(key.begin(), key.end(), [&](const auto& pair) { return pair.first.text == name; });
    if (!is_given)
      loading.report.error(
          grant.position, "grant-lacks-key",
          fmt::format("the key of {} is made from {}, which the grant's key does not give", pointer->name, name));
  }
  for (const auto& entity : loading.model.entities) check_use(grant, key, gives, entity, loading);
}

}  // namespace

AccessList load_access(const YamlNode& node, Loading& loading) {
  AccessList list;
  Access& access = list.access;
  access.position = node.position;
  for (const auto& item : read_list(node)) {
    if (item.is_map()) {
      Words words(item, "access", loading.report);
      if (const YamlNode* condition = words.need("public"))
        list.anyone_when = read_expression(*condition, loading.report);
      words.done();
      if (list.anyone_when) access.anyone_when = list.anyone_when->value;
      continue;
    }
    const auto read = read_text(item, "access", loading.report);
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
      if (check_name(role, "the name of a role", loading.report, Dashes::Yes)) access.roles.push_back(role.text);
    } else {
      access.grants.push_back(text.text);
      loading.later([text, &loading] {
        if (loading.model.find_grant(text.text) != nullptr) return;
        auto known = names_of(loading.model.grants);
        known.insert(known.end(), {"public", "signed-in", "owner", "role:NAME"});
        loading.report.unknown(
            text.position, "unknown-grant",
            fmt::format("access is public, signed-in, owner, role:NAME or the name of a grant; there "
                        "is no grant {}",
                        text.text),
            text.text, known);
      });
    }
  }
  return list;
}

Access intersection(const Access& a, const Access& b) {
  const bool a_lets_all = a.anyone || a.signed_in;
  const bool b_lets_all = b.anyone || b.signed_in;
  Access both;
  both.position = a.position;
  both.anyone = a.anyone && b.anyone;
  if (both.anyone) return both;
  both.signed_in = a_lets_all && b_lets_all;
  if (both.signed_in) return both;
  // Two conditions are over the rows of two entities; only one that is the same for both is kept.
  if (a.anyone_when && (b.anyone || (b.anyone_when && b.anyone_when->text() == a.anyone_when->text()))) {
    both.anyone_when = a.anyone_when;
  } else if (b.anyone_when && a.anyone) {
    both.anyone_when = b.anyone_when;
  }
  both.owner = (a_lets_all || a.owner) && (b_lets_all || b.owner);
  both.roles = in_both(a.roles, a_lets_all, b.roles, b_lets_all);
  both.grants = in_both(a.grants, a_lets_all, b.grants, b_lets_all);
  return both;
}

void load_grant(const YamlNode& node, Loading& loading) {
  Report& report = loading.report;
  if (!check_name(node.key, "the name of a grant", report, Dashes::Yes)) return;
  if (node.key.text == "public" || node.key.text == "signed-in" || node.key.text == "owner") {
    report.error(node.key.position, "reserved-name",
                 fmt::format("a grant cannot be called {}: in `access` that means something else", node.key.text));
    return;
  }
  Grant grant;
  grant.name = node.key.text;
  grant.position = node.key.position;
  Words words(node, "a grant", report);
  grant.description = load_description(words, report);
  std::optional<Text> pointer;
  if (const YamlNode* entity = words.need("pointer")) pointer = read_text(*entity, "the pointer", report);
  const auto key = load_pairs(words.need("key"), "the key of a grant", report);
  const auto gives = load_pairs(words.need("gives"), "what a grant gives", report);
  words.done();
  for (const auto& [pointers, asked] : key) grant.key.emplace_back(pointers.text, asked.text);
  for (const auto& [given, pointers] : gives) grant.gives.emplace_back(given.text, pointers.text);
  if (pointer) {
    grant.pointer = pointer->text;
    loading.later(
        [grant, pointer = *pointer, key, gives, &loading] { check_grant(grant, pointer, key, gives, loading); });
  }
  loading.model.grants.push_back(std::move(grant));
}

}  // namespace stator::model
