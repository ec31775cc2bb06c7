#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "stator/model/check/findings.h"
#include "stator/model/check/keys.h"

namespace stator::model {
namespace {

using Field = Template::Field;
using Literal = Template::Literal;

const Reading kOrdinary{.text = Reading::Text::Ordinary, .forged = std::nullopt};
const Reading kAsItIs{.text = Reading::Text::AsItIs, .forged = std::nullopt};

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_range(Comparison comparison) { return comparison != Comparison::Equal && comparison != Comparison::BeginsWith; }

void add_name(std::vector<std::string>& names, const std::string& name) {
  if (!contains(names, name)) names.push_back(name);
}

// A pattern with what it reads and what it returns.
struct Query {
  const Model& model;
  const Pattern& pattern;
  KeySpace space;
  std::vector<KeyedRow> returned;

  Findings::About about(std::string_view code) const {
    return {.code = code, .subject = pattern.name, .position = pattern.position};
  }
  bool returns(const KeyedRow& row) const {
    return std::any_of(returned.begin(), returned.end(),
                       [&](const KeyedRow& each) { return each.record == row.record; });
  }
  const KeyCondition* condition(const std::string& attribute) const {
    for (const auto* conditions : {&pattern.partition, &pattern.sort}) {
      for (const auto& each : *conditions) {
        if (each.attribute == attribute) return &each;
      }
    }
    return nullptr;
  }
  bool fixes(const KeyAttribute& key) const {
    const auto* found = condition(key.name);
    return found != nullptr && found->comparison == Comparison::Equal;
  }
};

std::vector<KeyedRow> returned_rows(const Model& model, const Pattern& pattern) {
  std::vector<KeyedRow> all;
  for (const auto& returned : pattern.returns) {
    const auto* entity = model.find_entity(returned.entity);
    if (entity == nullptr) continue;
    const auto* record = entity->find_record(returned.record);
    all.push_back({entity, record != nullptr ? record : &entity->main()});
  }
  return all;
}

std::vector<Language> conditions(const Query& query, const Reading& reading) {
  std::vector<Language> all;
  for (const auto& key : query.space.attributes()) {
    const auto* condition = query.condition(key.name);
    // Numbers are in the order of numbers, not of their text; a range of them is taken to match all.
    const bool opaque =
        condition == nullptr || (key.type != value::Type::S && condition->comparison != Comparison::Equal);
    all.push_back(opaque ? Language::anything() : condition_language(query.model, query.pattern, *condition, reading));
  }
  return all;
}

// A key of `row` that the conditions match.
std::optional<std::vector<std::string>> match(const Query& query, const KeyedRow& row,
                                              const std::vector<Language>& wanted, const Reading& reading) {
  const auto all = forms(query.model, row, query.space);
  if (!all) return std::nullopt;
  std::vector<std::string> key;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    auto text = common(wanted[i], forms_language(*row.entity, (*all)[i], reading));
    if (!text) return std::nullopt;
    key.push_back(std::move(*text));
  }
  return key;
}

// ---------------------------------------------------------------------------------------------------------- what it reads

void find_under_reads(const Query& query, Findings& findings) {
  const auto wanted = conditions(query, kAsItIs);
  const auto attributes = query.space.attributes();
  for (const auto& row : query.returned) {
    if (match(query, row, wanted, kAsItIs)) continue;
    std::string why;
    std::string keys;
    for (std::size_t i = 0; i < attributes.size(); ++i) {
      const auto found = forms(query.model, row, attributes[i]);
      if (found.empty()) {
        why = fmt::format("has no {}, and so is not in {}", attributes[i].name, query.space.name);
        break;
      }
      if (common(wanted[i], forms_language(*row.entity, found, kAsItIs))) continue;
      const auto* condition = query.condition(attributes[i].name);
      why = fmt::format("has no {} that matches {}", attributes[i].name,
                        condition == nullptr ? "" : spell_text(condition->operands.front().text()));
      for (const auto& form : found) keys += fmt::format("{}{}", keys.empty() ? "" : ", ", spell_text(form.text));
      keys = fmt::format("{} of {} is {}", attributes[i].name, row.name(), keys);
      break;
    }
    findings.error(query.about("under-read"), fmt::format("it never returns {}, which {}", row.name(), why),
                   "ask for what the key template gives, or give the entity such a key", keys);
  }
}

void find_over_reads(const Query& query, Findings& findings) {
  const auto wanted = conditions(query, kOrdinary);
  std::string names;
  std::string witnesses;
  for (const auto& row : rows(query.model)) {
    if (query.returns(row)) continue;
    const auto key = match(query, row, wanted, kOrdinary);
    if (!key) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name());
    // Where the condition is a prefix or a range, the sort key tells all.
    const auto& conditions_of_sort = query.pattern.sort;
    const bool ranged = !conditions_of_sort.empty() && conditions_of_sort.back().comparison != Comparison::Equal;
    const auto first = ranged ? static_cast<std::ptrdiff_t>(query.space.partition.size()) : 0;
    witnesses += fmt::format(
        "{}{} with {}", witnesses.empty() ? "" : ", ", row.name(),
        spell_key(ranged ? query.space.sort : query.space.attributes(), {key->begin() + first, key->end()}));
  }
  if (names.empty()) return;
  findings.error(
      query.about("over-read"),
      fmt::format("its key condition also matches {}, which it does not return: they are read, paid for, and fill "
                  "pages",
                  names),
      "narrow the condition, or use an index that has only what is returned", witnesses);
}

