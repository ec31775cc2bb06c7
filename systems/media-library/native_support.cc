#include "stator/systems/media-library/native_support.h"

#include <algorithm>

#include "stator/app/rest/answer.h"
#include "stator/app/rest/routes/list_name.h"

namespace stator::systems::media_library {

using runtime::Problem;
using runtime::ProblemKind;

value::Item chosen(const value::Item& item, std::initializer_list<std::string_view> names) {
  value::Item some;
  for (const auto name : names) {
    if (const auto* found = item.find(name)) some.set(name, *found);
  }
  return some;
}

http::Response object_answer(const model::TableDesign& table, const runtime::Object& object) {
  std::string body;
  app::append_object(body, table, object);
  auto answer = app::json_answer(200, std::move(body));
  if (const auto etag = app::etag_of(object); !etag.empty()) answer.headers = "ETag: " + etag + "\r\n";
  return answer;
}

unsigned limit_of(const value::Item& inputs) {
  return static_cast<unsigned>(std::max<std::int64_t>(inputs.integer("limit"), 1));
}

Result<http::Response, Problem> list_answer(const app::ExtensionParts& parts, const app::NativeCall& call,
                                            std::string_view pattern, const value::Item& parameters) {
  // The day is not part of it, so that a list of overdue items that was begun before midnight can be read to its end.
  const app::ListName list{.parts = parts,
                           .action = pattern,
                           .parameters = chosen(parameters, {"OwnerId", "LibraryId", "ItemId"}),
                           .caller = call.caller()};
  const auto& model = parts.repository.model();
  auto start = TRY(list.start(call.inputs));
  const auto page = TRY(parts.repository.run(*model.find_pattern(pattern), parameters, the_service(),
                                             {.limit = limit_of(call.inputs), .start = std::move(start)}));
  return app::json_answer(200, app::list_body(model.table, page, page.next ? list.token(*page.next) : std::string()));
}

Result<runtime::Object, Problem> find_item(runtime::Repository& repository, const value::Item& naming) {
  auto book = repository.get(*repository.model().find_entity("BOOK"), naming, the_service());
  if (book || book.error().kind != ProblemKind::NotFound) return book;
  auto video = repository.get(*repository.model().find_entity("VIDEO"), naming, the_service());
  if (video || video.error().kind != ProblemKind::NotFound) return video;
  return app::problem(ProblemKind::NotFound, "NotFound", "there is no such item");
}

}  // namespace stator::systems::media_library
