#include "stator/systems/media-library/search_indexes.h"

#include <fmt/format.h>

#include <algorithm>

#include "stator/systems/media-library/native_support.h"

namespace stator::systems::media_library {
namespace {

using runtime::Outcome;
using runtime::Problem;
using runtime::ProblemKind;
using value::Item;

constexpr unsigned kItemsAtOnce = 1000;

bool is_item(const model::Table& table, const Item& row) {
  const auto type = text_of(row, table.type_attribute);
  return type == "BOOK" || type == "VIDEO";
}

SearchIndex::Document document_of(const Item& item) {
  SearchIndex::Document document{.item = text_of(item, "ItemId"),
                                 .library = text_of(item, "LibraryId"),
                                 .title = text_of(item, "Title"),
                                 .others = {text_of(item, "CollectionName")}};
  for (const auto* name : {"Authors", "Directors", "Cast"}) {
    const auto* people = item.find(name);
    if (people == nullptr || people->as_list() == nullptr) continue;
    for (const auto& person : *people->as_list()) {
      if (person.as_string() != nullptr) document.others.push_back(*person.as_string());
    }
  }
  return document;
}

}  // namespace

Outcome<std::vector<SearchIndex::Hit>> SearchIndexes::search(const std::string& owner,
                                                             const SearchIndex::Query& query) {
  const auto [shelf, mine] = shelf_of(owner);
  if (mine) fill(owner, *shelf);
  std::vector<SearchIndex::Hit> hits;
  std::size_t bytes = 0;
  {
    MutexLock lock(shelf->mutex);
    while (shelf->reading) shelf->finished.wait(shelf->mutex);
    if (shelf->problem) return *shelf->problem;
    hits = shelf->index.search(query);
    bytes = shelf->index.memory_bytes();
  }
  make_room(owner, bytes);
  return hits;
}

std::pair<SearchIndexes::ShelfPtr, bool> SearchIndexes::shelf_of(const std::string& owner) {
  MutexLock lock(mutex_);
  auto& shelf = shelves_[owner];
  const bool made = shelf == nullptr;
  if (made) shelf = std::make_shared<Shelf>();
  shelf->used = ++uses_;
  return {shelf, made};
}

void SearchIndexes::fill(const std::string& owner, Shelf& shelf) {
  std::optional<Problem> problem;
  SearchIndex index;
  try {
    auto result = read(owner);
    if (result) {
      index = std::move(*result);
    } else {
      problem = std::move(result).problem();
    }
  } catch (const std::exception& exception) {  // whoever waits for this index has to hear of it
    problem = Problem{.kind = ProblemKind::Internal, .code = "Internal", .message = exception.what(), .details = {}};
  }
  if (problem) drop(owner, shelf);
  MutexLock lock(shelf.mutex);
  for (const auto& edit : shelf.waiting) apply(index, edit);
  shelf.waiting = {};
  if (!shelf.problem) shelf.problem = std::move(problem);
  shelf.index = std::move(index);
  shelf.reading = false;
  shelf.finished.notify_all();
}

Outcome<SearchIndex> SearchIndexes::read(const std::string& owner) const {
  SearchIndex index;
  Item parameters;
  parameters.set("OwnerId", value::AttributeValue::string(owner));
  runtime::PageRequest request{.limit = kItemsAtOnce, .start = std::nullopt};
  do {
    auto page =
        ATTEMPT(repository_.run(*repository_.model().find_pattern("all_titles"), parameters, the_service(), request));
    for (const auto& object : page.objects) index.put(document_of(object.attributes));
    if (index.memory_bytes() > options_.most_bytes) {
      return problem(ProblemKind::TooLarge, "TooLarge", "there are too many items to be searched");
    }
    request.start = std::move(page.next);
  } while (request.start);
  return index;
}

void SearchIndexes::drop(const std::string& owner, const Shelf& shelf) {
  MutexLock lock(mutex_);
  const auto found = shelves_.find(owner);
  if (found != shelves_.end() && found->second.get() == &shelf) shelves_.erase(found);
}

// Forgets what was used least lately, and not what has just been used.
void SearchIndexes::make_room(const std::string& owner, std::size_t bytes) {
  MutexLock lock(mutex_);
  if (const auto found = shelves_.find(owner); found != shelves_.end()) found->second->bytes = bytes;
  std::size_t total = 0;
  for (const auto& [name, shelf] : shelves_) total += shelf->bytes;
  while (total > options_.most_bytes && shelves_.size() > 1) {
    const auto oldest = std::ranges::min_element(
        shelves_, {}, [&](const auto& one) { return one.first == owner ? UINT64_MAX : one.second->used; });
    total -= oldest->second->bytes;
    shelves_.erase(oldest);
  }
}

void SearchIndexes::apply(SearchIndex& index, const Edit& edit) {
  if (const auto* document = std::get_if<SearchIndex::Document>(&edit)) {
    index.put(*document);
  } else {
    index.remove(std::get<Removal>(edit).item);
  }
}

void SearchIndexes::changed(const runtime::Change& change) {
  const auto& table = repository_.model().table;
  const auto& row = change.after ? *change.after : *change.before;
  if (!is_item(table, row)) return;
  const auto owner = text_of(row, "OwnerId");
  ShelfPtr shelf;
  {
    MutexLock lock(mutex_);
    const auto found = shelves_.find(owner);
    if (found == shelves_.end()) return;
    shelf = found->second;
  }
  const auto edit = change.after ? Edit(document_of(row)) : Edit(Removal{text_of(row, "ItemId")});
  MutexLock lock(shelf->mutex);
  if (!shelf->reading) {
    apply(shelf->index, edit);
  } else if (shelf->waiting.size() < options_.most_changes) {
    shelf->waiting.push_back(edit);
  } else if (!shelf->problem) {
    shelf->problem = problem(ProblemKind::Busy, "Busy", "too much changes while the items are being read; try again");
    drop(owner, *shelf);
  }
}

void SearchIndexes::missed() {
  MutexLock lock(mutex_);
  shelves_.clear();
}

}  // namespace stator::systems::media_library
