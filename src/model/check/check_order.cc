#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "stator/model/check/checked_pattern.h"

namespace stator::model {
namespace {

using Field = Template::Field;
using Literal = Template::Literal;
// Whether that is less than the whole of a date or time.
bool is_cut(const Entity& entity, const Field& field) {
  const auto* type = type_of(entity, field.attribute);
  return moment_bytes(type, field.transform) < moment_bytes(type, Transform::Escaped);
}

// -------------------------------------------------------------------------------------------- what all rows have alike

// The front that a condition gives to the sort key of all rows of an answer.  Its holes are those of the condition.
Template::Parts fixed_front(const CheckedPattern& query, const PatternCondition& condition) {
  const auto& operands = condition.operands;
  if (condition.comparison == Comparison::Equal) return operands.front().parts();
  if (condition.comparison == Comparison::BeginsWith) return certain_front(query.pattern, operands.front());
  const auto left_out = [&](const Template& operand) { return may_be_left_out(query.pattern, operand); };
  if (condition.comparison != Comparison::Between || std::any_of(operands.begin(), operands.end(), left_out)) return {};
  const auto& low = operands.front().parts();
  const auto& high = operands.back().parts();
  return {low.begin(), std::mismatch(low.begin(), low.end(), high.begin(), high.end()).first};
}

// Whether a literal of the front stands where the key has it, if only its beginning at the very end.
bool is_at(const Template::Part& asked, const Template::Part& kept, bool last) {
  const auto* front = std::get_if<Literal>(&asked);
  const auto* whole = std::get_if<Literal>(&kept);
  return asked == kept || (last && front != nullptr && whole != nullptr && whole->text.starts_with(front->text));
}

// How many parts of a key that front fixes.  A text may go on, and a day may have hours, unless what follows in the key
// follows in the front as well.
std::size_t fixed_parts(const CheckedPattern& query, const KeyedRow& row, const PatternCondition& condition,
                        const Template::Parts& key) {
  const auto front = fixed_front(query, condition);
  std::size_t count = 0;
  bool ends_open = false;
  for (; count < front.size() && count < key.size(); ++count) {
    const bool last = count + 1 == front.size() && condition.comparison != Comparison::Equal;
    const auto* asked = std::get_if<Field>(&front[count]);
    const auto* kept = std::get_if<Field>(&key[count]);
    if (asked == nullptr || kept == nullptr) {
      if (!is_at(front[count], key[count], last)) break;
      ends_open = false;
      continue;
    }
    const auto* type = type_of(*row.entity, kept->attribute);
    const auto* given = type_of(query.pattern, asked->attribute);
    ends_open = is_free_text(type, query.steps) || (kept->width == 0 && is_number(type) && !has_fixed_digits(type)) ||
                moment_bytes(given, asked->transform) != moment_bytes(type, kept->transform);
    if (last && ends_open) return count;
  }
  return ends_open && count < front.size() ? count - 1 : count;
}

// The holes of a row's partition key, which all rows of an answer share.
std::vector<Field> partition_fields(const CheckedPattern& query, const KeyedRow& row) {
  std::vector<Field> fields;
  for (const auto& key : query.space.partition) {
    for (const auto& form : forms(query.model, row, key)) {
      for (const auto& part : form.parts) {
        if (const auto* field = std::get_if<Field>(&part)) fields.push_back(*field);
      }
    }
  }
  return fields;
}

// -------------------------------------------------------------------------------------------------------- what differs

// One way in which rows of one record lie in a sort key.
struct SortedForm {
  KeyedRow row;
  Template::Parts parts = {};          // of all its attributes; an empty literal is between two of them
  std::vector<std::size_t> free = {};  // the holes by which rows of an answer differ
  std::string text = {};               // as written

  const Field& field(std::size_t i) const { return std::get<Field>(parts[free[i]]); }
};

void add_key(const CheckedPattern& query, const KeyDesign& key, const KeyForm& form, SortedForm& sorted) {
  const auto* condition = query.condition(key.name);
  const auto fixed = condition == nullptr ? 0 : fixed_parts(query, sorted.row, *condition, form.parts);
  const auto shared = partition_fields(query, sorted.row);
  if (!sorted.parts.empty()) sorted.parts.emplace_back(Literal{""});
  for (std::size_t i = 0; i < form.parts.size(); ++i) {
    const auto* field = std::get_if<Field>(&form.parts[i]);
    const auto fixes_it = [&](const Field& other) {
      return other.attribute == field->attribute &&
             (other.transform == field->transform || !is_cut(*sorted.row.entity, other));
    };
    const bool is_free = field != nullptr && i >= fixed && std::none_of(shared.begin(), shared.end(), fixes_it);
    if (is_free) sorted.free.push_back(sorted.parts.size());
    sorted.parts.push_back(form.parts[i]);
  }
  sorted.text += fmt::format("{}{}", sorted.text.empty() ? "" : ", ", spell_text(form.text));
}

// Every way in which rows of that record that the conditions match lie in the sort key.
std::vector<SortedForm> sorted_forms(const CheckedPattern& query, const KeyedRow& row) {
  std::vector<SortedForm> all = {{.row = row}};
  for (const auto& key : query.space.sort) {
    const auto* condition = key.type == value::Type::S ? query.condition(key.name) : nullptr;
    std::vector<SortedForm> longer;
    for (const auto& form : forms(query.model, row, key)) {
      if (condition != nullptr && !common(condition_language(query.pattern, *condition, kAsItIs, query.steps),
                                          form_language(*row.entity, form, kAsItIs, query.steps), query.steps)) {
        continue;
      }
      for (auto sorted : all) {
        add_key(query, key, form, sorted);
        longer.push_back(std::move(sorted));
      }
    }
    all = std::move(longer);
  }
  return all;
}

// --------------------------------------------------------------------------------------------------------- the promise

// The places of the holes that keep a promise: {at|month}#{at} is in the order of `at`, as {at} is.  nullopt: it is not
// kept.
std::optional<std::vector<std::size_t>> kept_by(const SortedForm& sorted, const std::vector<std::string>& promised) {
  std::vector<std::size_t> places;
  std::size_t next = 0;
  const auto is_next = [&](const std::string& name) {
    return next < sorted.free.size() && sorted.field(next).attribute == name;
  };
  for (const auto& name : promised) {
    while (is_next(name) && is_cut(*sorted.row.entity, sorted.field(next))) ++next;
    if (!is_next(name)) return std::nullopt;
    places.push_back(sorted.free[next++]);
  }
  return places;
}

std::string order_words(const SortedForm& sorted) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < sorted.free.size(); ++i) {
    const auto& field = sorted.field(i);
    const auto part = field.transform == Transform::Year    ? "year"
                      : field.transform == Transform::Month ? "month"
                                                            : "day";
    names.push_back(is_cut(*sorted.row.entity, field) ? fmt::format("the {} of {}", part, field.attribute)
                                                      : field.attribute);
  }
  return names.empty() ? "nothing" : listed(names);
}