std::vector<std::string> raw_parameters(const Query& query) {
  std::vector<std::string> names;
  for (const auto& key : query.space.attributes()) {
    const auto* condition = query.condition(key.name);
    if (condition == nullptr || is_range(condition->comparison)) continue;  // whoever moves a bound only moves a bound
    for (const auto& operand : condition->operands) {
      for (const auto& part : operand.parts()) {
        const auto* field = std::get_if<Field>(&part);
        if (field == nullptr || field->transform != Transform::Raw) continue;
        if (is_free_text(type_of(query.model, query.pattern, field->attribute))) add_name(names, field->attribute);
      }
    }
  }
  return names;
}

// What somebody writes into a parameter can reach rows that no ordinary value names.
void find_forged_parameters(const Query& query, Findings& findings) {
  for (const auto& parameter : raw_parameters(query)) {
    // Whoever writes one parameter writes the others, too.
    const auto wanted = conditions(query, {.text = Reading::Text::AsItIs, .forged = parameter});
    for (const auto& row : rows(query.model)) {
      const auto key = match(query, row, wanted, kOrdinary);
      if (!key) continue;
      findings.error(
          query.about("forged-key"),
          fmt::format("the parameter {} is in its key condition as it is, so that a text with a separator in it "
                      "reaches {} rows that it should not",
                      parameter, row.name()),
          fmt::format("write {{{}}}", parameter), spell_key(query.space.attributes(), *key));
      break;
    }
  }
}

// ------------------------------------------------------------------------------------------- conditions against templates

// Where a hole of a condition meets the hole of a key that it asks for.
struct Meeting {
  const KeyedRow& row;
  const KeyForm& form;
  const KeyCondition& condition;
  const Field& asked;
  const Field& kept;
  bool last;     // nothing follows it in the condition
  bool goes_on;  // something follows it in the key
};

template <typename Visit>
void for_each_meeting(const Query& query, const Visit& visit) {
  for (const auto& row : query.returned) {
    for (const auto& key : query.space.attributes()) {
      const auto* condition = query.condition(key.name);
      if (condition == nullptr) continue;
      const auto all = forms(query.model, row, key);
      for (const auto& form : all) {
        for (const auto& operand : condition->operands) {
          const auto& asked = operand.parts();
          for (std::size_t i = 0; i < std::min(asked.size(), form.parts.size()); ++i) {
            const auto* field = std::get_if<Field>(&asked[i]);
            const auto* kept = std::get_if<Field>(&form.parts[i]);
            if (field != nullptr && kept != nullptr) {
              visit(Meeting{row, form, *condition, *field, *kept, i + 1 == asked.size(), i + 1 < form.parts.size()});
            } else if (!(asked[i] == form.parts[i])) {
              break;
            }
          }
        }
      }
    }
  }
}

