#include "stator/model/check/checked_pattern.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace stator::model {
namespace {

using Field = Template::Field;

std::vector<Field> fields_of(const std::vector<Template::Part>& parts) {
  std::vector<Field> fields;
  for (const auto& part : parts) {
    if (const auto* field = std::get_if<Field>(&part)) fields.push_back(*field);
  }
  return fields;
}

// Whether a hole tells values apart as `wanted` does: by the whole value, or as much of it.
bool tells(const Entity& entity, const Field& hole, const Field& wanted, Steps& steps) {
  if (hole.attribute != wanted.attribute) return false;
  const auto* type = type_of(entity, hole.attribute);
  const bool cut = moment_bytes(type, hole.transform) < moment_bytes(type, Transform::Escaped);
  const bool folded = folds(hole.transform) && !are_written_alike(type, hole.transform, Transform::Escaped, steps);
  // Values that differ with `alphabetical` also differ with `sortable`.
  const bool finer = hole.transform == Transform::Sortable && wanted.transform == Transform::Alphabetical;
  return (!cut && !folded) || hole.transform == wanted.transform || finer;
}

bool tell(const Entity& entity, const std::vector<Field>& holes, const Field& wanted, Steps& steps) {
  return std::any_of(holes.begin(), holes.end(), [&](const Field& hole) { return tells(entity, hole, wanted, steps); });
}

// The holes of a key, where every form of it that the condition matches tells them.
std::vector<Field> told_by(const CheckedPattern& query, const KeyedRow& row, const KeyDesign& key) {
  const auto* condition = key.type == value::Type::S ? query.condition(key.name) : nullptr;
  std::optional<std::vector<Field>> told;
  for (const auto& form : forms(query.model, row, key)) {
    if (condition != nullptr && !common(condition_language(query.pattern, *condition, kAsItIs, query.steps),
                                        form_language(*row.entity, form, kAsItIs, query.steps), query.steps)) {
      continue;
    }
    const auto fields = fields_of(form.parts);
    if (!told) told = fields;
    std::erase_if(*told, [&](const Field& field) { return !tell(*row.entity, fields, field, query.steps); });
  }
  return told.value_or(std::vector<Field>());
}

}  // namespace

// Whether each row gets a value of its own when it is made: a random one, which nobody gives.
bool is_made_once(const Model& model, const Entity& entity, const Attribute& attribute) {
  if (attribute.generated != Generated::Uuid && attribute.generated != Generated::Ulid) return false;
  return std::none_of(model.actions.begin(), model.actions.end(), [&](const Action& action) {
    return std::any_of(action.steps.begin(), action.steps.end(), [&](const Step& step) {
      const bool of_it = step.kind == Step::Kind::Update ||
                         std::find(step.entities.begin(), step.entities.end(), &entity) != step.entities.end();
      return of_it && std::any_of(step.set.begin(), step.set.end(),
                                  [&](const Assignment& assignment) { return assignment.attribute == attribute.name; });
    });
  });
}

bool names_one(const CheckedPattern& query, const KeyedRow& row, const std::vector<KeyDesign>& keys) {
  const auto& entity = *row.entity;
  std::vector<Field> told;
  for (const auto& key : keys) {
    const auto some = told_by(query, row, key);
    told.insert(told.end(), some.begin(), some.end());
  }
  const auto tells_all = [&](const std::vector<Field>& wanted) {
    return std::all_of(wanted.begin(), wanted.end(),
                       [&](const Field& field) { return tell(entity, told, field, query.steps); });
  };
  const auto as_fields = [](const std::vector<std::string>& names, Transform transform) {
    std::vector<Field> fields;
    for (const auto& name : names) fields.push_back({.attribute = name, .transform = transform, .width = 0});
    return fields;
  };
  std::vector<Field> identity;
  for (const auto& key : design_keys(query.model.table).front().attributes()) {
    for (const auto& form : forms(query.model, {&entity, &entity.main()}, key)) {
      for (const auto& field : fields_of(form.parts)) identity.push_back(field);
    }
  }
  if (!identity.empty() && tells_all(identity)) return true;
  const auto is_its_own = [&](const Field& field) {
    const auto* attribute = entity.find_attribute(field.attribute);
    return attribute != nullptr && is_made_once(query.model, entity, *attribute) &&
           tell(entity, told, field, query.steps);
  };
  if (std::any_of(told.begin(), told.end(), is_its_own)) return true;
  // A parent gives each number once.
  const auto is_numbered = [&](const Attribute& attribute) {
    if (!attribute.next || attribute.next->through == nullptr) return false;
    std::vector<std::string> names = {attribute.name};
    for (const auto& [theirs, ours] : attribute.next->through->by) names.push_back(ours);
    return tells_all(as_fields(names, Transform::Escaped));
  };
  if (std::any_of(entity.attributes.begin(), entity.attributes.end(), is_numbered)) return true;
  return std::any_of(entity.uniques.begin(), entity.uniques.end(), [&](const Unique& unique) {
    return tells_all(as_fields(unique.attributes, unique.compared)) &&
           tells_all(as_fields(unique.within, Transform::Escaped));
  });
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_range(Comparison comparison) { return comparison != Comparison::Equal && comparison != Comparison::BeginsWith; }

void add_name(std::vector<std::string>& names, const std::string& name) {
  if (!contains(names, name)) names.push_back(name);
}

bool includes(const std::vector<std::string>& all, const std::vector<std::string>& some) {
  return std::all_of(some.begin(), some.end(), [&](const std::string& name) { return contains(all, name); });
}

std::string listed(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

std::vector<KeyedRow> returned_rows(const Pattern& pattern) {
  std::vector<KeyedRow> all;
  for (const auto& returned : pattern.returns) all.push_back({returned.entity, returned.record});
  return all;
}

std::vector<Language> conditions(const CheckedPattern& query, const Reading& reading) {
  std::vector<Language> all;
  for (const auto& key : query.space.attributes()) {
    const auto* condition = query.condition(key.name);
    // Numbers are in the order of numbers, not of their text; a range of them is taken to match all.
    const bool opaque =
        condition == nullptr || (key.type != value::Type::S && condition->comparison != Comparison::Equal);
    all.push_back(opaque ? Language::anything() : condition_language(query.pattern, *condition, reading, query.steps));
  }
  return all;
}

std::optional<std::vector<std::string>> match(const CheckedPattern& query, const KeyedRow& row,
                                              const std::vector<Language>& wanted, const Reading& reading) {
  const auto all = forms(query.model, row, query.space);
  if (!all) return std::nullopt;
  std::vector<std::string> key;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    auto text = common(wanted[i], forms_language(*row.entity, (*all)[i], reading, query.steps), query.steps);
    if (!text) return std::nullopt;
    key.push_back(std::move(*text));
  }
  return key;
}

}  // namespace stator::model
