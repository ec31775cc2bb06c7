// Repository::perform: a named transaction of steps.
#include <algorithm>
#include <map>

#include "stator/model/body_shape.h"
#include "stator/model/expression/expression_tree.h"
#include "stator/runtime/access.h"
#include "stator/runtime/object.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/repository_state.h"
#include "stator/runtime/write/action_subject.h"
#include "stator/runtime/write/given.h"

namespace stator::runtime {
namespace {

using model::Action;
using model::Assignment;
using model::Entity;
using model::Expression;
using model::Model;
using model::Step;
using value::AttributeValue;
using value::Item;

// Attributes that expressions read, by the step that they belong to.
using Reads = std::map<std::string, std::set<std::string>>;

// `own` is the step whose attributes stand without its name; empty: none.
void collect_reads(const Expression::Node& node, const Action& action, const std::string& own, Reads& reads) {
  if (node.op == Expression::Node::Op::Path) {
    const bool is_step =
        std::any_of(action.steps.begin(), action.steps.end(), [&](const Step& step) { return step.as == node.name; });
    const auto* member = node.steps.empty() ? nullptr : std::get_if<std::string>(&node.steps.front());
    if (is_step && member != nullptr) reads[node.name].insert(*member);
    if (!is_step && !own.empty()) reads[own].insert(node.name);
  }
  for (const auto& operand : node.operands) collect_reads(operand, action, own, reads);
}

Reads reads_of(const Action& action) {
  Reads reads;
  for (const auto& step : action.steps) {
    const auto& own = step.kind == Step::Kind::Update ? step.as : std::string();
    for (const auto* list : {&step.key, &step.set}) {
      for (const auto& assignment : *list) collect_reads(assignment.value.root(), action, own, reads);
    }
    if (step.that) collect_reads(step.that->root(), action, {}, reads);
    if (step.when) collect_reads(step.when->root(), action, {}, reads);
  }
  return reads;
}

ProblemKind kind_of(int status) {
  switch (status) {
    case 400: return ProblemKind::Invalid;
    case 401: return ProblemKind::Unauthenticated;
    case 403: return ProblemKind::Forbidden;
    case 404: return ProblemKind::NotFound;
    case 412: return ProblemKind::PreconditionFailed;
    case 413: return ProblemKind::TooLarge;
    case 429: return ProblemKind::Busy;
    default: return ProblemKind::Conflict;
  }
}

// Puts the transaction of one action together.  Confined to one attempt.
class ActionRun {
 public:
  ActionRun(Context& context, Transaction& transaction, const Action& action, const Item& inputs, const Caller& caller,
            const Precondition& precondition)
      : context_(context),
        model_(*context.model),
        transaction_(transaction),
        action_(action),
        inputs_(inputs),
        caller_(caller),
        precondition_(precondition),
        subject_(subject_step(action)) {}

  Result<std::optional<Object>, Problem> run() {
    TRY(admit());
    for (const auto& step : action_.steps) {
      if (step.when && !TRY(checked(step.when->holds(scope())))) continue;
      switch (step.kind) {
        case Step::Kind::Read: TRY(read(step)); break;
        case Step::Kind::Check: TRY(check(step)); break;
        case Step::Kind::Create: TRY(create(step)); break;
        case Step::Kind::Update: TRY(update(step)); break;
        case Step::Kind::Delete: TRY(remove(step)); break;
      }
    }
    const auto reads = reads_of(action_);
    for (const auto& [name, draft] : drafts_) {
      const auto names = reads.find(name);
      transaction_.depend_on(*draft, names == reads.end() ? std::set<std::string>() : names->second);
    }
    if (!action_.result) return std::optional<Object>();
    const auto found = drafts_.find(*action_.result);
    if (found == drafts_.end() || !found->second->after) return std::optional<Object>();
    return std::optional(to_object(model_, *found->second->entity, *found->second->after));
  }

 private:
  // Whether the caller may do this, and whose rows it is about.
  Result<void, Problem> admit() {
    TRY(check_caller(action_.access, caller_));
    lets_all_in_ = lets_in(action_.access, caller_);
    if (caller_.subject) {
      owner_ = AttributeValue::string(*caller_.subject);
      inputs_.set("me", *owner_);
    }
    inputs_.set("now", context_.generator.call("now"));
    if (action_.within == nullptr) return {};
    const auto seen = TRY(find_within(transaction_, model_, action_, inputs_, caller_, false));
    if (seen.grant != nullptr) {
      const auto& entity = *seen.draft->entity;
      if (const auto* owner = entity.owner ? seen.draft->after->find(*entity.owner) : nullptr) owner_ = *owner;
    }
    return subject_ == nullptr ? expect(*seen.draft) : Result<void, Problem>();
  }

