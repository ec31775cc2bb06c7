#include <algorithm>
#include <map>

#include "stator/model/expression/expression_tree.h"
#include "stator/model/resolve/resolver.h"

namespace stator::model {
namespace {

using Node = Expression::Node;

// Answers each question once, however often copies and expressions come back to it.
class AlwaysThere {
 public:
  bool is_there(const Entity& entity, const Attribute& attribute) {
    const auto [answer, first] = answers_.emplace(&attribute, false);  // false in a circle
    if (first) answer->second = is_given(entity, attribute) || is_computed(entity, attribute);
    return answer->second;
  }

 private:
  static bool is_given(const Entity& entity, const Attribute& attribute) {
    return attribute.required || attribute.default_value || attribute.generated != Generated::No || attribute.updated ||
           attribute.count || attribute.sum || attribute.last || (attribute.next && attribute.next->in_every_row()) ||
           entity.is_named_by(attribute.name);
  }

  bool is_computed(const Entity& entity, const Attribute& attribute) {
    if (attribute.derived) return has_value(entity, attribute.derived->root());
    if (!attribute.copy_of) return false;
    const auto& relation = *attribute.copy_of->through;
    const bool holds = !relation.optional && relation.must_exist && !relation.when;
    return holds && is_there(*relation.to, *attribute.copy_of->from);
  }

  // Whether it is never null.
  bool has_value(const Entity& entity, const Node& node) {
    switch (node.op) {
      case Node::Op::Literal: return node.value.has_value();
      case Node::Op::Path: {
        const Attribute* read = entity.find_attribute(node.name);
        return node.steps.empty() && read != nullptr && is_there(entity, *read);
      }
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

  std::map<const Attribute*, bool> answers_;
};

}  // namespace

void derive_always_there(Model& model) {
  AlwaysThere always_there;
  for (auto& entity : model.entities) {
    for (auto& attribute : entity.attributes) attribute.always_there = always_there.is_there(entity, attribute);
  }
}

}  // namespace stator::model