// The parts up to `last`, including it. The holes have no names, so that two forms can be compared.
Template::Parts lead(const SortedForm& sorted, std::size_t last) {
  Template::Parts parts(sorted.parts.begin(), sorted.parts.begin() + static_cast<std::ptrdiff_t>(last) + 1);
  for (auto& part : parts) {
    if (auto* field = std::get_if<Field>(&part)) field->attribute.clear();
  }
  return parts;
}

// Two texts of which one goes on with what sorts below that which stands behind the other: 'a&b' is above 'a', and
// 'a&b-' below 'a-'.  Raw text has a finding of its own.
std::optional<std::string> overtaking(const SortedForm& sorted, std::size_t place, Steps& steps) {
  const auto& field = std::get<Field>(sorted.parts[place]);
  if (place + 1 == sorted.parts.size() || field.transform == Transform::Raw) return std::nullopt;
  unsigned char highest = 0xFF;
  if (const auto* literal = std::get_if<Literal>(&sorted.parts[place + 1])) {
    if (literal->text.empty() || literal->text.front() == 0) return std::nullopt;
    highest = static_cast<unsigned char>(literal->text.front() - 1);
  }
  const auto texts = hole_language(field, type_of(*sorted.row.entity, field.attribute), kOrdinary, steps);
  return common(texts, texts + Language::byte(0, highest).extended(), steps);
}

void find_overtaking(const CheckedPattern& query, const SortedForm& sorted, const std::vector<std::size_t>& places,
                     Findings& findings) {
  for (const auto place : places) {
    const auto text = overtaking(sorted, place, query.steps);
    if (!text) continue;
    const auto& name = std::get<Field>(sorted.parts[place]).attribute;
    findings.error(
        query.about("not-sorted"),
        fmt::format(
            "it promises {} sorted by {}, but the text behind {} in {} does not sort below all longer values of {}",
            sorted.row.name(), listed(query.pattern.sorted_by), name, sorted.text, name),
        "put a separator below '%' behind it, such as '#'",
        fmt::format("{} does not sort behind the shorter value that it begins with", spell_text(*text)));
  }
}

// Whether it is for rows without the promised attributes, beside an alternative for those that have them.
bool is_without(const SortedForm& form, const std::vector<std::string>& promised) {
  return std::none_of(form.free.begin(), form.free.end(), [&](std::size_t place) {
    return contains(promised, std::get<Field>(form.parts[place]).attribute);
  });
}

void report_unkept(const CheckedPattern& query, const SortedForm& form, Findings& findings) {
  const auto promised = listed(query.pattern.sorted_by);
  findings.error(query.about("not-sorted"),
                 fmt::format("it promises {} sorted by {}, but {} sorts them by {}", form.row.name(), promised,
                             query.space.name, order_words(form)),
                 fmt::format("put {} into the sort key of the table or of an index", promised));
}

void report_different(const CheckedPattern& query, const SortedForm& a, const SortedForm& b, Findings& findings) {
  std::vector<std::string> names = {a.row.name()};
  add_name(names, b.row.name());
  findings.error(
      query.about("not-sorted"),
      fmt::format(
          "it promises {} sorted by {}, but {} sorts them first by the text in front, which is not always the same",
          listed(names), listed(query.pattern.sorted_by), query.space.name),
      "begin their sort keys alike", fmt::format("{} and {}", a.text, b.text));
}

}  // namespace

void check_order(const CheckedPattern& query, Findings& findings) {
  const auto& promised = query.pattern.sorted_by;
  if (promised.empty()) return;
  std::optional<std::pair<SortedForm, Template::Parts>> first;
  for (const auto& row : query.returned) {
    if (!forms(query.model, row, query.space)) continue;
    const auto all = sorted_forms(query, row);
    const bool some = std::any_of(all.begin(), all.end(), [&](const auto& each) { return kept_by(each, promised); });
    for (const auto& form : all) {
      const auto places = kept_by(form, promised);
      if (!places) {
        if (!some || !is_without(form, promised)) report_unkept(query, form, findings);
        continue;
      }
      find_overtaking(query, form, *places, findings);
      auto front = lead(form, places->back());
      if (!first) {
        first = {form, std::move(front)};
      } else if (front != first->second) {
        report_different(query, first->first, form, findings);
      }
    }
  }
}

}  // namespace stator::model
