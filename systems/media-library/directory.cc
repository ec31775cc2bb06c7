#include "stator/systems/media-library/directory.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "stator/expr/build.h"
#include "stator/model/expression/template.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/write/given.h"
#include "stator/runtime/write/transaction.h"
#include "stator/systems/media-library/native_support.h"

namespace stator::systems::media_library {
namespace {

using runtime::Problem;
using runtime::ProblemKind;
using value::AttributeValue;
using value::Item;

constexpr std::chrono::minutes kBelieved{1};
constexpr std::size_t kMostRemembered = 10'000;

const model::Entity& user_entity(const runtime::Repository& repository) {
  return *repository.model().find_entity("USER");
}

Item entry_of(const app::TokenUser& identity) {
  return {{"Email", AttributeValue::string(identity.email)}, {"Name", AttributeValue::string(identity.name)}};
}

}  // namespace

Directory::Directory(runtime::Repository& repository, const Clock& clock)
    : repository_(repository), clock_(clock), dynamo_(repository.client(), random_, clock) {}

Result<void, Problem> Directory::check_entry(const runtime::Draft& user) {
  if (user.before || !TRY(has_remains(user.after->text("UserId")))) return {};
  return runtime::still_going(user.entity->name);
}

// The rows of a user are in one partition, each library in front of what is in it.  A cascade removes the library
// first.
Result<bool, Problem> Directory::has_remains(const std::string& subject) {
  const auto& model = repository_.model();
  const auto& table = model.table;
  const auto partition = AttributeValue::string("owner#" + model::escape(subject));
  runtime::QueryRequest request;
  request.page.table = table.name;
  request.page.consistent = true;
  request.page.limit = 1;
  request.condition.terms = {expr::key_equals(table.partition.name, partition),
                             expr::key_begins_with(table.sort->name, AttributeValue::string("library#"))};
  while (true) {
    const auto page = TRY(dynamo_.query(request));
    if (page.items.empty()) return false;
    const auto& row = page.items.front();
    const bool is_library = row.text(table.type_attribute) == "LIBRARY";
    if (!is_library || row.find("OwnerName") != nullptr) return true;
    // The next library: '$' is the character behind '#', which begins what is in this one.
    request.page.start = Item{{table.partition.name, partition},
                              {table.sort->name, AttributeValue::string(row.text(table.sort->name) + '$')}};
  }
}

Result<void, Problem> Directory::look_at(const app::RouteMatch& match, const app::RestCall& call) {
  const auto* identity = call.user;
  if (identity == nullptr || identity->email.empty()) return {};
  const auto* target = std::get_if<app::EntityTarget>(&match.route->target);
  const bool own_entry = target != nullptr && target->entity == &user_entity(repository_);
  if (own_entry && target->operation == app::EntityOperation::Put) return check_address(call);
  if (own_entry && target->operation == app::EntityOperation::Delete) {
    forget(*identity->caller.subject);
  } else if (!identity->name.empty()) {
    enter(*identity);
  }
  return {};
}

Result<void, Problem> Directory::check_address(const app::RestCall& call) const {
  const auto& user = user_entity(repository_);
  std::vector<model::ValueProblem> problems;
  auto given = model::read_plain_json(call.body.empty() ? "{}" : call.body, user.attributes, problems);
  if (!given || given->values.find("Email") == nullptr) return {};  // the route reports the mistake
  for (auto& one : runtime::check_new(user, given->values, runtime::ValueSource::Request)) {
    problems.push_back(std::move(one));
  }
  if (std::ranges::find(problems, "Email", &model::ValueProblem::attribute) != problems.end()) return {};
  auto own = entry_of(*call.user);
  runtime::check_new(user, own, runtime::ValueSource::Request);
  if (own.text("Email") == given->values.text("Email")) return {};
  problems.push_back({.attribute = "Email", .problem = "is not the address in your token"});
  return runtime::invalid(std::move(problems));
}

void Directory::enter(const app::TokenUser& identity) {
  const auto& subject = *identity.caller.subject;
  if (!remembers(subject) && enter_if_absent(identity)) remember(subject);
}

bool Directory::enter_if_absent(const app::TokenUser& identity) {
  const auto& user = user_entity(repository_);
  if (repository_.get(user, {}, identity.caller)) return true;
  const auto created = repository_.create(user, entry_of(identity), identity.caller);
  if (created) return true;
  // Another user has the address, or it is not valid here.  Rows of a former user with this id may also still be
  // waiting for their deletion.
  return created.error().kind == ProblemKind::Invalid || created.error().code == "Duplicate";
}

bool Directory::remembers(const std::string& subject) {
  MutexLock lock(mutex_);
  const auto found = entered_.find(subject);
  return found != entered_.end() && clock_.now() < found->second;
}

void Directory::remember(const std::string& subject) {
  MutexLock lock(mutex_);
  if (entered_.size() >= kMostRemembered) entered_.clear();
  entered_.insert_or_assign(subject, clock_.now() + kBelieved);
}

void Directory::forget(const std::string& subject) {
  MutexLock lock(mutex_);
  entered_.erase(subject);
}

}  // namespace stator::systems::media_library
