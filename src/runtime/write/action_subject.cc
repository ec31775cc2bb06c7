#include "stator/runtime/write/action_subject.h"

#include <algorithm>
#include <set>
#include <string>

#include "stator/model/expression/expression_tree.h"

namespace stator::runtime {
namespace {

using model::Action;
using model::Step;

// "/books/{bookId}/lend" has bookId.
std::set<std::string> names_in(const std::string& path) {
  std::set<std::string> names;
  for (auto open = path.find('{'); open != path.npos; open = path.find('{', open + 1)) {
    names.insert(path.substr(open + 1, path.find('}', open) - open - 1));
  }
  return names;
}

bool is_keyed_by(const Step& step, const std::set<std::string>& route) {
  std::set<std::string> names;
  for (const auto& assignment : step.key) {
    const auto& node = assignment.value.root();
    if (node.op != model::Expression::Node::Op::Input) return false;
    if (node.name != "me") names.insert(node.name);
  }
  return names == route;
}

}  // namespace

const Step* subject_step(const Action& action) {
  const auto names = names_in(action.path);
  const auto found = std::find_if(action.steps.begin(), action.steps.end(), [&](const Step& step) {
    return step.kind == Step::Kind::Read && !step.when && is_keyed_by(step, names);
  });
  return found == action.steps.end() ? nullptr : &*found;
}

bool has_versioned_subject(const Action& action) {
  if (const auto* step = subject_step(action)) {
    return std::any_of(step->entities.begin(), step->entities.end(),
                       [](const model::Entity* entity) { return entity->versioned; });
  }
  return action.within != nullptr && action.within->versioned;
}

}  // namespace stator::runtime
