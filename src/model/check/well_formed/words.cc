#include <fmt/format.h>

#include <algorithm>

#include "stator/model/check/well_formed/well_formed.h"

// Words of one entity, pattern or action that exclude each other.
namespace stator::model {
namespace {

// ------------------------------------------------------------------------------------------------------------ entities

void check_records(const EntitySyntax& syntax, Report& report) {
  for (const auto& word : syntax.beside_records)
    report.error(word.position, "contradiction",
                 fmt::format("an entity with `records` has {} in each of them, not beside them", word.text));
  for (const auto& word : syntax.of_first_record)
    report.error(word.position, "first-record",
                 word.text == "when" ? "the first record always exists; only the others can have a condition"
                                     : "the first record holds every attribute; only the others can have a list");
}

void check_operation_names(const OperationsSyntax& syntax, const Entity& entity, Report& report) {
  if (entity.path.empty() && !syntax.is_empty)
    report.error(syntax.position, "missing-word", "operations are routes, so they need a path");
  for (auto name = syntax.names.begin(); name != syntax.names.end(); ++name) {
    const auto is_same = [&](const Text& earlier) { return earlier.text == name->text; };
    if (!entity.can_have_operation(name->text)) {
      report.error(name->position, "contradiction",
                   entity.append_only ? fmt::format("an append_only entity has no {}", name->text)
                                      : fmt::format("{} is for entities with soft_delete", name->text));
    } else if (std::any_of(syntax.names.begin(), name, is_same)) {
      report.error(name->position, "repeated-word", fmt::format("{} is given twice", name->text));
    }
  }
}

void check_entity_words(const EntitySyntax& syntax, const Entity& entity, Report& report) {
  check_records(syntax, report);
  if (syntax.soft_delete && entity.append_only)
    report.error(*syntax.soft_delete, "contradiction", "an append_only entity is never deleted, softly or otherwise");
  if (syntax.keep && !entity.soft_delete->at)
    report.error(*syntax.keep, "missing-word", "keep counts from the deletion, so soft_delete needs the word at");
  for (const auto& granted : syntax.granted) {
    const bool is_read = granted.to.front() == &Entity::read;
    if (granted.condition && !is_read)
      report.error(*granted.condition, "contradiction", "only `read` can have a condition: writers must be signed in");
  }
  if (syntax.operations) check_operation_names(*syntax.operations, entity, report);
}

// ------------------------------------------------------------------------------------------------------------ patterns

bool has_word(const std::vector<Text>& words, std::string_view word) {
  return std::any_of(words.begin(), words.end(), [&](const Text& given) { return given.text == word; });
}

// A query gives one value for each attribute of a partition key.
void check_partition(const PatternSyntax& syntax, const Pattern& pattern, const TableDesign& table, Report& report) {
  for (const auto& attribute : table.key_of(pattern.index).partition) {
    if (!syntax.query || has_word(syntax.partition, attribute.name)) continue;
    report.error(*syntax.query, "missing-key",
                 fmt::format("a query of {} needs {}, which is in its partition key",
                             pattern.index == nullptr ? "the table" : pattern.index->name, attribute.name),
                 fmt::format("{}: \"...\"", attribute.name));
  }
  for (const auto& range : syntax.ranges)
    report.error(range.position, "partition-range",
                 fmt::format("{} is in the partition key, which is one value: a template and no range", range.text));
}

// Attributes of a sort key are given from the front, and only the last of them may be a range.
void check_sort(const PatternSyntax& syntax, const Pattern& pattern, const TableDesign& table, Report& report) {
  const KeyDesign* gap = nullptr;
  const PatternCondition* last = nullptr;
  for (const auto& attribute : table.key_of(pattern.index).sort) {
    const auto given = std::find_if(syntax.sort.begin(), syntax.sort.end(),
                                    [&](const Text& word) { return word.text == attribute.name; });
    if (given == syntax.sort.end()) {
      gap = gap == nullptr ? &attribute : gap;
      continue;
    }
    if (gap != nullptr)
      report.error(given->position, "missing-key",
                   fmt::format("{} comes after {} in the sort key, which is not given", attribute.name, gap->name));
    else if (last != nullptr && last->comparison != Comparison::Equal)
      report.error(given->position, "missing-key",
                   fmt::format("{} comes after {}, which is a range; only the last can be one", attribute.name,
                               last->attribute));
    const auto condition =
        std::find_if(pattern.sort.begin(), pattern.sort.end(),
                     [&](const PatternCondition& candidate) { return candidate.attribute == attribute.name; });
    if (condition != pattern.sort.end()) last = &*condition;
  }
}

void check_filter(const Written<Expression>& filter, Report& report) {
  visit_generators(filter, [&](Function generator, Position position) {
    const bool is_time = generator == Function::Now;
    report.error(position, "wrong-function",
                 fmt::format("{}() is for the steps of actions{}", name_of(generator),
                             is_time ? "; in a filter, :now is the time" : ""),
                 is_time ? ":now" : "");
  });
}

void check_pattern_words(const PatternSyntax& syntax, const Pattern& pattern, const TableDesign& table,
                         Report& report) {
  check_partition(syntax, pattern, table, report);
  check_sort(syntax, pattern, table, report);
  for (const auto& [condition, given] : syntax.lone_bounds)
    report.error(condition, "missing-word", "from and before belong together",
                 given == "from" ? "at_least: \"...\"" : "less: \"...\"");
  for (const auto position : syntax.overloaded)
    report.error(position, "contradiction", "a sort key has one condition; for two bounds, write between");
  if (pattern.filter) check_filter(syntax.row_conditions.front(), report);
  if (syntax.page && pattern.default_limit > pattern.max_limit)
    report.error(*syntax.page, "contradiction",
                 fmt::format("a page of {} is larger than the largest, {}", pattern.default_limit, pattern.max_limit));
}

// ------------------------------------------------------------------------------------------------------------- actions

void check_action_words(const ActionSyntax& syntax, const Action& action, Report& report) {
  const auto contradiction = [&](Position position, std::string message) {
    report.error(position, "contradiction", std::move(message));
  };
  for (const auto& word : syntax.other_routes)
    contradiction(word.position, fmt::format("an action has one route; {} gives it a second one", word.text));
  for (const auto& word : syntax.not_native)
    contradiction(word.position, fmt::format("a native action is carried out by C++, so it has no {}", word.text));
  if (syntax.accepts && !action.native)
    contradiction(*syntax.accepts, "only a native action takes another body than JSON");
  for (const auto position : syntax.no_bodies)
    report.error(position, "wrong-type", "\"none\" is no media type such as text/csv");
  if (action.method == "GET" && !action.native)
    contradiction(action.position, "only a native action can be a GET; an operation that only reads is a pattern");
  if (syntax.condition) contradiction(*syntax.condition, "an action has no condition; only read access can have one");
  for (const auto& step : syntax.steps) {
    for (const auto& word : step.others)
      contradiction(word.position, fmt::format("a step does one thing: {} is a step of its own", word.text));
  }
}

}  // namespace

void check_words(const Syntax& syntax, const Model& model, Report& report) {
  for (const auto& [name, what] : syntax.reserved)
    report.error(name.position, "reserved-name",
                 what == "a grant"
                     ? fmt::format("a grant cannot be called {}: in `access` that means something else", name.text)
                     : fmt::format("{} cannot be called {}: that name has another meaning in templates and expressions",
                                   what, name.text));
  for (std::size_t i = 0; i < model.entities.size(); ++i)
    check_entity_words(syntax.entities[i], model.entities[i], report);
  for (std::size_t i = 0; i < model.patterns.size(); ++i)
    check_pattern_words(syntax.patterns[i], model.patterns[i], model.table, report);
  for (std::size_t i = 0; i < model.actions.size(); ++i)
    check_action_words(syntax.actions[i], model.actions[i], report);
}

}  // namespace stator::model
