#include "stator/systems/media-library/import_lease.h"

#include <utility>

#include "stator/app/rest/answer.h"
#include "stator/base/log.h"
#include "stator/model/validate.h"
#include "stator/runtime/write/transaction.h"
#include "stator/systems/media-library/native_support.h"

namespace stator::systems::media_library {

using runtime::Draft;
using runtime::Problem;
using runtime::ProblemKind;
using runtime::Transaction;
using value::AttributeValue;

namespace {

// The attributes of LIBRARY that it is kept in.
constexpr std::string_view kId = "ImportId";
constexpr std::string_view kUntil = "ImportUntil";

Result<Draft*, Problem> load_library(Transaction& transaction, const app::ExtensionParts& parts,
                                     const value::Item& library) {
  auto* draft = TRY(transaction.load(*parts.repository.model().find_entity("LIBRARY"), library));
  if (draft == nullptr) return app::problem(ProblemKind::NotFound, "NotFound", "there is no such LIBRARY");
  transaction.depend_on(*draft, {std::string(kId), std::string(kUntil)});
  return draft;
}

}  // namespace

Result<ImportLease, Problem> ImportLease::take(const app::ExtensionParts& parts, const value::Item& library,
                                               const std::string& id) {
  ImportLease lease(parts, library, id);
  TRY(lease.prolong());
  return lease;
}

bool ImportLease::is_held(const app::ExtensionParts& parts, const value::Item& library, const std::string& id) {
  const auto now = std::chrono::floor<std::chrono::milliseconds>(parts.clock.now());
  return library.text(kId) == id && library.text(kUntil) > model::format_timestamp(now);
}

Result<void, Problem> ImportLease::keep() {
  if (now() + kLength / 2 < until_) return {};
  return prolong();
}

Result<void, Problem> ImportLease::prolong() {
  return parts_.repository.transact([&](Transaction& transaction) -> Result<void, Problem> {
    auto* library = TRY(load_library(transaction, parts_, library_));
    const auto until = library->after->text(kUntil);
    if (library->after->text(kId) != id_ && until > model::format_timestamp(now())) {
      return app::problem(ProblemKind::Conflict, kImportRunning,
                          "another import into this library is under way; try again when it has ended");
    }
    until_ = now() + kLength;
    model::PlainObject change;
    change.values.set(kId, AttributeValue::string(id_));
    change.values.set(kUntil, AttributeValue::string(model::format_timestamp(until_)));
    return transaction.change(*library, change, runtime::ValueSource::Model);
  });
}

void ImportLease::release() {
  const auto released = parts_.repository.transact([&](Transaction& transaction) -> Result<void, Problem> {
    auto* library = TRY(load_library(transaction, parts_, library_));
    if (library->after->text(kId) != id_) return {};
    return transaction.change(*library, {.values = {}, .nulls = {std::string(kId), std::string(kUntil)}},
                              runtime::ValueSource::Model);
  });
  const bool done = released || released.error().kind == ProblemKind::NotFound;
  if (!done) log::warning("import_lease_not_released", {{"error", released.error().message}});
}

}  // namespace stator::systems::media_library
