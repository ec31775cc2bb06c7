#include "stator/systems/media-library/search_indexes.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>

#include "stator/app/rest/answer.h"
#include "stator/expr/projection.h"
#include "stator/runtime/read/pattern_requests.h"

namespace stator::systems::media_library {
namespace {

using runtime::Problem;
using runtime::ProblemKind;
using value::Item;

// Of all memory, for what was told lately.
constexpr std::size_t kShareOfRecent = 8;

bool is_item(const model::TableDesign& table, const Item& row) {
  const auto type = row.text(table.type_attribute);
  return type == "BOOK" || type == "VIDEO";
}

// The pattern without a route that finds everything of an owner, of each item only what a document has: a summary is
// often larger than all the rest.
Result<runtime::QueryRequest, Problem> items_of(const model::Model& model, const std::string& owner) {
  const auto& pattern = *model.find_pattern("all_titles");
  auto query = TRY(runtime::query_of(model, pattern, {{"OwnerId", value::AttributeValue::string(owner)}}, true));
  auto request = std::move(query.requests.front());
  std::vector<expr::Path> paths = {{.attribute = model.table.type_attribute, .elements = {}}};
  for (const auto* name : {"ItemId", "LibraryId", "Title", "CollectionName", "Authors", "Directors", "Cast"}) {
    paths.push_back({.attribute = name, .elements = {}});
  }
  request.page.projection.emplace(std::move(paths));
  return request;
}

SearchIndex::Document document_of(const Item& item) {
  SearchIndex::Document document{.item = item.text("ItemId"),
                                 .library = item.text("LibraryId"),
                                 .title = item.text("Title"),
                                 .others = {item.text("CollectionName")}};
  for (const auto* name : {"Authors", "Directors", "Cast"}) {
    const auto* people = item.find(name);
    if (people == nullptr || people->as_list() == nullptr) continue;
    for (const auto& person : *people->as_list()) {
      if (person.as_string() != nullptr) document.others.push_back(*person.as_string());
    }
  }
  return document;
}

std::size_t bytes_of(const SearchIndex::Document& document) {
  std::size_t bytes = sizeof(document) + document.item.size() + document.library.size() + document.title.size();
  for (const auto& other : document.others) bytes += sizeof(other) + other.size();
  return bytes;
}

template <typename Edit>
std::size_t edit_cost(const Edit& edit) {
  const auto* document = std::get_if<SearchIndex::Document>(&edit);
  return sizeof(edit) + (document != nullptr ? bytes_of(*document) : 0);
}

Problem too_busy() {
  return app::problem(ProblemKind::Busy, "Busy", "too much is being read for searches at this moment; try again");
}

}  // namespace

SearchIndexes::SearchIndexes(runtime::Repository& repository, const Clock& clock, Options options)
    : model_(repository.model()),
      clock_(clock),
      options_(options),
      dynamo_(repository.client(), random_, clock),
      recent_memory_(used_bytes_) {}

Result<std::vector<SearchIndex::Hit>, Problem> SearchIndexes::search(const std::string& owner,
                                                                     const SearchIndex::Query& query) {
  const auto [shelf, mine] = shelf_of(owner);
  if (mine) fill(owner, *shelf);
  MutexLock lock(shelf->mutex);
  while (shelf->reading) shelf->finished.wait(shelf->mutex);
  if (shelf->problem) return *shelf->problem;
  return shelf->index.search(query);
}

// ---------------------------------------------------------------------------------------------------- reading an index

std::pair<SearchIndexes::ShelfPtr, bool> SearchIndexes::shelf_of(const std::string& owner) {
  ShelfPtr replaced;  // freed when nobody waits for the mutex
  MutexLock lock(mutex_);
  auto& shelf = shelves_[owner];
  const bool outdated = shelf != nullptr && shelf->can_go && shelf->good_until && clock_.now() >= *shelf->good_until;
  const bool made = shelf == nullptr || outdated;
  if (made) replaced = std::exchange(shelf, make_shelf(owner));
  shelf->used = ++uses_;
  return {shelf, made};
}

SearchIndexes::ShelfPtr SearchIndexes::make_shelf(const std::string& owner) {
  const auto now = clock_.now();
  forget_old_edits(now);
  std::vector<Edit> lately;
  std::size_t bytes = 0;
  for (const auto& recent : recent_) {
    if (recent.owner != owner) continue;
    lately.push_back(recent.edit);
    bytes += edit_cost(recent.edit);
  }
  auto shelf = std::make_shared<Shelf>(used_bytes_, std::move(lately));
  shelf->waiting_memory.set(bytes);
  if (recent_since_ > now - options_.index_lag) shelf->good_until = now + options_.index_lag;
  return shelf;
}

void SearchIndexes::fill(const std::string& owner, Shelf& shelf) {
  std::optional<Problem> problem;
  SearchIndex index;
  try {
    auto result = read(owner, shelf);
    if (result) {
      index = std::move(*result);
    } else {
      problem = std::move(result).error();
    }
  } catch (const std::exception& exception) {  // threads that wait for this index get the problem
    problem = Problem{.kind = ProblemKind::Internal, .code = "Internal", .message = exception.what(), .details = {}};
  }
  bool failed = false;
  {
    MutexLock lock(shelf.mutex);
    for (const auto& edit : shelf.waiting) apply(index, edit);
    shelf.waiting = {};
    shelf.waiting_memory.set(0);
    if (!shelf.problem) shelf.problem = std::move(problem);
    failed = shelf.problem.has_value();
    if (!failed) shelf.index = std::move(index);
    shelf.index_memory.set(shelf.index.memory_bytes());
    shelf.reading = false;
    shelf.finished.notify_all();
  }
  {
    MutexLock lock(mutex_);
    shelf.can_go = true;
  }
  if (failed || !make_room(&shelf)) drop(owner, shelf);
}

Result<SearchIndex, Problem> SearchIndexes::read(const std::string& owner, Shelf& shelf) {
  SearchIndex index;
  auto request = TRY(items_of(model_, owner));
  request.page.limit = options_.items_at_once;
  // The next page is read while the words of the last one are taken in: that is half of the work.
  const auto ask = [&] { return std::async(std::launch::async, [this, request] { return dynamo_.query(request); }); };
  for (auto next = ask(); next.valid();) {
    auto page = TRY(next.get());
    request.page.start = std::move(page.last_key);
    if (request.page.start) next = ask();
    for (const auto& row : page.items) {
      if (is_item(model_.table, row)) index.put(document_of(row));
    }
    if (index.memory_bytes() > options_.most_bytes) {
      return app::problem(ProblemKind::TooLarge, "TooLarge", "there are too many items to be searched");
    }
    shelf.index_memory.set(index.memory_bytes());
    if (!make_room(&shelf)) return too_busy();
  }
  return index;
}

void SearchIndexes::drop(const std::string& owner, const Shelf& shelf) {
  MutexLock lock(mutex_);
  const auto found = shelves_.find(owner);
  if (found != shelves_.end() && found->second.get() == &shelf) shelves_.erase(found);
}

bool SearchIndexes::make_room(const Shelf* keep) {
  std::size_t used = used_bytes_;
  if (used <= options_.most_bytes) return true;
  std::vector<ShelfPtr> gone;  // freed when nobody waits for the mutex
  MutexLock lock(mutex_);
  while (used > options_.most_bytes) {
    const auto age = [&](const auto& one) {
      return one.second->can_go && one.second.get() != keep ? one.second->used : UINT64_MAX;
    };
    const auto oldest = std::ranges::min_element(shelves_, {}, age);
    if (oldest == shelves_.end() || age(*oldest) == UINT64_MAX) return false;
    used -= std::min(used, oldest->second->index_memory.bytes());
    gone.push_back(std::move(oldest->second));
    shelves_.erase(oldest);
  }
  return true;
}

// -------------------------------------------------------------------------------------------------------- what is told

void SearchIndexes::changed(const runtime::Change& change) {
  const auto& table = model_.table;
  const auto& row = change.after ? *change.after : *change.before;
  if (!is_item(table, row)) return;
  const auto owner = row.text("OwnerId");
  const auto edit = change.after ? Edit(document_of(row)) : Edit(Removal{row.text("ItemId")});
  const auto shelf = remember(owner, edit);
  if (shelf == nullptr || apply(*shelf, edit)) return;
  drop(owner, *shelf);
}

SearchIndexes::ShelfPtr SearchIndexes::remember(const std::string& owner, const Edit& edit) {
  MutexLock lock(mutex_);
  const auto now = clock_.now();
  recent_.push_back({.told = now, .owner = owner, .edit = edit});
  recent_memory_.add(edit_cost(edit) + sizeof(RecentEdit));
  forget_old_edits(now);
  const auto found = shelves_.find(owner);
  return found != shelves_.end() ? found->second : nullptr;
}

void SearchIndexes::forget_old_edits(WallTime now) {
  while (!recent_.empty()) {
    const auto& oldest = recent_.front();
    const bool too_many = recent_memory_.bytes() > options_.most_bytes / kShareOfRecent;
    if (oldest.told >= now - options_.index_lag && !too_many) return;
    if (too_many) recent_since_ = std::max(recent_since_, oldest.told);
    recent_memory_.set(recent_memory_.bytes() - edit_cost(oldest.edit) - sizeof(RecentEdit));
    recent_.pop_front();
  }
}

bool SearchIndexes::apply(Shelf& shelf, const Edit& edit) {
  {
    MutexLock lock(shelf.mutex);
    if (shelf.reading) {
      shelf.waiting.push_back(edit);
      shelf.waiting_memory.add(edit_cost(edit));
    } else {
      apply(shelf.index, edit);
      shelf.index_memory.set(shelf.index.memory_bytes());
    }
  }
  if (make_room(&shelf)) return true;
  MutexLock lock(shelf.mutex);
  if (shelf.reading && !shelf.problem) shelf.problem = too_busy();
  shelf.waiting = {};
  shelf.waiting_memory.set(0);
  return false;
}

void SearchIndexes::apply(SearchIndex& index, const Edit& edit) {
  if (const auto* document = std::get_if<SearchIndex::Document>(&edit)) {
    index.put(*document);
  } else {
    index.remove(std::get<Removal>(edit).item);
  }
}

void SearchIndexes::missed() {
  std::map<std::string, ShelfPtr> gone;  // freed when nobody waits for the mutex
  MutexLock lock(mutex_);
  shelves_.swap(gone);
  recent_.clear();
  recent_memory_.set(0);
  recent_since_ = clock_.now();
}

}  // namespace stator::systems::media_library