  // That what the action is about is as the request expects it to be, and stays so until the commit.
  Result<void, Problem> expect(const Draft& subject) {
    if (!precondition_.is_given()) return {};
    const auto version = subject.before ? std::optional(version_of(model_.table, *subject.before)) : std::nullopt;
    if (!precondition_.holds(version)) return version_mismatch();
    transaction_.depend_on(subject, {});
    return {};
  }

  // Names are steps; without one, attributes of `own`.
  Expression::Scope scope(const Draft* own = nullptr) {
    return {.attribute = [this, own](std::string_view name) -> const AttributeValue* {
              const auto step = values_.find(name);
              if (step != values_.end()) return &step->second;
              return own == nullptr || !own->after ? nullptr : own->after->find(name);
            },
            .input = [this](std::string_view name) { return inputs_.find(name); },
            .generate = [this](std::string_view function) { return context_.generator.call(function); }};
  }

  void remember(const std::string& name, Draft* draft) {
    if (!name.empty()) drafts_[name] = draft;
    for (const auto& [known, other] : drafts_) {  // one entity can have been read under two names
      if (other != draft) continue;
      if (draft->after)
        values_.insert_or_assign(known, AttributeValue(*draft->after));
      else
        values_.erase(known);
    }
  }

  Result<model::PlainObject, Problem> evaluate(const std::vector<Assignment>& assignments, const Draft* own = nullptr) {
    model::PlainObject result;
    for (const auto& assignment : assignments) {
      auto content = TRY(checked(assignment.value.evaluate(scope(own))));
      if (content)
        result.values.set(assignment.attribute, std::move(*content));
      else
        result.nulls.push_back(assignment.attribute);
    }
    return result;
  }

  Item with_owner(const Entity& entity, Item attributes) const {
    const auto* owner = entity.owner_attribute;
    const bool copied = owner != nullptr && owner->copy_of;  // the parent says whose it is
    if (owner != nullptr && owner_ && !copied && attributes.find(owner->name) == nullptr) {
      attributes.set(owner->name, *owner_);
    }
    return attributes;
  }

  // Whether the row belongs to whom this action is about.
  bool is_own(const Draft& draft) const {
    if (lets_all_in_ || !draft.entity->owner) return true;
    const auto* owner = draft.after->find(*draft.entity->owner);
    return owner != nullptr && owner_ && *owner == *owner_;
  }

  Result<void, Problem> read(const Step& step) {
    const auto key = TRY(evaluate(step.key)).values;
    for (const auto* entity : step.entities) {
      auto* draft = TRY(transaction_.load(*entity, with_owner(*entity, key)));
      if (draft == nullptr || !TRY(transaction_.is_present(*draft))) continue;
      if (!is_own(*draft) && !TRY(lets_in(entity->read, *entity, *draft->after, caller_))) continue;
      remember(step.as, draft);
      return &step == subject_ ? expect(*draft) : Result<void, Problem>();
    }
    if (!step.optional) return refusal(step, key);
    if (&step == subject_ && !precondition_.holds(std::nullopt)) return version_mismatch("there is none yet");
    for (const auto* entity : step.entities) {
      TRY(transaction_.depend_on_absence(*entity, with_owner(*entity, key)));
    }
    return {};
  }

  // Why something cannot be read: it may be there for the caller through a grant, which does not let them do this.
  Result<void, Problem> refusal(const Step& step, const Item& key) {
    for (const auto* entity : step.entities) {
      const auto seen = find_visible(transaction_, model_, *entity, key, caller_, false);
      if (seen.ok() && seen->grant != nullptr) return forbidden();
    }
    const auto& entity = *step.entities.front();
    const auto& identity = entity.identity;
    const bool own = std::all_of(identity.begin(), identity.end(), [&](const std::string& name) {
      return name == entity.owner && key.find(name) == nullptr;
    });
    return own ? no_own(model_, entity) : no_such(step.entities);
  }

  Result<void, Problem> check(const Step& step) {
    if (TRY(checked(step.that->holds(scope())))) return {};
    return Problem{kind_of(step.failure.status), step.failure.code, step.failure.message, blamed(step)};
  }

