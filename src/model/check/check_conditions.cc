#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "stator/model/check/checked_pattern.h"
#include "stator/model/syntax/syntax.h"

namespace stator::model {
namespace {

using Field = Template::Field;

// ------------------------------------------------------------------------------------------------------- what it reads

void find_under_reads(const CheckedPattern& query, Findings& findings) {
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
      if (common(wanted[i], forms_language(*row.entity, found, kAsItIs, query.steps), query.steps)) continue;
      const auto* condition = query.condition(attributes[i].name);
      why = fmt::format("has no {} that matches {}", attributes[i].name,
                        condition == nullptr ? "" : spell_text(condition->operands.front().text()));
      for (const auto& form : found) keys += fmt::format("{}{}", keys.empty() ? "" : ", ", spell_text(form.text));
      keys = fmt::format("{} of {} is {}", attributes[i].name, row.name(), keys);
      break;
    }
    findings.error(query.about("under-read"), fmt::format("it never returns {}, which {}", row.name(), why),
                   "write the condition as the key template does, or give the entity such a key", keys);
  }
}

void find_over_reads(const CheckedPattern& query, Findings& findings) {
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
      "narrow the condition, or use an index that has only the returned rows", witnesses);
}

std::vector<std::string> raw_parameters(const CheckedPattern& query) {
  std::vector<std::string> names;
  for (const auto& key : query.space.attributes()) {
    const auto* condition = query.condition(key.name);
    if (condition == nullptr || is_range(condition->comparison)) continue;  // any value is a valid bound
    for (const auto& operand : condition->operands) {
      for (const auto& part : operand.parts()) {
        const auto* field = std::get_if<Field>(&part);
        if (field == nullptr || field->transform != Transform::Raw) continue;
        if (is_free_text(type_of(query.pattern, field->attribute), query.steps)) add_name(names, field->attribute);
      }
    }
  }
  return names;
}

