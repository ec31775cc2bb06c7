#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "stator/base/article.h"
#include "stator/model/check/proof/keys.h"
#include "stator/model/check/rules.h"
#include "stator/model/rows.h"

namespace stator::model {
namespace {

std::string relation_name(const Entity& child, const Parent& relation) {
  return fmt::format("{}.{}", child.name, relation.name);
}

bool is_counted(const Parent& relation) {
  return std::any_of(relation.counters.begin(), relation.counters.end(),
                     [](const Attribute* attribute) { return attribute->count.has_value(); });
}

// Whether something becomes of a child when its parent has gone.
bool follows_parent(const Parent& relation) { return relation.on_delete == OnDelete::Clear || relation.cascades; }

void find_relations(const Entity& child, Report& findings) {
  for (const auto& relation : child.parents) {
    const auto* parent = relation.to;
    const auto about = [&](std::string_view code) {
      return Report::About{.code = code, .subject = relation_name(child, relation), .position = relation.position};
    };
    const char* need = relation.cascades                       ? "delete"
                       : relation.on_delete == OnDelete::Clear ? "clear"
                       : !relation.copies.empty()              ? "keep the copies of"
                                                               : nullptr;
    const char* count = is_counted(relation)         ? "count"
                        : !relation.counters.empty() ? "sum up"
                        : !relation.numbers.empty()  ? "find the last number of"
                                                     : nullptr;
    if ((need == nullptr && count == nullptr) || !relation.found_by.empty()) continue;
    const auto missing =
        fmt::format("no partition key of the table, or of an index that always has them, can be computed from the {}",
                    parent->name);
    const auto fix = fmt::format(
        "give {0} an index whose partition key is made of the attributes that name the {1}, without shards or a "
        "`when`, "
        "and whose sort key is made of attributes that every {0} has: those that name it, and required or generated "
        "ones",
        child.name, parent->name);
    if (need != nullptr || child.main().expires) {
      findings.error(
          about("children-not-found"),
          fmt::format("to {} the {} of {}{}, a query must find them, but {}", need != nullptr ? need : count,
                      child.name, with_article(parent->name), need != nullptr ? "" : " when one has expired", missing),
          fix);
    } else {
      // The transaction that writes a child writes its parent's counter, so what is lost is only the proof, and the
      // mend, unless children are there first.
      findings.warning(
          about("children-not-found"),
          fmt::format("it is impossible to {} the {} of {} again when the number is wrong{}: {}", count, child.name,
                      with_article(parent->name),
                      relation.can_precede ? ", as it can be when children exist before their parent" : "", missing),
          fix);
    }
  }
}

// Where a parent need not exist, only a copy tells that a child has had one (see has_had_parent() in the runtime).
void find_silent_copies(const Entity& child, Report& findings) {
  for (const auto& relation : child.parents) {
    const auto* parent = relation.to;
    if (relation.must_exist || !follows_parent(relation)) continue;
    std::vector<std::string> sources;
    bool tells = false;
    for (const auto* copy : relation.copies) {
      sources.push_back(copy->copy_of->attribute);
      tells = tells || copy->copy_of->from->always_there;
    }
    if (tells || sources.empty()) continue;
    findings.warning(
        {.code = "copy-tells-nothing", .subject = relation_name(child, relation), .position = relation.position},
        fmt::format("a {0} may lack {1}: a {2} that has no other copy of it then looks older than its {0}, and "
                    "stays{3} when the {0} is deleted",
                    parent->name, fmt::join(sources, ", "), child.name,
                    relation.on_delete == OnDelete::Clear ? " as it is" : ""),
        fmt::format("copy something that every {0} has, or make {1} required", parent->name, sources.front()));
  }
}

// A deletion is answered before its cascade.  A rule of a child can no longer refuse it then.
void find_overruled(const Entity& child, Report& findings) {
  for (const auto& relation : child.parents) {
    const auto* parent = relation.to;
    if (!relation.overruled) continue;
    std::vector<std::string> causes;
    for (const auto& further : parent->parents) {
      if (further.cascades) causes.push_back(further.entity);
    }
    findings.warning(
        {.code = "restrict-overruled", .subject = relation_name(child, relation), .position = relation.position},
        fmt::format("a {0} is deleted {1}, also while it has {2} children, and these are deleted with it: `restrict` "
                    "only refuses requests to delete it",
                    parent->name,
                    causes.empty() ? "when it expires" : fmt::format("with its {}", fmt::join(causes, ", ")),
                    child.name),
        causes.empty() ? fmt::format("write `on_delete: cascade`, or let no {} expire", parent->name)
                       : fmt::format("write `on_delete: cascade`, or give {} a relation to {} with `on_delete: "
                                     "restrict` (or cascade), too",
                                     child.name, fmt::join(causes, " and ")));
  }
}

void find_purge(const Model& model, const Entity& entity, Report& findings) {
  if (model.table.ttl_attribute || !entity.soft_delete || !entity.soft_delete->keep) return;
  findings.error(
      {.code = "no-ttl", .subject = entity.name, .position = entity.soft_delete->position},
      fmt::format("a deleted {} is to be purged after a while, but the table has no TTL attribute", entity.name),
      "name the attribute under table: `ttl: ExpiresAt`");
}

void find_stream(const Model& model, Report& findings) {
  if (model.table.stream == StreamView::NewAndOldImages) return;
  std::vector<std::string> needs;
  std::vector<std::string> counted;
  for (const auto& entity : model.entities) {
    for (const auto& relation : entity.parents) {
      if (follows_parent(relation) || !relation.copies.empty()) {
        needs.push_back(relation_name(entity, relation));
      } else if (relation.can_precede && !relation.counters.empty()) {
        counted.push_back(relation_name(entity, relation));
      }
    }
  }
  const Report::About about{.code = "stream-view", .subject = model.table.name, .position = model.table.position};
  const auto* fix = "write `stream: new_and_old_images`";
  if (!needs.empty()) {
    findings.error(about,
                   fmt::format("changes are propagated through {}, which needs the row before and after a change, but "
                               "the table's stream does not have both",
                               fmt::join(needs, ", ")),
                   fix);
  } else if (!counted.empty()) {
    findings.warning(about,
                     fmt::format("a new parent can have children that an earlier parent of its name has left, and "
                                 "counts them when the stream reports its creation; through {} it counts too few, "
                                 "because the table's stream does not have both images",
                                 fmt::join(counted, ", ")),
                     fix);
  }
}

// ------------------------------------------------------------------------------------------------------------- numbers

bool has_any(const std::set<std::string>& names, const std::vector<std::string>& paths) {
  return std::any_of(paths.begin(), paths.end(),
                     [&](const std::string& path) { return names.contains(path.substr(0, path.find('.'))); });
}

bool has_any(const std::set<std::string>& names, const std::optional<Expression>& expression) {
  return expression && has_any(names, expression->paths());
}

// The attributes that get another value, or none, when the relation's attributes are cleared: those, and attributes
// that are derived or found through them.
std::set<std::string> changed_by_clearing(const Entity& child, const Parent& relation) {
  std::set<std::string> changed(relation.clear.begin(), relation.clear.end());
  const auto follows = [&](const Attribute& attribute) {
    if (has_any(changed, attribute.derived)) return true;
    const auto* source = attribute.copy_of ? attribute.copy_of->through : nullptr;
    if (source == nullptr) return false;
    return has_any(changed, source->when) || std::any_of(source->by.begin(), source->by.end(), [&](const auto& pair) {
             return changed.contains(pair.second);
           });
  };
  for (bool grows = true; grows;) {
    grows = false;
    for (const auto& attribute : child.attributes) {
      if (follows(attribute)) grows = changed.insert(attribute.name).second || grows;
    }
  }
  return changed;
}

bool leaves_order(const NextPlace& place, const std::set<std::string>& changed) {
  if (has_any(changed, place.scope)) return true;
  return std::any_of(place.partition.begin(), place.partition.end(), [&](const KeyDesign& key) {
    const auto* rule = place.record->find_key(key.name);
    return rule != nullptr && std::any_of(rule->alternatives.begin(), rule->alternatives.end(),
                                          [&](const KeyTemplate& each) { return has_any(changed, each.when); });
  });
}

// Clearing is no user's change, so it gives no numbers and takes none but those that it names.
void find_stray_numbers(const Entity& child, Report& findings) {
  for (const auto& relation : child.parents) {
    if (relation.on_delete != OnDelete::Clear) continue;
    const auto changed = changed_by_clearing(child, relation);
    for (const auto& attribute : child.attributes) {
      if (!attribute.next || !attribute.next->place) continue;
      const auto& place = attribute.next->place;
      const bool leaves = leaves_order(*place, changed);
      const bool loses = changed.contains(attribute.name);
      if (leaves == loses) continue;
      const Report::About about{
          .code = "stray-number", .subject = relation_name(child, relation), .position = relation.position};
      const auto& order = attribute.next->pattern;
      if (leaves) {
        findings.warning(about,
                         fmt::format("when its {0} is deleted, a {1} leaves the order of {2} but keeps its {3}: the "
                                     "number is then in no order, or twice in another order",
                                     relation.entity, child.name, order, attribute.name),
                         fmt::format("clear {} as well", attribute.name));
      } else {
        findings.warning(about,
                         fmt::format("when its {} is deleted, {} loses its {} and stays in the order of {}, where it "
                                     "is not found until a request changes it",
                                     relation.entity, with_article(child.name), attribute.name, order),
                         fmt::format("clear {} as well, or keep {}", fmt::join(place->scope, ", "), attribute.name));
      }
    }
  }
}

// ------------------------------------------------------------------------------------------------------- unique values

// Whether a write of another row can change the attribute: it is a copy of a value that can change, or derived from
// one.
bool follows_others(const Entity& entity, const Attribute& attribute, unsigned depth = 0) {
  if (depth == kMostGenerations) return true;
  if (attribute.derived) {
    const auto paths = attribute.derived->paths();
    return std::any_of(paths.begin(), paths.end(), [&](const std::string& path) {
      const auto* read = entity.find_attribute(path);
      return read != nullptr && follows_others(entity, *read, depth + 1);
    });
  }
  if (!attribute.copy_of) return false;
  const auto* parent = attribute.copy_of->through->to;
  const auto* source = attribute.copy_of->from;
  if (source->copy_of || source->derived) return follows_others(*parent, *source, depth + 1);
  return !source->immutable && !parent->is_named_by(source->name) && parent->owner != source->name &&
         source->generated == Generated::No;
}

void find_moving_uniques(const Entity& entity, Report& findings) {
  for (const auto& unique : entity.uniques) {
    for (const auto* names : {&unique.attributes, &unique.within}) {
      for (const auto& name : *names) {
        const auto* attribute = entity.find_attribute(name);
        if (attribute == nullptr || !follows_others(entity, *attribute)) continue;
        findings.warning(
            {.code = "unique-copy",
             .subject = entity.name + "." + unique.attributes.front(),
             .position = unique.position},
            fmt::format(
                "{} changes with another row, so two {} can get the same {} without a request that could be refused",
                name, entity.name, fmt::join(unique.attributes, ", ")),
            fmt::format("use the identity of the other row instead of {}, or an attribute of it that never changes",
                        name));
      }
    }
  }
}

// -------------------------------------------------------------------------------------------------------- transactions

// Rows that one write of an entity touches at most: its records, its reservations (two where a value moves), its
// parents.
std::size_t rows_of_write(const Entity& entity, bool moves) {
  return entity.records.size() + entity.uniques.size() * (moves ? 2 : 1) + entity.parents.size();
}

void find_transactions(const Model& model, Report& findings) {
  const auto report = [&](const std::string& subject, Position position, std::size_t rows) {
    if (rows <= kMostTransactionRows) return;
    findings.error(
        {.code = "transaction-too-large", .subject = subject, .position = position},
        fmt::format("it can write {} rows at once, and a transaction holds at most {}", rows, kMostTransactionRows),
        "split it, or leave the part that can wait to the consistency manager");
  };
  for (const auto& entity : model.entities) report(entity.name, entity.position, rows_of_write(entity, true));
  for (const auto& action : model.actions) {
    std::size_t rows = 0;
    for (const auto& step : action.steps) {
      std::size_t most = 0;
      for (const auto* entity : step.entities)
        most = std::max(most, rows_of_write(*entity, step.kind != Step::Kind::Create));
      // A row that was read has a condition, and a later change of it is the same row: it counts once, as read.
      if (step.kind == Step::Kind::Read || step.kind == Step::Kind::Create) rows += most;
    }
    report(action.name, action.position, rows);
  }
}

}  // namespace

void check_rules(const Model& model, Report& findings) {
  for (const auto& entity : model.entities) {
    find_relations(entity, findings);
    find_silent_copies(entity, findings);
    find_overruled(entity, findings);
    find_stray_numbers(entity, findings);
    find_moving_uniques(entity, findings);
    find_purge(model, entity, findings);
  }
  find_stream(model, findings);
  find_transactions(model, findings);
}

}  // namespace stator::model
