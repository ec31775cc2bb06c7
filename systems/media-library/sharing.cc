#include "stator/systems/media-library/sharing.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "stator/app/rest/answer.h"
#include "stator/model/expression/template.h"
#include "stator/runtime/object.h"
#include "stator/runtime/write/transaction.h"
#include "stator/systems/media-library/native_support.h"

namespace stator::systems::media_library {
namespace {

using runtime::Draft;
using runtime::Problem;
using runtime::ProblemKind;
using runtime::Transaction;
using runtime::ValueSource;
using value::AttributeValue;
using value::Item;

// The people of a library: SharedTo and SharedToIds, side by side.
class Recipients {
 public:
  explicit Recipients(const Item& library) : emails_(texts(library, "SharedTo")), ids_(texts(library, "SharedToIds")) {
    ids_.resize(emails_.size());
  }

  std::size_t size() const { return emails_.size(); }
  std::optional<std::size_t> find_email(std::string_view email) const {
    const auto found = std::ranges::find(emails_, email);
    return found != emails_.end() ? std::optional(static_cast<std::size_t>(found - emails_.begin())) : std::nullopt;
  }
  std::optional<std::size_t> find_id(const std::string& id) const {
    const auto found = std::ranges::find(ids_, id);
    return found != ids_.end() ? std::optional(static_cast<std::size_t>(found - ids_.begin())) : std::nullopt;
  }
  const std::string& id(std::size_t at) const { return ids_[at]; }

