#include <fmt/format.h>

#include <algorithm>

#include "stator/model/resolve/resolver.h"

namespace stator::model {
namespace {

template <typename T>
std::vector<T> in_both(const std::vector<T>& a, bool a_lets_all, const std::vector<T>& b, bool b_lets_all) {
  if (a_lets_all) return b;
  if (b_lets_all) return a;
  std::vector<T> both;
  std::copy_if(a.begin(), a.end(), std::back_inserter(both),
               [&](const T& one) { return std::find(b.begin(), b.end(), one) != b.end(); });
  return both;
}

// An entity that names a grant must have the attributes by which the pointer is found and those that the grant gives.
void resolve_use(const GrantSyntax& syntax, const Entity& entity, Resolver& resolver) {
  for (const auto& [pointers, asked] : syntax.key) {
    if (asked.text != "me") resolver.need_attribute(entity, asked);
  }
  for (const auto& [given, pointers] : syntax.gives) resolver.need_attribute(entity, given);
}

}  // namespace

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

void resolve_grant(const GrantSyntax& syntax, Grant& grant, Resolver& resolver) {
  if (!syntax.pointer) return;
  grant.pointer = resolver.need_entity(*syntax.pointer);
  if (grant.pointer == nullptr) return;
  for (const auto& [pointers, asked] : syntax.key) resolver.need_attribute(*grant.pointer, pointers);
  for (const auto& [given, pointers] : syntax.gives) resolver.need_attribute(*grant.pointer, pointers);
  for (const auto& entity : resolver.model.entities) {
    if (entity.lets_in_by(grant)) resolve_use(syntax, entity, resolver);
  }
}

std::vector<const Grant*> Resolver::need_grants(const std::vector<Text>& names) {
  std::vector<const Grant*> grants;
  for (const auto& name : names) {
    if (const Grant* grant = model.find_grant(name.text)) {
      grants.push_back(grant);
      continue;
    }
    auto known = names_of(model.grants);
    known.insert(known.end(), {"public", "signed-in", "owner", "role:NAME"});
    report.unknown(
        name.position, "unknown-grant",
        fmt::format("access is public, signed-in, owner, role:NAME or the name of a grant; there is no grant {}",
                    name.text),
        name.text, known);
  }
  return grants;
}

void resolve_granted(const EntitySyntax& syntax, Entity& entity, Resolver& resolver) {
  for (const auto& granted : syntax.granted) {
    const auto grants = resolver.need_grants(granted.grants);
    for (const auto member : granted.to) (entity.*member).grants = grants;
  }
}

}  // namespace stator::model