// The value of a parameter can reach rows that no ordinary value names.
void find_forged_parameters(const CheckedPattern& query, Findings& findings) {
  for (const auto& parameter : raw_parameters(query)) {
    // One caller gives all parameters.
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

// ---------------------------------------------------------------------------------------- conditions against templates

// Where a hole of a condition meets the hole of a key that it asks for.
struct Meeting {
  const KeyedRow& row;
  const KeyDesign& key;
  const PatternCondition& condition;
  const Field& asked;
  const Field& kept;
  bool last;     // nothing follows it in the condition
  bool goes_on;  // something follows it in the key
};

template <typename Visit>
void for_each_meeting(const CheckedPattern& query, const Visit& visit) {
  const auto keys = query.space.attributes();
  for (const auto& row : query.returned) {
    for (const auto& key : keys) {
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
              visit(Meeting{row, key, *condition, *field, *kept, i + 1 == asked.size(), i + 1 < form.parts.size()});
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
    case Transform::Alphabetical: return fmt::format("{{{}|alphabetical}}", field.attribute);
    case Transform::Raw: return fmt::format("{{{}|raw}}", field.attribute);
    case Transform::Year: return fmt::format("{{{}|year}}", field.attribute);
    case Transform::Month: return fmt::format("{{{}|month}}", field.attribute);
    case Transform::Day: return fmt::format("{{{}|day}}", field.attribute);
    case Transform::Escaped: break;
  }
  return field.width > 0 ? fmt::format("{{{}:0{}}}", field.attribute, field.width)
                         : fmt::format("{{{}}}", field.attribute);
}

// How many shards the key has where the condition reads another number of them; nullopt when they do not meet.
std::optional<unsigned> other_shards(const std::vector<Template::Part>& asked,
                                     const std::vector<Template::Part>& kept) {
  for (std::size_t i = 0; i < std::min(asked.size(), kept.size()); ++i) {
    const auto* shards = std::get_if<Template::Shard>(&asked[i]);
    const auto* theirs = std::get_if<Template::Shard>(&kept[i]);
    if (shards != nullptr && theirs != nullptr && shards->count != theirs->count) return theirs->count;
    const bool holes = std::holds_alternative<Field>(asked[i]) && std::holds_alternative<Field>(kept[i]);
    if (!holes && !(asked[i] == kept[i])) return std::nullopt;
  }
  return std::nullopt;
}

void find_shards(const CheckedPattern& query, Findings& findings) {
  for (const auto& row : query.returned) {
    for (const auto& key : query.space.partition) {
      const auto* condition = query.condition(key.name);
      if (condition == nullptr) continue;
      const auto& asked = condition->operands.front();
      for (const auto& form : forms(query.model, row, key)) {
        const auto kept = other_shards(asked.parts(), form.parts);
        if (!kept) continue;
        findings.error(
            query.about("operand-mismatch"),
            fmt::format(
                "it reads {} shards where the key of {} has {}: {}", asked.shards(), row.name(), *kept,
                asked.shards() < *kept ? "rows in the others are not found" : "it looks where there are no rows"),
            fmt::format("write {{shard:{}}}", *kept));
      }
    }
  }
}

void find_mismatches(const CheckedPattern& query, Findings& findings) {
  for_each_meeting(query, [&](const Meeting& meeting) {
    const auto* type = type_of(*meeting.row.entity, meeting.kept.attribute);
    const bool text = meeting.key.type == value::Type::S;
    const bool differ = (text && meeting.asked.width != meeting.kept.width) ||
                        !are_written_alike(type, meeting.asked.transform, meeting.kept.transform, query.steps);
    if (differ) {
      findings.error(
          query.about("operand-mismatch"),
          fmt::format("it asks for {} where the key of {} has {}: a value that is written in another way is not found",
                      spelled(meeting.asked), meeting.row.name(), spelled(meeting.kept)),
          fmt::format("write {}", spelled({.attribute = meeting.asked.attribute,
                                           .transform = meeting.kept.transform,
                                           .width = meeting.kept.width})));
    }
    const auto* given = type_of(query.pattern, meeting.asked.attribute);
    if (is_range(meeting.condition.comparison) &&
        moment_bytes(given, meeting.asked.transform) > moment_bytes(type, meeting.kept.transform) &&
        moment_bytes(type, meeting.kept.transform) > 0) {
      findings.error(
          query.about("operand-mismatch"),
          fmt::format(
              "it compares {} with {}, but the key of {} has a less exact time: rows of the same time are not found",
              spelled(meeting.asked), spelled(meeting.kept), meeting.row.name()),
          "ask for the time in the form of the key",
          "a request from '2023-01-31T00:00:00.000Z' on does not return '2023-01-31'");
    }
    const bool moments =
        moment_bytes(given, meeting.asked.transform) > 0 && moment_bytes(type, meeting.kept.transform) > 0;
    const bool kinds_differ = given != nullptr && type != nullptr && given->kind != type->kind && !moments;
    if (text && !differ && kinds_differ && is_range(meeting.condition.comparison) &&
        !common(hole_language(meeting.asked, given, kAsItIs, query.steps),
                hole_language(meeting.kept, type, kAsItIs, query.steps), query.steps)) {
      findings.error(
          query.about("operand-mismatch"),
          fmt::format("it compares {}, of type {}, with {} in the key of {}, of type {}: no text is of both types, so "
                      "it finds all rows or none",
                      spelled(meeting.asked), kind_name(given->kind), spelled(meeting.kept), meeting.row.name(),
                      kind_name(type->kind)),
          fmt::format("ask for a {}, or put an attribute of its own type into the key", kind_name(type->kind)));
    }
    const bool same_thing = meeting.asked.attribute == meeting.kept.attribute;
    const bool open_ended =
        is_free_text(type, query.steps) || (meeting.kept.width == 0 && is_number(type) && !has_fixed_digits(type));
    if (meeting.condition.comparison == Comparison::BeginsWith && meeting.last && meeting.goes_on && same_thing &&
        open_ended) {
      findings.error(
          query.about("open-prefix"),
          fmt::format("its prefix ends inside {}: it also finds longer values that begin with the requested one",
                      spelled(meeting.kept)),
          "end the prefix with the separator that follows in the key", "a request for 'a' also returns 'aa'");
    }
    if (is_range(meeting.condition.comparison) && meeting.last && !folds(meeting.asked.transform) &&
        is_free_text(type, query.steps) && is_free_text(given, query.steps)) {
      findings.warning(
          query.about("text-range"),
          fmt::format("it compares {} of {} as text without a fixed form: two spellings of one value are sorted apart, "
                      "and an upper bound leaves out longer values that begin with it",
                      meeting.kept.attribute, meeting.row.name()),
          "give it the type timestamp or date, which have one spelling of one width; leave the upper bound out "
          "(from, before)",
          "'2023-01-31T10:00:00Z' is not between '2023-01-01' and '2023-01-31'");
    }
  });
}

}  // namespace

void check_conditions(const CheckedPattern& query, Findings& findings) {
  find_under_reads(query, findings);
  find_over_reads(query, findings);
  find_forged_parameters(query, findings);
  find_mismatches(query, findings);
  find_shards(query, findings);
}

}  // namespace stator::model