std::string spelled(const Field& field) {
  switch (field.transform) {
    case Transform::Sortable: return fmt::format("{{{}|sortable}}", field.attribute);
    case Transform::Raw: return fmt::format("{{{}|raw}}", field.attribute);
    case Transform::Year: return fmt::format("{{{}|year}}", field.attribute);
    case Transform::Month: return fmt::format("{{{}|month}}", field.attribute);
    case Transform::Day: return fmt::format("{{{}|day}}", field.attribute);
    case Transform::Escaped: break;
  }
  return field.width > 0 ? fmt::format("{{{}:0{}}}", field.attribute, field.width)
                         : fmt::format("{{{}}}", field.attribute);
}

void find_mismatches(const Query& query, Findings& findings) {
  for_each_meeting(query, [&](const Meeting& meeting) {
    const auto* type = type_of(*meeting.row.entity, meeting.kept.attribute);
    const bool text = is_free_text(type) || type->kind == Kind::Enum;
    const bool differ = meeting.asked.width != meeting.kept.width ||
                        !are_written_alike(type, meeting.asked.transform, meeting.kept.transform);
    if (differ && !(meeting.last && is_range(meeting.condition.comparison) && !text)) {
      findings.error(query.about("operand-mismatch"),
                     fmt::format("it asks for {} where the key of {} has {}: what is written differently is not found",
                                 spelled(meeting.asked), meeting.row.name(), spelled(meeting.kept)),
                     fmt::format("write {}", spelled({.attribute = meeting.asked.attribute,
                                                      .transform = meeting.kept.transform,
                                                      .width = meeting.kept.width})));
    }
    const bool same_thing = meeting.asked.attribute == meeting.kept.attribute;
    const bool open_ended = is_free_text(type) || (meeting.kept.width == 0 && type->kind == Kind::Integer);
    if (meeting.condition.comparison == Comparison::BeginsWith && meeting.last && meeting.goes_on && same_thing &&
        open_ended) {
      findings.error(
          query.about("open-prefix"),
          fmt::format("its prefix ends inside {}: it also finds what only begins with the value that was asked for",
                      spelled(meeting.kept)),
          "end the prefix with the separator that follows in the key", fmt::format("who asks for 'a' also gets 'aa'"));
    }
    if (is_range(meeting.condition.comparison) && meeting.last && meeting.asked.transform != Transform::Sortable &&
        is_free_text(type) && is_free_text(type_of(query.model, query.pattern, meeting.asked.attribute))) {
      findings.warning(
          query.about("text-range"),
          fmt::format("it compares {} of {} as text of no fixed form: values of one meaning and two spellings "
                      "lie apart, and an upper bound leaves out what only begins with it",
                      meeting.kept.attribute, meeting.row.name()),
          "give it the type timestamp or date, which have one spelling of one width; leave the upper bound out "
          "(from, before)",
          "'2023-01-31T10:00:00Z' is not between '2023-01-01' and '2023-01-31'");
    }
  });
}

// ------------------------------------------------------------------------------------------------------- filter and answer

std::vector<std::string> key_names(const KeySpace& space) {
  std::vector<std::string> names;
  for (const auto& key : space.attributes()) names.push_back(key.name);
  return names;
}

void find_filter(const Query& query, Findings& findings) {
  if (!query.pattern.filter) return;
  const auto& filter = *query.pattern.filter;
  if (!filter.is_dynamodb()) {
    findings.error(
        query.about("filter"), fmt::format("DynamoDB cannot say the filter {}", spell_text(filter.text())),
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
        fmt::format("no key serves {}: all rows of the key condition are read, and those that do not match are "
                    "thrown away",
                    spell_text(filter.text())),
        fmt::format("put what :{} is compared with into the key of an index", input));
    return;
  }
}