  void add(const std::string& email, const std::string& id) {
    emails_.push_back(email);
    ids_.push_back(id);
  }
  void remove(std::size_t at) {
    emails_.erase(emails_.begin() + static_cast<std::ptrdiff_t>(at));
    ids_.erase(ids_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  model::PlainObject as_change() const {
    if (emails_.empty()) return {.values = {}, .nulls = {"SharedTo", "SharedToIds"}};
    model::PlainObject change;
    change.values.set("SharedTo", list(emails_));
    change.values.set("SharedToIds", list(ids_));
    return change;
  }

 private:
  static std::vector<std::string> texts(const Item& library, std::string_view name) {
    std::vector<std::string> out;
    const auto* found = library.find(name);
    if (found == nullptr || found->as_list() == nullptr) return out;
    for (const auto& member : *found->as_list())
      out.push_back(member.as_string() ? *member.as_string() : std::string());
    return out;
  }
  static AttributeValue list(const std::vector<std::string>& texts) {
    value::List members;
    for (const auto& text : texts) members.push_back(AttributeValue::string(text));
    return AttributeValue(std::move(members));
  }

  std::vector<std::string> emails_, ids_;
};

runtime::Problem unknown_user() {
  return app::problem(ProblemKind::NotFound, "UnknownUser", "nobody has signed in with this e-mail address");
}

Item pointer_naming(const std::string& recipient, const Item& library) {
  auto naming = chosen(library, {"LibraryId"});
  naming.set("SharedToId", AttributeValue::string(recipient));
  return naming;
}

// The pointer of a recipient to this library; null when there is none.
Result<Draft*, Problem> find_pointer(Transaction& transaction, const model::Model& model, const std::string& recipient,
                                     const Item& library) {
  if (recipient.empty()) return nullptr;
  auto* pointer = TRY(transaction.load(*model.find_entity("SHARED_LIBRARY"), pointer_naming(recipient, library)));
  const bool ours = pointer != nullptr && pointer->after->text("SharedFromId") == library.text("OwnerId");
  return ours ? pointer : nullptr;
}

// Removes recipients who have left and so cannot read the library any more.  Only when the list is full: until then the
// owner can still unshare by the old address.
Result<void, Problem> drop_departed(Transaction& transaction, const model::Model& model, Recipients& recipients,
                                    const Item& library) {
  for (auto at = recipients.size(); at-- > 0;) {
    const Item naming = {{"UserId", AttributeValue::string(recipients.id(at))}};
    const bool is_there = TRY(find_pointer(transaction, model, recipients.id(at), library)) != nullptr &&
                          TRY(transaction.load(*model.find_entity("USER"), naming)) != nullptr;
    if (!is_there) recipients.remove(at);
  }
  return {};
}

Result<Draft*, Problem> load_library(Transaction& transaction, const model::Model& model, const Item& library) {
  auto* draft = TRY(transaction.load(*model.find_entity("LIBRARY"), chosen(library, {"OwnerId", "LibraryId"})));
  if (draft == nullptr) return app::problem(ProblemKind::NotFound, "NotFound", "there is no such LIBRARY");
  return draft;
}

}  // namespace

Result<std::optional<std::string>, Problem> Sharing::find_user(const std::string& email) const {
  Item naming;
  naming.set("Email", AttributeValue::string(email));
  const auto found =
      parts_.repository.run(*parts_.repository.model().find_pattern("user_by_email"), naming, the_service());
  if (found) return std::optional(found->objects.front().attributes.text("UserId"));
  if (found.error().kind == ProblemKind::NotFound) return std::optional<std::string>();
  return found.error();
}

Result<http::Response, Problem> Sharing::share(const app::NativeCall& call) const {
  const auto& model = parts_.repository.model();
  const auto email = call.inputs.text("email");
  const auto recipient = TRY(find_user(email));
  if (!recipient) return unknown_user();
  const auto& seen = call.within->attributes;
  if (*recipient == seen.text("OwnerId")) {
    return runtime::Problem{.kind = ProblemKind::Invalid,
                            .code = "Invalid",
                            .message = "email is the library's owner's own",
                            .details = {{.attribute = "email", .problem = "is the library's owner's own"}}};
  }
  runtime::Object shared;
  TRY(parts_.repository.transact([&](Transaction& transaction) -> Result<void, Problem> {
    Item user_naming;
    user_naming.set("UserId", AttributeValue::string(*recipient));
    const auto* user = TRY(transaction.load(*model.find_entity("USER"), user_naming));
    // The directory's index may be behind; the user's own row is not.
    if (user == nullptr || user->after->text("Email") != email) return unknown_user();
    transaction.depend_on(*user, {"Email"});
    auto* library = TRY(load_library(transaction, model, seen));
    if (TRY(find_pointer(transaction, model, *recipient, seen)) != nullptr) {
      return app::problem(ProblemKind::Conflict, "AlreadyShared", "the library is shared with this user already");
    }
    Recipients recipients(*library->after);
    // The recipient had left and is back, or the address belongs to another user now.
    if (const auto at = recipients.find_id(*recipient)) recipients.remove(*at);
    if (const auto at = recipients.find_email(email)) {
      auto* orphan = TRY(find_pointer(transaction, model, recipients.id(*at), seen));
      if (orphan != nullptr) TRY(transaction.remove(*orphan));
      recipients.remove(*at);
    }
    if (recipients.size() == kMostRecipients) TRY(drop_departed(transaction, model, recipients, seen));
    if (recipients.size() == kMostRecipients) {
      return app::problem(ProblemKind::Conflict, "Full",
                          fmt::format("a library can be shared with at most {} people", kMostRecipients));
    }
    recipients.add(user->after->text("Email"), *recipient);
    TRY(transaction.change(*library, recipients.as_change(), ValueSource::Model));
    auto pointer = pointer_naming(*recipient, seen);
    pointer.set("SharedFromId", AttributeValue::string(seen.text("OwnerId")));
    pointer.set("SharedToEmail", AttributeValue::string(user->after->text("Email")));
    TRY(transaction.create(*model.find_entity("SHARED_LIBRARY"), std::move(pointer), ValueSource::Model));
    shared = runtime::to_object(model, *library->entity, *library->after);
    return {};
  }));
  return object_answer(model.table, shared);
}

Result<http::Response, Problem> Sharing::unshare(const app::NativeCall& call) const {
  const auto& model = parts_.repository.model();
  const auto email = call.inputs.text("email");
  const auto& seen = call.within->attributes;
  runtime::Object left;
  TRY(parts_.repository.transact([&](Transaction& transaction) -> Result<void, Problem> {
    auto* library = TRY(load_library(transaction, model, seen));
    Recipients recipients(*library->after);
    auto at = recipients.find_email(email);
    if (!at) {  // the recipient may have another address by now
      if (const auto user = TRY(find_user(email))) at = recipients.find_id(*user);
    }
    if (!at) return app::problem(ProblemKind::NotFound, "NotShared", "the library is not shared with this address");
    auto* pointer = TRY(find_pointer(transaction, model, recipients.id(*at), seen));
    if (pointer != nullptr) TRY(transaction.remove(*pointer));
    recipients.remove(*at);
    TRY(transaction.change(*library, recipients.as_change(), ValueSource::Model));
    left = runtime::to_object(model, *library->entity, *library->after);
    return {};
  }));
  return object_answer(model.table, left);
}

void Sharing::redact(runtime::Object& object, const runtime::Caller& caller) {
  if (object.entity->name != "LIBRARY" || caller.subject == object.attributes.text("OwnerId")) return;
  object.attributes.erase("SharedTo");
}

Result<http::Response, Problem> Sharing::recipients(const app::NativeCall& call) const {
  auto library = chosen(call.within->attributes, {"LibraryId"});
  library.set("SharedFromId", AttributeValue::string(call.within->attributes.text("OwnerId")));
  return list_answer(parts_, call, "recipients_of", library);
}

}  // namespace stator::systems::media_library
