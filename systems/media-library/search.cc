#include "stator/systems/media-library/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "stator/app/rest/answer.h"
#include "stator/app/rest/routes/list_name.h"
#include "stator/model/rows.h"
#include "stator/runtime/object.h"
#include "stator/runtime/problem.h"
#include "stator/systems/media-library/native_support.h"
#include "stator/systems/media-library/search_words.h"
#include "stator/value/json.h"

namespace stator::systems::media_library {
namespace {

using runtime::Problem;
using value::AttributeValue;
using value::Item;

constexpr unsigned kPointersAtOnce = 500;

// The place of the last hit of a page, as a page token holds it, and back.
runtime::PageEnd to_page_end(const SearchIndex::Place& place) {
  Item key;
  key.set("score", AttributeValue::number(place.score));
  key.set("title", AttributeValue::string(place.title));
  key.set("item", AttributeValue::string(place.item));
  return {.keys = {std::move(key)}, .done = {false}};
}

std::optional<SearchIndex::Place> to_place(const std::optional<runtime::PageEnd>& end) {
  if (!end || end->keys.empty()) return std::nullopt;
  const auto& key = end->keys.front();
  return SearchIndex::Place{.score = key.integer("score"), .title = key.text("title"), .item = key.text("item")};
}

}  // namespace

Search::Search(const app::ExtensionParts& parts)
    : parts_(parts),
      dynamo_(parts.client, random_, parts.clock),
      indexes_(parts.repository, parts.clock, {}),
      feed_(parts.client, parts.clock, parts.repository.model().table.name,
            {.changed = [this](const runtime::Change& change) { indexes_.changed(change); },
             .missed = [this] { indexes_.missed(); }},
            {}) {}

Result<http::Response, Problem> Search::search(const app::NativeCall& call) {
  const auto& user = *call.caller().subject;
  const auto text = call.inputs.text("q");
  if (query_words(text).size() > SearchIndex::kMostQueryWords) {
    return runtime::invalid({{"q", fmt::format("must have at most {} words", SearchIndex::kMostQueryWords)}});
  }
  const app::ListName list{
      .parts = parts_, .action = "search", .parameters = chosen(call.inputs, {"q"}), .caller = call.caller()};
  const auto limit = limit_of(call.inputs);
  auto start = TRY(list.start(call.inputs));
  SearchIndex::Query query{.text = text, .limit = limit + 1, .after = to_place(std::move(start))};
  TRY(feed_.catch_up());
  auto shares = TRY(shares_of(user));
  auto found = TRY(find(user, shares, query));
  const bool more = found.size() > limit;
  if (more) found.resize(limit);

  const auto& table = parts_.repository.model().table;
  std::string body;
  value::JsonWriter json(body);
  json.begin_object().key("items").begin_array();
  for (const auto& object : TRY(fetch(found))) {
    std::string item;
    app::append_object(item, table, object);
    json.raw(item);
  }
  json.end_array();
  if (more) json.key("nextToken").string(list.token(to_page_end(found.back().hit.place)));
  if (!shares.all) json.key("incomplete").boolean(true);
  json.end_object();
  return app::json_answer(200, std::move(body));
}

Result<Search::Shares, Problem> Search::shares_of(const std::string& user) const {
  Shares shares;
  Item parameters;
  parameters.set("SharedToId", AttributeValue::string(user));
  const auto& pattern = *parts_.repository.model().find_pattern("shares_of");
  runtime::PageOptions request{.limit = kPointersAtOnce, .start = std::nullopt};
  do {
    auto page = TRY(parts_.repository.run(pattern, parameters, the_service(), request));
    for (const auto& pointer : page.objects) {
      const auto owner = pointer.attributes.text("SharedFromId");
      if (shares.by_owner.size() == kMostOwners && !shares.by_owner.contains(owner)) {
        shares.all = false;
        return shares;
      }
      shares.by_owner[owner].insert(pointer.attributes.text("LibraryId"));
    }
    request.start = std::move(page.next);
  } while (request.start);
  return shares;
}

Result<std::vector<Search::Found>, Problem> Search::find(const std::string& user, Shares& shares,
                                                         const SearchIndex::Query& query) {
  std::vector<Found> found;
  for (auto& hit : TRY(indexes_.search(user, query))) found.push_back({.hit = std::move(hit), .owner = user});
  for (const auto& [owner, libraries] : shares.by_owner) {
    auto shared = query;
    shared.libraries = &libraries;
    auto hits = indexes_.search(owner, shared);
    if (!hits && hits.error().kind == runtime::ProblemKind::TooLarge) {
      shares.all = false;
      continue;
    }
    for (auto& hit : TRY(std::move(hits))) found.push_back({.hit = std::move(hit), .owner = owner});
  }
  std::ranges::sort(found, [](const Found& a, const Found& b) { return a.hit.place.comes_before(b.hit.place); });
  if (found.size() > query.limit) found.resize(query.limit);
  return found;
}

Result<std::vector<runtime::Object>, Problem> Search::fetch(const std::vector<Found>& found) {
  const auto& model = parts_.repository.model();
  std::vector<Item> keys;
  for (const auto& one : found) {
    Item naming;
    naming.set("OwnerId", AttributeValue::string(one.owner));
    naming.set("LibraryId", AttributeValue::string(one.hit.library));
    naming.set("ItemId", AttributeValue::string(one.hit.place.item));
    // Books and videos have the same keys.
    const auto key = model::key_of(model, *model.find_entity("BOOK"), naming);
    if (key && *key) keys.push_back(**key);
  }
  std::map<std::string, runtime::Object> by_item;
  if (!keys.empty()) {
    for (const auto& row : TRY(dynamo_.batch_get(model.table.name, keys))) {
      const auto [entity, record] = model.find_row_type(row.text(model.table.type_attribute));
      if (entity == nullptr) continue;
      auto object = runtime::to_object(model, *entity, model::attributes_of(model, *entity, *record, row));
      by_item.emplace(object.attributes.text("ItemId"), std::move(object));
    }
  }
  std::vector<runtime::Object> objects;
  for (const auto& one : found) {
    const auto object = by_item.find(one.hit.place.item);
    if (object != by_item.end()) objects.push_back(std::move(object->second));
  }
  return objects;
}

}  // namespace stator::systems::media_library
