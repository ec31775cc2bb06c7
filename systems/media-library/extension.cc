#include "stator/systems/media-library/extension.h"

#include <memory>

#include "stator/runtime/write/transaction.h"
#include "stator/systems/media-library/directory.h"
#include "stator/systems/media-library/lending.h"
#include "stator/systems/media-library/search.h"
#include "stator/systems/media-library/sharing.h"
#include "stator/systems/media-library/transfer.h"

namespace stator::systems::media_library {

app::Additions extension(const app::ExtensionParts& parts) {
  using app::NativeCall;
  const Lending lending(parts);
  const Sharing sharing(parts);
  const Transfer transfer(parts);
  const auto search = std::make_shared<Search>(parts);
  const auto directory = std::make_shared<Directory>(parts.repository, parts.clock);
  return {
      .natives =
          {
              {"history", [lending](const NativeCall& call) { return lending.history(call); }},
              {"forget", [lending](const NativeCall& call) { return lending.forget(call); }},
              {"overdue", [lending](const NativeCall& call) { return lending.overdue(call); }},
              {"share", [sharing](const NativeCall& call) { return sharing.share(call); }},
              {"unshare", [sharing](const NativeCall& call) { return sharing.unshare(call); }},
              {"recipients", [sharing](const NativeCall& call) { return sharing.recipients(call); }},
              {"search", [search](const NativeCall& call) { return search->search(call); }},
              {"import", [transfer](const NativeCall& call) { return transfer.import(call); }},
              {"show_import", [transfer](const NativeCall& call) { return transfer.show_import(call); }},
              {"export", [transfer](const NativeCall& call) { return transfer.export_page(call); }},
          },
      .resumable = {"import"},
      .beforehand = [directory](const app::RouteMatch& match,
                                const app::RestCall& call) { return directory->look_at(match, call); },
      .redact = Sharing::redact,
      .follow = {{parts.repository.model().find_entity("USER"),
                  [directory](runtime::Transaction&, runtime::Draft& user) { return directory->check_entry(user); }}},
  };
}

}  // namespace stator::systems::media_library