  // The inputs that a check objects to, where it is the request that is wrong.
  std::vector<model::ValueProblem> blamed(const Step& step) const {
    std::vector<model::ValueProblem> details;
    if (kind_of(step.failure.status) != ProblemKind::Invalid) return details;
    for (const auto& name : step.that->inputs()) {
      if (name != "me" && name != "now") details.push_back({name, step.failure.message});
    }
    return details;
  }

  // An action that is for anyone's rows may point at anyone's.
  Result<void, Problem> check_its_parents(const Draft& draft) {
    if (lets_all_in_) return {};
    return check_parents(transaction_, context_, draft, caller_);
  }

  // By which inputs this step gives an attribute of its entity.
  std::vector<GivenName> names_of(const Step& step, const Entity& entity, const std::string& attribute) const {
    const auto found = std::find_if(step.set.begin(), step.set.end(),
                                    [&](const Assignment& one) { return one.attribute == attribute; });
    std::vector<GivenName> names;
    if (found != step.set.end()) {
      for (const auto& input : found->value.inputs()) {
        if (input == "me" || input == "now") continue;
        names.push_back({input, model::has_parameter(action_.path, input) ? NamedIn::Address : NamedIn::Body});
      }
    } else if (const auto* declared = entity.find_attribute(attribute); declared != nullptr && declared->derived) {
      for (const auto& source : declared->derived->paths()) {
        for (auto& name : names_of(step, entity, source)) names.push_back(std::move(name));
      }
    }
    if (names.empty()) names.push_back({attribute, NamedIn::Elsewhere});
    return names;
  }

  void name_by(const Step& step) {
    transaction_.name_by([this, &step](const Entity& entity, const std::string& attribute) {
      return names_of(step, entity, attribute);
    });
  }

  Result<void, Problem> create(const Step& step) {
    name_by(step);
    const auto& entity = *step.entities.front();
    auto given = TRY(evaluate(step.set)).values;
    auto* draft = TRY(transaction_.create(entity, with_owner(entity, std::move(given)), ValueSource::Model));
    TRY(check_its_parents(*draft));
    if (!lets_all_in_) TRY(check_copied_owner(*draft, caller_));
    remember(step.as, draft);
    return {};
  }

  // The entity that an earlier step names; null when that step was left out.
  Result<Draft*, Problem> named(const Step& step) {
    const auto found = drafts_.find(step.as);
    if (found == drafts_.end() || !found->second->after) return nullptr;
    if (!is_own(*found->second)) return forbidden();
    return found->second;
  }

  Result<void, Problem> update(const Step& step) {
    auto* draft = TRY(named(step));
    if (draft == nullptr) return {};
    name_by(step);
    TRY(transaction_.change(*draft, TRY(evaluate(step.set, draft)), ValueSource::Model));
    TRY(check_its_parents(*draft));
    remember(step.as, draft);
    return {};
  }

  Result<void, Problem> remove(const Step& step) {
    auto* draft = TRY(named(step));
    if (draft == nullptr) return {};
    if (draft->entity->append_only) return conflict("AppendOnly", draft->entity->name + " is never removed");
    TRY(draft->entity->soft_delete ? transaction_.soft_delete(*draft) : transaction_.remove(*draft));
    remember(step.as, draft);
    return {};
  }

  Context& context_;
  const Model& model_;
  Transaction& transaction_;
  const Action& action_;
  Item inputs_;
  const Caller& caller_;
  const Precondition& precondition_;
  const Step* const subject_;  // whose entity the precondition is of; null: what the action is within, if anything
  bool lets_all_in_ = false;
  std::optional<AttributeValue> owner_;  // of rows whose key does not say: the caller, or who granted
  std::map<std::string, Draft*> drafts_;
  std::map<std::string, AttributeValue, std::less<>> values_;  // what expressions see of them
};

}  // namespace

Result<std::optional<Object>, Problem> Repository::perform(const Action& action, const Item& inputs,
                                                           const Caller& caller, const Precondition& precondition) {
  auto given = inputs;
  auto problems = check_inputs(action.inputs, given);
  if (!problems.empty()) return invalid(std::move(problems));
  return runtime::transact(state_->context, [&](Transaction& transaction) {
    return ActionRun(state_->context, transaction, action, given, caller, precondition).run();
  });
}

}  // namespace stator::runtime
