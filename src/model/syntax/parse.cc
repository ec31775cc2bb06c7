#include "stator/model/syntax/parse.h"

#include <fmt/format.h>

#include <algorithm>

#include "stator/model/expression/expression_tree.h"

namespace stator::model {
namespace {

void parse_name(const YamlNode& node, Syntax& syntax, Report& report) {
  const auto name = read_text(node, "the name of a model", report);
  if (!name) return;
  const auto is_fine = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  if (name->text.empty() || name->text.size() > 63 || name->text.front() == '-' || name->text.back() == '-' ||
      !std::all_of(name->text.begin(), name->text.end(), is_fine))
    report.error(
        name->position, "bad-name",
        fmt::format("the name of a model has lower-case letters, digits and dashes: \"{}\" cannot be one", name->text));
  syntax.name = name->text;
}

void parse_acceptance(const YamlNode& node, Syntax& syntax, Report& report) {
  Words words(node, "an accepted finding", report);
  Acceptance acceptance;
  acceptance.position = node.position;
  const auto take = [&](const YamlNode* value, std::string_view what, std::string& member) {
    if (value == nullptr) return;
    if (const auto text = read_text(*value, what, report)) member = text->text;
  };
  take(words.need("finding"), "a finding", acceptance.finding);
  take(words.find("on"), "the subject of the finding", acceptance.on);
  take(words.need("because"), "the reason", acceptance.because);
  words.done();
  syntax.accepted.push_back(std::move(acceptance));
}

void visit_nodes(const Expression::Node& node, const std::function<void(const Expression::Node& node)>& visit) {
  visit(node);
  for (const auto& operand : node.operands) visit_nodes(operand, visit);
}

}  // namespace

std::string parse_description(Words& words, Report& report) {
  const YamlNode* node = words.find("description");
  const auto text = node == nullptr ? std::nullopt : read_text(*node, "a description", report);
  return text ? text->text : std::string();
}

void visit_names(const Written<Expression>& expression,
                 const std::function<void(const Expression::Node& name, Position position)>& visit) {
  using Op = Expression::Node::Op;
  visit_nodes(expression.value.root(), [&](const Expression::Node& node) {
    if (node.op == Op::Path || node.op == Op::Input) visit(node, expression.source.at(node.column - 1));
  });
}

void visit_generators(const Written<Expression>& expression,
                      const std::function<void(Function generator, Position position)>& visit) {
  visit_nodes(expression.value.root(), [&](const Expression::Node& node) {
    const bool generates =
        node.function == Function::Now || node.function == Function::Uuid || node.function == Function::Ulid;
    if (node.op == Expression::Node::Op::Call && generates) visit(node.function, expression.source.at(node.column - 1));
  });
}

Syntax parse(const YamlNode& root, Report& report) {
  Syntax syntax;
  Words words(root, "a model", report);
  if (const YamlNode* name = words.need("model")) parse_name(*name, syntax, report);
  syntax.description = parse_description(words, report);
  if (const YamlNode* table = words.need("table")) parse_table(*table, syntax.table, report);
  const auto each = [&](const YamlNode* members, std::string_view what,
                        void (*parse_member)(const YamlNode&, Syntax&, Report&)) {
    if (members == nullptr) return;
    for (const auto& member : read_members(*members, what, report)) parse_member(member, syntax, report);
  };
  each(words.find("grants"), "`grants`", parse_grant);
  each(words.need("entities"), "`entities`", parse_entity);
  each(words.find("patterns"), "`patterns`", parse_pattern);
  each(words.find("actions"), "`actions`", parse_action);
  if (const YamlNode* accepted = words.find("accept")) {
    for (const auto& item : read_list(*accepted)) parse_acceptance(item, syntax, report);
  }
  words.done();
  return syntax;
}

}  // namespace stator::model
