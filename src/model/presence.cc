#include "stator/model/presence.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "stator/model/expression/expression_tree.h"

namespace stator::model {
namespace {

using Node = Expression::Node;

// Answers each question once, however often copies and expressions come back to it.
class Presence {
 public:
  explicit Presence(const Model& model) : model_(model) {}

  bool is_there(const Entity& entity, std::string_view name) {
    const auto [answer, first] = answers_.emplace(std::pair(&entity, std::string(name)), false);  // false in a circle
    if (!first) return answer->second;
    const auto* attribute = entity.find_attribute(name);
    answer->second = attribute != nullptr && (is_given(entity, *attribute) || is_computed(entity, *attribute));
    return answer->second;
  }

 private:
  bool is_given(const Entity& entity, const Attribute& attribute) const {
    if (attribute.required || attribute.default_value || attribute.generated != Generated::No || attribute.updated ||
        attribute.count || attribute.sum || attribute.last || (attribute.next && attribute.next->in_every_row())) {
      return true;
    }
    const auto identity = entity.identity(model_.table);
    return std::find(identity.begin(), identity.end(), attribute.name) != identity.end();
  }

  bool is_computed(const Entity& entity, const Attribute& attribute) {
    if (attribute.derived) return has_value(entity, attribute.derived->root());
    if (!attribute.copy_of) return false;
    const auto& relation = *attribute.copy_of->through;
    const bool holds = !relation.optional && relation.must_exist && !relation.when;
    return holds && is_there(*relation.to, attribute.copy_of->attribute);
  }

  // Whether it is never null.
  bool has_value(const Entity& entity, const Node& node) {
    switch (node.op) {
      case Node::Op::Literal: return node.value.has_value();
      case Node::Op::Path: return node.steps.empty() && is_there(entity, node.name);
      case Node::Op::Input: return false;
      case Node::Op::Add:
      case Node::Op::Subtract:
      case Node::Op::Multiply:
      case Node::Op::Divide: return all_have_values(entity, node.operands);
      case Node::Op::Call: return result_has_value(entity, node);
      default: return true;  // conditions are true or false, whatever they compare
    }
  }

  bool result_has_value(const Entity& entity, const Node& call) {
    switch (call.function) {
      case Function::AttributeExists:
      case Function::AttributeNotExists:
      case Function::AttributeType:
      case Function::BeginsWith:
      case Function::Contains:
      case Function::ListAppend: return true;
      case Function::If: return has_value(entity, call.operands[1]) && has_value(entity, call.operands[2]);
      case Function::IfNotExists:
      case Function::Coalesce:
      case Function::Min:
      case Function::Max:
        return std::any_of(call.operands.begin(), call.operands.end(),
                           [&](const Node& each) { return has_value(entity, each); });
      default: return all_have_values(entity, call.operands);
    }
  }

  bool all_have_values(const Entity& entity, const std::vector<Node>& nodes) {
    return std::all_of(nodes.begin(), nodes.end(), [&](const Node& each) { return has_value(entity, each); });
  }

  const Model& model_;
  std::map<std::pair<const Entity*, std::string>, bool> answers_;
};

}  // namespace

bool is_always_there(const Model& model, const Entity& entity, std::string_view attribute) {
  return Presence(model).is_there(entity, attribute);
}

}  // namespace stator::model