// Names of what an index holds of a row; nullopt: everything.
std::optional<std::vector<std::string>> projected(const Query& query) {
  const auto* index = query.space.index;
  if (index == nullptr || index->projection == Projection::All) return std::nullopt;
  auto names = key_names(query.space);
  for (const auto& key : key_spaces(query.model.table).front().attributes()) add_name(names, key.name);
  if (index->projection == Projection::Include)
    names.insert(names.end(), index->included.begin(), index->included.end());
  return names;
}

std::string listed(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

void find_projection(const Query& query, Findings& findings) {
  const auto held = projected(query);
  if (!held) return;
  std::vector<std::string> needed;
  if (query.returned.size() > 1) needed.push_back(query.model.table.type_attribute);
  if (query.pattern.filter) {
    for (const auto& name : query.pattern.filter->paths()) add_name(needed, name);
  }
  std::vector<std::string> served;
  for (const auto& row : query.returned) {
    for (const auto& join : query.pattern.joins) {
      if (const auto* parent = row.entity->find_parent(join.relation)) {
        for (const auto& [theirs, ours] : parent->by) add_name(needed, ours);
      }
    }
    if (query.pattern.nest) {
      if (const auto* parent = row.entity->find_parent(query.pattern.nest->relation)) {
        for (const auto& [theirs, ours] : parent->by) add_name(needed, ours);
      }
    }
    for (const auto& attribute : row.entity->attributes) {
      const bool stored = row.record->attributes.empty() || contains(row.record->attributes, attribute.name);
      if (!attribute.hidden && !attribute.transient && stored) add_name(served, attribute.name);
    }
  }
  const auto missing = [&](const std::vector<std::string>& wanted) {
    std::vector<std::string> names;
    for (const auto& name : wanted) {
      if (!contains(*held, name)) names.push_back(name);
    }
    return names;
  };
  if (const auto names = missing(needed); !names.empty()) {
    findings.error(query.about("projection"),
                   fmt::format("{} does not hold {}, which it needs to tell, filter, nest or join what it reads",
                               query.space.name, listed(names)),
                   fmt::format("add them to the projection of {}", query.space.name));
  }
  if (const auto names = missing(served); !names.empty()) {
    findings.warning(query.about("projection"),
                     fmt::format("{} does not hold {}: its answers lack them", query.space.name, listed(names)),
                     fmt::format("add what the answer should show to the projection of {}", query.space.name));
  }
}

// Attributes whose values the key condition fixes exactly, by the templates of `row`.
std::vector<std::string> fixed_attributes(const Query& query, const KeyedRow& row) {
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

bool includes(const std::vector<std::string>& all, const std::vector<std::string>& some) {
  return std::all_of(some.begin(), some.end(), [&](const std::string& name) { return contains(all, name); });
}

bool names_one(const Query& query, const KeyedRow& row) {
  const auto keys = query.space.attributes();
  const bool whole = std::all_of(keys.begin(), keys.end(), [&](const auto& key) { return query.fixes(key); });
  if (query.space.index == nullptr && whole) return true;
  const auto fixed = fixed_attributes(query, row);
  const auto identity = row.entity->identity(query.model.table);
  if (!identity.empty() && includes(fixed, identity)) return true;
  return std::any_of(row.entity->uniques.begin(), row.entity->uniques.end(), [&](const Unique& unique) {
    return includes(fixed, unique.attributes) && includes(fixed, unique.within);
  });
}

void find_single(const Query& query, Findings& findings) {
  if (!query.pattern.single) return;
  for (const auto& row : query.returned) {
    if (names_one(query, row)) continue;
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
bool may_be_absent(const Query& query, const Entity& entity, const std::string& name) {
  const auto* attribute = entity.find_attribute(name);
  if (attribute == nullptr || attribute->required || attribute->default_value || attribute->computed()) return false;
  return !contains(entity.identity(query.model.table), name);
}

// Rows that silently are not in the index that a pattern reads.
void find_sparse(const Query& query, Findings& findings) {
  if (query.space.index == nullptr) return;
  for (const auto& row : query.returned) {
    const auto asked = fixed_attributes(query, row);  // who asks for a value does not ask for rows without one
    for (const auto& key : query.space.attributes()) {
      const auto all = forms(query.model, row, key);
      const bool on_purpose = std::any_of(all.begin(), all.end(), [](const KeyForm& form) {
        return form.rule != nullptr && form.rule->when.has_value();
      });
      if (all.empty() || on_purpose) continue;
      for (const auto& part : all.back().parts) {
        const auto* field = std::get_if<Field>(&part);
        if (field == nullptr || contains(asked, field->attribute)) continue;
        if (!may_be_absent(query, *row.entity, field->attribute)) continue;
        findings.warning(
            query.about("sparse-index"),
            fmt::format("a {} without {} is not in {}, and so is never returned", row.name(), field->attribute,
                        query.space.name),
            fmt::format("make {} required, give the key another alternative, or give it a `when` to say that "
                        "this is meant",
                        field->attribute));
      }
    }
  }
}

// ----------------------------------------------------------------------------------------------------------------- order

// The attributes by which the rows of an answer differ, in the order of the sort key.
std::vector<Field> sorting_fields(const Query& query, const KeyedRow& row) {
  std::vector<std::string> fixed;
  for (const auto& key : query.space.partition) {
    for (const auto& form : forms(query.model, row, key)) {
      for (const auto& part : form.parts) {
        if (const auto* field = std::get_if<Field>(&part)) add_name(fixed, field->attribute);
      }
    }
  }
  for (const auto& condition : query.pattern.sort) {
    if (is_range(condition.comparison)) continue;
    for (const auto& name : condition.operands.front().attributes()) add_name(fixed, name);
  }
  std::vector<Field> fields;
  for (const auto& key : query.space.sort) {
    const auto all = forms(query.model, row, key);
    if (all.empty()) continue;
    for (const auto& part : all.front().parts) {
      const auto* field = std::get_if<Field>(&part);
      if (field != nullptr && !contains(fixed, field->attribute)) fields.push_back(*field);
    }
  }
  return fields;
}

void find_order(const Query& query, Findings& findings) {
  const auto& promised = query.pattern.sorted_by;
  for (const auto& row : query.returned) {
    if (!forms(query.model, row, query.space)) continue;
    const auto fields = sorting_fields(query, row);
    const bool kept = fields.size() >= promised.size() &&
                      std::equal(promised.begin(), promised.end(), fields.begin(),
                                 [](const std::string& name, const Field& field) { return field.attribute == name; });
    if (kept) continue;
    std::vector<std::string> names;
    for (const auto& field : fields) names.push_back(field.attribute);
    findings.error(query.about("not-sorted"),
                   fmt::format("it promises {} sorted by {}, but {} sorts them by {}", row.name(), listed(promised),
                               query.space.name, names.empty() ? "nothing" : listed(names)),
                   fmt::format("put {} into the sort key of the table or of an index", listed(promised)));
  }
}

// ---------------------------------------------------------------------------------------------------------------- access

bool includes(const Access& wide, const Access& narrow) {
  if (wide.anyone) return true;
  if (narrow.anyone) return false;
  if (wide.signed_in) return true;
  return !narrow.signed_in;
}

// Whether the key or the filter picks rows by a fixed value of an attribute, and so can stand for a right to see them.
bool selects_by_value(const Query& query) {
  if (query.pattern.filter) return true;
  return std::any_of(query.pattern.partition.begin(), query.pattern.partition.end(),
                     [&](const KeyCondition& condition) {
                       if (!condition.operands.front().constant()) return false;
                       return std::any_of(query.returned.begin(), query.returned.end(), [&](const KeyedRow& row) {
                         return row.record->find_key(condition.attribute) == nullptr &&
                                row.entity->find_attribute(condition.attribute) != nullptr;
                       });
                     });
}

void find_wider_access(const Query& query, Findings& findings) {
  if (selects_by_value(query)) return;
  for (const auto& row : query.returned) {
    if (row.entity->read.anyone_when || includes(row.entity->read, query.pattern.access)) continue;
    findings.warning(
        query.about("wider-access"),
        fmt::format("more people may run it than may read a {}, and nothing in it leaves out what they may not "
                    "see",
                    row.name()),
        "filter by what makes a row visible, use an index that has only visible rows, or narrow its access");
  }
}

// -------------------------------------------------------------------------------------------------------------- nesting

// Whether a hole of the parent's key and one of the child's hold the same: by the relation, or by a copy.
bool same_value(const Entity& child, const Parent& relation, const Field& parents, const Field& childs) {
  if (parents.transform != childs.transform || parents.width != childs.width) return false;
  for (const auto& [theirs, ours] : relation.by) {
    if (theirs == parents.attribute && ours == childs.attribute) return true;
  }
  const auto* copy = child.find_attribute(childs.attribute);
  return copy != nullptr && copy->copy_of && copy->copy_of->relation == relation.name &&
         copy->copy_of->attribute == parents.attribute;
}

// What the child's key has behind the parent's; nullopt when the parent's is not its beginning.
std::optional<std::vector<Template::Part>> behind(const KeyForm& parent, const KeyForm& child, const Entity& entity,
                                                  const Parent& relation) {
  std::vector<Template::Part> rest = child.parts;
  for (const auto& part : parent.parts) {
    if (rest.empty()) return std::nullopt;
    if (const auto* field = std::get_if<Field>(&part)) {
      const auto* own = std::get_if<Field>(&rest.front());
      if (own == nullptr || !same_value(entity, relation, *field, *own)) return std::nullopt;
      rest.erase(rest.begin());
      continue;
    }
    if (part == rest.front()) {
      rest.erase(rest.begin());
      continue;
    }
    const auto* literal = std::get_if<Literal>(&part);
    auto* own = std::get_if<Literal>(&rest.front());
    if (literal == nullptr || own == nullptr || !own->text.starts_with(literal->text)) return std::nullopt;
    own->text.erase(0, literal->text.size());
  }
  return rest;
}

constexpr unsigned char kLowestEscaped = '%';  // escaped text has nothing below this

// Whether children stand right behind their parent, and nothing else does.
void find_nesting(const Query& query, Findings& findings) {
  if (!query.pattern.nest || query.space.sort.empty()) return;
  const auto& nest = *query.pattern.nest;
  const auto* parent = query.model.find_entity(nest.parent);
  if (parent == nullptr) return;
  const auto& key = query.space.sort.front();
  const auto parents = forms(query.model, {parent, &parent->main()}, key);
  if (parents.empty()) return;
  const auto about = query.about("nest-order");
  for (const auto& name : nest.children) {
    const auto* child = query.model.find_entity(name);
    const auto* relation = child == nullptr ? nullptr : child->find_parent(nest.relation);
    if (relation == nullptr) continue;
    std::optional<std::vector<Template::Part>> rest;
    for (const auto& form : forms(query.model, {child, &child->main()}, key)) {
      if (!rest) rest = behind(parents.front(), form, *child, *relation);
    }
    if (!rest) {
      findings.error(
          about,
          fmt::format("{} of {} does not begin with that of its {}, so that the order of keys does not bring them "
                      "together",
                      key.name, name, nest.parent),
          fmt::format("begin one alternative with {}, with copies of the parent's attributes",
                      spell_text(parents.front().text)));
      continue;
    }
    const auto* end = std::get_if<Field>(&parents.front().parts.back());
    const auto* separator = rest->empty() ? nullptr : std::get_if<Literal>(&rest->front());
    const bool tight = separator != nullptr && static_cast<unsigned char>(separator->text.front()) < kLowestEscaped;
    if (end != nullptr && is_free_text(type_of(*parent, end->attribute)) &&
        (end->transform == Transform::Raw || !tight)) {
      findings.error(about,
                     fmt::format("another {} whose {} goes on where this one ends falls between it and its {}",
                                 nest.parent, end->attribute, name),
                     fmt::format("write {{{}|sortable}} and a separator below '%', such as '#'", end->attribute));
    }
  }
  std::vector<std::string> named;
  for (const auto& each : query.space.attributes()) {
    for (const auto& form : forms(query.model, {parent, &parent->main()}, each)) {
      for (const auto& part : form.parts) {
        if (const auto* field = std::get_if<Field>(&part)) add_name(named, field->attribute);
      }
    }
  }
  const bool unique = includes(named, parent->identity(query.model.table)) ||
                      std::any_of(parent->uniques.begin(), parent->uniques.end(), [&](const Unique& each) {
                        return includes(named, each.attributes) && includes(named, each.within);
                      });
  if (unique) return;
  findings.error(about,
                 fmt::format("two {} can have the same {}, and then their children are mixed", nest.parent, key.name),
                 fmt::format("make {} unique within its partition, or put its id into the key", listed(named)));
}

// ---------------------------------------------------------------------------------------------------------------- indexes

// Every value that an index attribute has as it is, where there are only a few.
std::vector<std::string> few_values(const Type* type) {
  if (type == nullptr) return {};
  if (type->kind == Kind::Enum) return type->values;
  if (type->kind != Kind::Integer || !type->min || !type->max) return {};
  const auto min = type->min->to_int64();
  const auto max = type->max->to_int64();
  constexpr std::int64_t kFew = 10;
  std::vector<std::string> values;
  for (auto value = min.value_or(0); min && max && value <= *max && value - *min < kFew; ++value) {
    values.push_back(std::to_string(value));
  }
  return values;
}

void find_unread(const Model& model, const KeySpace& space, const std::vector<Query>& queries, Findings& findings) {
  std::vector<const Query*> readers;
  for (const auto& query : queries) {
    if (query.space.index == space.index) readers.push_back(&query);
  }
  const Findings::About unused{.code = "unused-index", .subject = space.name, .position = space.position};
  if (readers.empty()) {
    findings.warning(unused, fmt::format("no pattern reads {}, and every write pays for it", space.name),
                     "remove it, or write down the pattern that it is for");
    return;
  }
  const Findings::About about{.code = "unread-rows", .subject = space.name, .position = space.position};
  for (const auto& row : rows(model)) {
    const auto all = forms(model, row, space);
    if (!all) continue;
    std::vector<const Query*> of_row;
    std::copy_if(readers.begin(), readers.end(), std::back_inserter(of_row),
                 [&](const Query* query) { return query->returns(row); });
    if (of_row.empty()) {
      findings.warning(about,
                       fmt::format("{} is written into {}, and no pattern reads it there", row.name(), space.name),
                       "leave out its keys of this index, or add the pattern");
      continue;
    }
    const auto keys = space.attributes();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto* field =
          (*all)[i].front().rule == nullptr ? std::get_if<Field>(&(*all)[i].front().parts.front()) : nullptr;
      if (field == nullptr) continue;
      for (const auto& value : few_values(type_of(*row.entity, field->attribute))) {
        const bool read = std::any_of(of_row.begin(), of_row.end(), [&](const Query* query) {
          return common(conditions(*query, kAsItIs)[i], Language::text(value)).has_value();
        });
        if (read) continue;
        findings.warning(about,
                         fmt::format("{} with {} {} is in {}, and no pattern reads it there", row.name(),
                                     field->attribute, spell_text(value), space.name),
                         fmt::format("make the index sparse: derive {} so that it is absent then", field->attribute));
      }
    }
  }
}

}  // namespace

void check_patterns(const Model& model, Findings& findings) {
  std::vector<Query> queries;
  for (const auto& pattern : model.patterns) {
    queries.push_back({model, pattern, key_space(model.table, pattern.index), returned_rows(model, pattern)});
  }
  for (const auto& query : queries) {
    find_under_reads(query, findings);
    find_over_reads(query, findings);
    find_forged_parameters(query, findings);
    find_mismatches(query, findings);
    find_filter(query, findings);
    find_projection(query, findings);
    find_single(query, findings);
    find_sparse(query, findings);
    find_order(query, findings);
    find_wider_access(query, findings);
    find_nesting(query, findings);
  }
  for (const auto& space : key_spaces(model.table)) {
    if (space.index != nullptr) find_unread(model, space, queries, findings);
  }
}

}  // namespace stator::model
