#include "stator/model/generate/operations_document.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "stator/base/article.h"
#include "stator/model/generate/markdown.h"
#include "stator/model/generate/words.h"

namespace stator::model::generate {
namespace {

// "`prefix`: string, required": what is given with a request, one line each.
void write_inputs(std::string& out, const std::vector<Attribute>& inputs) {
  for (const auto& input : inputs) {
    const auto rules = input_words(input);
    out += fmt::format("- `{}`: {}{}{}{}\n", input.name, type_words(input.type), rules.empty() ? "" : "; ", rules,
                       input.description.empty() ? "" : fmt::format(". {}", cell(input.description)));
  }
}

// ------------------------------------------------------------------------------------------------------------ patterns

std::string returned_words(const Pattern& pattern) {
  std::vector<std::string> words;
  for (const auto& returned : pattern.returns) {
    const auto& [entity, record, position] = returned;
    words.push_back(record->name == "main" ? entity->name : fmt::format("{} ({})", entity->name, record->name));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string order_words(const Pattern& pattern) {
  const auto one = [](Order order) { return order == Order::Descending ? "descending" : "ascending"; };
  return pattern.order == Order::Asked ? fmt::format("as asked, or {}", one(pattern.default_order))
                                       : one(pattern.order);
}

void write_answer(std::string& out, const Pattern& pattern) {
  if (pattern.within != nullptr)
    out += fmt::format("- Within {} that the caller may see.\n", with_article(pattern.within->name));
  if (!pattern.sorted_by.empty()) out += fmt::format("- Sorted by `{}`.\n", fmt::join(pattern.sorted_by, "`, `"));
  if (pattern.nest) {
    const auto& nest = *pattern.nest;
    std::vector<std::string_view> children;
    for (const auto& child : nest.children) children.push_back(child.entity->name);
    out += fmt::format("- Each {} has its {} as `{}`, by their relation `{}`.\n", nest.parent->name,
                       fmt::join(children, ", "), nest.as, nest.relation);
  }
  for (const auto& join : pattern.joins) {
    const auto what = join.attributes.empty() ? std::string("all served attributes")
                                              : fmt::format("`{}`", fmt::join(join.attributes, "`, `"));
    out +=
        fmt::format("- Each has the row that its relation `{}` leads to as `{}`: {}.\n", join.relation, join.as, what);
  }
  if (pattern.consistent) out += "- Read consistently.\n";
  if (pattern.shards() > 1) out += fmt::format("- Reads {} shards and merges them.\n", pattern.shards());
  out += pattern.single ? "- One, or 404.\n"
                        : fmt::format("- Pages of {}, at most {}.\n", pattern.default_limit, pattern.max_limit);
}

// ------------------------------------------------------------------------------------------------------------- actions

void write_action(std::string& out, const Action& action) {
  out += fmt::format("\n### {}\n\n`{} {}`, for: {}. {}\n\n", action.name, action.method, action.path,
                     access_words(action.access), action.native ? "In C++." : "One transaction.");
  if (!action.description.empty()) out += action.description + "\n\n";
  if (action.within != nullptr)
    out += fmt::format("Within {} that the caller may see.\n\n", with_article(action.within->name));
  if (!action.accepts.empty()) out += fmt::format("Takes a body of type {}.\n\n", fmt::join(action.accepts, ", "));
  write_inputs(out, action.inputs);
  if (!action.inputs.empty() && !action.steps.empty()) out += "\n";
  int number = 1;
  for (const auto& step : action.steps) out += fmt::format("{}. {}\n", number++, step_words(step));
  if (action.result) out += fmt::format("\nAnswers with `{}`.\n", *action.result);
}

}  // namespace

void write_patterns(std::string& out, const Model& model) {
  if (model.patterns.empty()) return;
  out += "\n## Access patterns\n\n";
  MarkdownTable rows(out, {"pattern", "route", "index", "key condition", "order", "returns", "who", "purpose"});
  for (const auto& pattern : model.patterns) {
    auto condition = code(condition_words(pattern));
    if (pattern.filter) condition += ", filtered by " + code(pattern.filter->text());
    rows.row({code(pattern.name), pattern.path.empty() ? "" : code("GET " + pattern.path),
              pattern.index != nullptr ? code(pattern.index->name) : "table", condition, order_words(pattern),
              cell(returned_words(pattern)), cell(access_words(pattern.access)), cell(pattern.description)});
  }
  for (const auto& pattern : model.patterns) {
    out += fmt::format("\n### Pattern {}\n\n", pattern.name);
    write_inputs(out, pattern.parameters);
    write_answer(out, pattern);
  }
}

void write_actions(std::string& out, const Model& model) {
  if (model.actions.empty()) return;
  out += "\n## Actions\n";
  for (const auto& action : model.actions) write_action(out, action);
}

void write_grants(std::string& out, const Model& model) {
  if (model.grants.empty()) return;
  out += "\n## Grants\n\n";
  MarkdownTable rows(out, {"grant", "pointer", "found by", "gives", "description"});
  for (const auto& grant : model.grants) {
    std::vector<std::string> key;
    for (const auto& [theirs, ours] : grant.key) key.push_back(fmt::format("`{}` = `{}`", theirs, ours));
    std::vector<std::string> gives;
    for (const auto& [ours, theirs] : grant.gives) gives.push_back(fmt::format("`{}` = its `{}`", ours, theirs));
    rows.row({code(grant.name), grant.pointer->name, fmt::format("{}", fmt::join(key, ", ")),
              fmt::format("{}", fmt::join(gives, ", ")), cell(grant.description)});
  }
}

}  // namespace stator::model::generate
