#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "stator/base/article.h"
#include "stator/model/check/checked_pattern.h"

namespace stator::model {
namespace {

using Field = Template::Field;

// --------------------------------------------------------------------------------------------------- filter and answer

std::vector<std::string> key_names(const DesignKey& space) {
  std::vector<std::string> names;
  for (const auto& key : space.attributes()) names.push_back(key.name);
  return names;
}

void find_filter(const CheckedPattern& query, Findings& findings) {
  if (!query.pattern.filter) return;
  const auto& filter = *query.pattern.filter;
  if (!filter.is_dynamodb()) {
    findings.error(
        query.about("filter"), fmt::format("DynamoDB has no filter expression for {}", spell_text(filter.text())),
        "use only comparisons and functions of DynamoDB on attributes, or derive an attribute and filter by that");
  }
  const auto keys = key_names(query.space);
  for (const auto& name : filter.paths()) {
    if (!contains(keys, name)) continue;
    findings.error(query.about("filter"),
                   fmt::format("DynamoDB does not filter by {}, a key attribute of {}", name, query.space.name),
                   "make it part of the key condition");
  }
  for (const auto& input : filter.inputs()) {
    if (input == "now") continue;
    findings.warning(
        query.about("filtered-read"),
        fmt::format(
            "no key serves {}: all rows of the key condition are read, and rows that do not match are discarded",
            spell_text(filter.text())),
        fmt::format("put the attribute that :{} is compared with into the key of an index", input));
    return;
  }
}

// Whether a row must have its type: rows of several records can be in the answer.
bool needs_type(const CheckedPattern& query) {
  if (query.returned.size() > 1) return true;
  const auto wanted = conditions(query, kOrdinary);
  const auto all = rows(query.model);
  return std::any_of(all.begin(), all.end(),
                     [&](const KeyedRow& row) { return !query.returns(row) && match(query, row, wanted, kOrdinary); });
}

void find_projection(const CheckedPattern& query, Findings& findings) {
  const auto* index = query.space.index;
  if (index == nullptr || index->projection == ProjectionKind::All) return;
  std::vector<std::string> needed;
  if (needs_type(query)) needed.push_back(query.model.table.type_attribute);
  if (query.pattern.filter) {
    for (const auto& name : query.pattern.filter->paths()) add_name(needed, name);
  }
  std::vector<std::string> served;
  for (const auto& row : query.returned) {
    for (const auto& join : query.pattern.joins) {
      if (const auto* parent = join.through(*row.entity)) {
        for (const auto& [theirs, ours] : parent->by) add_name(needed, ours);
      }
    }
    for (const auto& child : query.pattern.nest ? query.pattern.nest->children : std::vector<Related>()) {
      if (child.entity != row.entity) continue;
      for (const auto& [theirs, ours] : child.through->by) add_name(needed, ours);
    }
    for (const auto& attribute : row.entity->attributes) {
      if (!attribute.hidden && !attribute.transient && row.record->holds(attribute.name))
        add_name(served, attribute.name);
    }
  }
  const auto missing = [&](const std::vector<std::string>& wanted) {
    std::vector<std::string> names;
    for (const auto& name : wanted) {
      if (!query.model.table.projects(*index, name)) names.push_back(name);
    }
    return names;
  };
  if (const auto names = missing(needed); !names.empty()) {
    findings.error(
        query.about("projection"),
        fmt::format("{} does not hold {}, which it needs to identify, filter, nest or join the rows that it reads",
                    query.space.name, listed(names)),
        fmt::format("add them to the projection of {}", query.space.name));
  }
  if (const auto names = missing(served); !names.empty()) {
    findings.warning(
        query.about("projection"),
        fmt::format("{} does not hold {}: its answers lack them", query.space.name, listed(names)),
        fmt::format("add the attributes that the answer should have to the projection of {}", query.space.name));
  }
}

// Attributes whose values the key condition fixes exactly, by the templates of `row`.
std::vector<std::string> fixed_attributes(const CheckedPattern& query, const KeyedRow& row) {
  std::vector<std::string> names;
  for (const auto& key : query.space.attributes()) {
    if (!query.fixes(key)) continue;
    for (const auto& form : forms(query.model, row, key)) {
      for (const auto& part : form.parts) {
        if (const auto* field = std::get_if<Field>(&part)) add_name(names, field->attribute);
      }
    }
  }
  return names;
}

bool promises_truly(const CheckedPattern& query, const KeyedRow& row) {
  std::vector<KeyDesign> fixed;
  const auto keys = query.space.attributes();
  std::copy_if(keys.begin(), keys.end(), std::back_inserter(fixed), [&](const auto& key) { return query.fixes(key); });
  return (query.space.index == nullptr && fixed.size() == keys.size()) || names_one(query, row, fixed);
}

void find_single(const CheckedPattern& query, Findings& findings) {
  if (!query.pattern.single) return;
  for (const auto& row : query.returned) {
    if (promises_truly(query, row)) continue;
    const auto fixed = fixed_attributes(query, row);
    findings.error(
        query.about("not-unique"),
        fmt::format("it promises one {}, but nothing keeps {} unique: an index takes any number of rows with one "
                    "key",
                    row.name(), fixed.empty() ? "its key" : listed(fixed)),
        fmt::format("add `unique` to {}: a reservation row then refuses the second", row.entity->name));
  }
}

// An attribute that a row may well be without.
bool may_be_absent(const Entity& entity, const std::string& name) {
  const auto* attribute = entity.find_attribute(name);
  if (attribute == nullptr || attribute->required || attribute->default_value) return false;
  if (entity.is_named_by(name)) return false;
  if (attribute->copy_of) return !attribute->always_there;
  if (attribute->next && attribute->next->through != nullptr) return !attribute->next->in_every_row();
  if (attribute->next) {  // a row that is in the order has a number
    const auto& scope = attribute->next->place->scope;
    return std::any_of(scope.begin(), scope.end(),
                       [&](const std::string& each) { return may_be_absent(entity, each); });
  }
  return !attribute->computed();
}

// Rows that silently are not in the index that a pattern reads.
void find_sparse(const CheckedPattern& query, Findings& findings) {
  if (query.space.index == nullptr) return;
  for (const auto& row : query.returned) {
    const auto asked = fixed_attributes(query, row);  // a request for a value excludes rows without one
    for (const auto& key : query.space.attributes()) {
      const auto all = forms(query.model, row, key);
      const bool on_purpose = std::any_of(all.begin(), all.end(), [](const KeyForm& form) {
        return form.rule != nullptr && form.rule->when.has_value();
      });
      if (all.empty() || on_purpose) continue;
      for (const auto& part : all.back().parts) {
        const auto* field = std::get_if<Field>(&part);
        if (field == nullptr || contains(asked, field->attribute)) continue;
        if (!may_be_absent(*row.entity, field->attribute)) continue;
        const auto* copied = row.entity->find_attribute(field->attribute)->copy_of
                                 ? &*row.entity->find_attribute(field->attribute)->copy_of
                                 : nullptr;
        const auto required = copied == nullptr
                                  ? fmt::format("make {} required", field->attribute)
                                  : fmt::format("let every {0} have a {1}, and every {1} a {2}", row.entity->name,
                                                copied->through->entity, copied->attribute);
        findings.warning(query.about("sparse-index"),
                         fmt::format("{} without {} is not in {}, and so is never returned", with_article(row.name()),
                                     field->attribute, query.space.name),
                         required + ", give the key another alternative, or give it a `when` if this is intended");
      }
    }
  }
}

// -------------------------------------------------------------------------------------------------------------- access

bool includes(const Access& wide, const Access& narrow) {
  if (wide.anyone) return true;
  if (narrow.anyone) return false;
  if (wide.signed_in) return true;
  return !narrow.signed_in;
}

// Whether the key or the filter picks rows by a fixed value of an attribute, and so can stand for a right to see them.
bool selects_by_value(const CheckedPattern& query) {
  if (query.pattern.filter) return true;
  return std::any_of(query.pattern.partition.begin(), query.pattern.partition.end(),
                     [&](const PatternCondition& condition) {
                       if (!condition.operands.front().constant()) return false;
                       return std::any_of(query.returned.begin(), query.returned.end(), [&](const KeyedRow& row) {
                         return row.record->find_key(condition.attribute) == nullptr &&
                                row.entity->find_attribute(condition.attribute) != nullptr;
                       });
                     });
}

bool is_of_caller(const PatternCondition& condition) { return contains(condition.operands.front().attributes(), "me"); }

// Whether it reads only what is kept under the caller's own name.
bool reads_own(const CheckedPattern& query) {
  return std::any_of(query.pattern.partition.begin(), query.pattern.partition.end(), is_of_caller);
}

void find_wider_access(const CheckedPattern& query, Findings& findings) {
  if (selects_by_value(query) || reads_own(query)) return;
  for (const auto& row : query.returned) {
    if (row.entity->read.anyone_when || includes(row.entity->read, query.pattern.access)) continue;
    findings.warning(query.about("wider-access"),
                     fmt::format("more people may run it than may read {}, and neither its key nor its filter leaves "
                                 "out the rows that they may not see",
                                 with_article(row.name())),
                     "filter by the attribute that makes a row visible, use an index that has only visible rows, or "
                     "narrow its access");
  }
}

// A join leaves out rows that the caller may not read.
void find_hidden_joins(const CheckedPattern& query, Findings& findings) {
  if (reads_own(query)) return;
  for (const auto& join : query.pattern.joins) {
    for (const auto& row : query.returned) {
      const auto* relation = join.through(*row.entity);
      const auto* joined = relation == nullptr ? nullptr : relation->to;
      if (joined == nullptr || joined->read.anyone_when || includes(joined->read, query.pattern.access)) continue;
      findings.warning(
          query.about("hidden-join"),
          fmt::format("more people may run it than may read the {} that it joins as {}: they do not see it",
                      joined->name, join.as),
          fmt::format("copy the attributes that everyone may see into {} (copy_of), or let its callers read {}",
                      row.entity->name, with_article(joined->name)));
    }
  }
}

}  // namespace

void check_answer(const CheckedPattern& query, Findings& findings) {
  find_filter(query, findings);
  find_projection(query, findings);
  find_single(query, findings);
  find_sparse(query, findings);
  find_wider_access(query, findings);
  find_hidden_joins(query, findings);
}

}  // namespace stator::model
