#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <string_view>

#include "stator/base/clock.h"
#include "stator/client/client.h"
#include "stator/library/instance.h"
#include "stator/model/testing/load_or_fail.h"
#include "stator/model/validate.h"
#include "stator/runtime/dynamo/dynamo.h"
#include "stator/runtime/repository.h"
#include "stator/value/json.h"

// For tests of a model at work.
namespace stator::runtime {

using value::Item;

inline value::AttributeValue text(std::string_view content) { return value::AttributeValue::string(content); }
inline value::AttributeValue number(std::int64_t content) { return value::AttributeValue::number(content); }
inline value::AttributeValue boolean(bool content) { return value::AttributeValue::boolean(content); }

inline Caller user(std::string_view subject) { return {.subject = std::string(subject), .roles = {}, .system = false}; }
inline Caller admin() { return {.subject = "root", .roles = {"admin"}, .system = false}; }
inline Caller nobody() { return {}; }
inline Caller the_system() { return {.subject = std::nullopt, .roles = {}, .system = true}; }

inline model::PlainObject changes(Item values, std::vector<std::string> nulls = {}) {
  return {.values = std::move(values), .nulls = std::move(nulls)};
}

// An attribute as plain JSON; "-" when it is absent.
inline std::string shown(const Item& attributes, std::string_view name) {
  const auto* found = attributes.find(name);
  if (found == nullptr) return "-";
  std::string out;
  model::append_plain_json(out, *found);
  return out;
}
inline std::string shown(const Object& object, std::string_view name) { return shown(object.attributes, name); }

// "409 Duplicate: Name is taken", for comparisons that read well.
inline std::string told(const Problem& problem) {
  std::string out;
  switch (problem.kind) {
    case ProblemKind::Invalid: out = "400"; break;
    case ProblemKind::Unauthenticated: out = "401"; break;
    case ProblemKind::Forbidden: out = "403"; break;
    case ProblemKind::NotFound: out = "404"; break;
    case ProblemKind::Conflict: out = "409"; break;
    case ProblemKind::PreconditionFailed: out = "412"; break;
    case ProblemKind::TooLarge: out = "413"; break;
    case ProblemKind::Busy: out = "429"; break;
    case ProblemKind::Unavailable: out = "503"; break;
    case ProblemKind::Internal: out = "500"; break;
  }
  out += " " + problem.code;
  for (const auto& detail : problem.details) out += "; " + detail.attribute + " " + detail.problem;
  return out;
}
template <typename T>
std::string told(const Result<T, Problem>& outcome) {
  return outcome.ok() ? "ok" : told(outcome.error());
}

// A model on a database in memory, for tests.
class World {
 public:
  enum class Time : std::uint8_t {
    Passes,  // for writers that compete: waits are real
    Stands,  // until the test moves the clock
  };
  explicit World(std::string_view yaml, Time time = Time::Passes)
      : instance_(std::move(*library::Instance::open({.data_folder = {}, .in_memory = true}))),
        client_(instance_->operations()),
        model_(std::make_shared<const model::Model>(model::load_or_fail(yaml))),
        dynamo_(client_, random_, clock_),
        repository_(model_, client_, clock_, random_) {
    if (time == Time::Passes) clock_.wait_really();
    const auto opened = repository_.open();
    EXPECT_TRUE(opened.ok()) << told(opened);
  }

  Repository& repository() { return repository_; }
  const model::Model& model() const { return *model_; }
  client::Client& client() { return client_; }
  Dynamo& dynamo() { return dynamo_; }
  ManualClock& clock() { return clock_; }
  Random& random() { return random_; }

  const model::Entity& entity(std::string_view name) const {
    const auto* found = model_->find_entity(name);
    if (found == nullptr) throw std::runtime_error("no such entity");
    return *found;
  }
  Result<Object, Problem> create(std::string_view name, const Item& attributes, const Caller& caller) {
    return repository_.create(entity(name), attributes, caller);
  }
  // Created, or the test fails.
  Object made(std::string_view name, const Item& attributes, const Caller& caller) {
    auto created = create(name, attributes, caller);
    if (!created) throw std::runtime_error("could not create " + std::string(name) + ": " + told(created));
    return std::move(*created);
  }
  Result<Object, Problem> get(std::string_view name, const Item& key, const Caller& caller,
                              bool include_deleted = false) {
    return repository_.get(entity(name), key, caller, {.include_deleted = include_deleted, .consistent = true});
  }
  Result<Object, Problem> update(std::string_view name, const Item& key, const model::PlainObject& given,
                                 const Caller& caller, const WriteOptions& options = {}) {
    return repository_.update(entity(name), key, given, caller, options);
  }
  Result<void, Problem> remove(std::string_view name, const Item& key, const Caller& caller,
                               const WriteOptions& options = {}) {
    return repository_.remove(entity(name), key, caller, options);
  }
  Result<Page, Problem> run(std::string_view pattern, const Item& parameters, const Caller& caller,
                            const PageOptions& page = {}) {
    return repository_.run(*model_->find_pattern(pattern), parameters, caller, page);
  }
  Result<std::optional<Object>, Problem> perform(std::string_view action, const Item& inputs, const Caller& caller,
                                                 const Precondition& precondition = {}) {
    return repository_.perform(*model_->find_action(action), inputs, caller, precondition);
  }
  // Everything in the table.
  std::vector<Item> rows() {
    std::vector<Item> rows;
    const auto take = [&](const Item& row) -> Result<void, Problem> {
      rows.push_back(row);
      return {};
    };
    EXPECT_TRUE(dynamo_.scan(model_->table.name, std::nullopt, take, [](auto, const auto&) { return true; }));
    return rows;
  }
  // A row by its two keys.
  std::optional<Item> row(std::string_view pk, std::string_view sk) {
    return *dynamo_.get(model_->table.name, {{"PK", text(pk)}, {"SK", text(sk)}});
  }

 private:
  std::unique_ptr<library::Instance> instance_;
  client::InProcessClient client_;
  std::shared_ptr<const model::Model> model_;
  ManualClock clock_;
  Random random_{1};
  Dynamo dynamo_;
  Repository repository_;
};

// Libraries of books: ownership, sharing, collections, lending.
inline constexpr std::string_view kShelf = R"yaml(
model: shelf
table:
  name: Shelf
  key: [PK, SK]
  indexes:
    ByName: { key: [GSI1PK, GSI1SK], projection: all }

entities:
  LIBRARY:
    path: /libraries/{LibraryId}
    owner: OwnerId
    access: { read: [owner, shared], write: owner }
    keys:
      PK: "owner#{OwnerId}"
      SK: "library#{LibraryId}"
      GSI1PK: "owner#{OwnerId}"
      GSI1SK: "library#{Name|sortable}#{LibraryId}"
    attributes:
      OwnerId: string
      LibraryId: { type: uuid, generated: uuid }
      Name: { type: string, required: true, min: 1, max: 20, unique_within: OwnerId, fold: true }
      Description: { type: string, max: 100 }
      Shelf: { type: string, immutable: true, default: oak }
      TotalItems: { count: BOOK.library }
      TotalPages: { sum: { of: BOOK.library, attribute: Pages } }
      PagesPerItem: { type: number, derived: "TotalPages / TotalItems" }
      CreatedAt: { type: timestamp, generated: now }
      UpdatedAt: { type: timestamp, updated: true }
  COLLECTION:
    path: /libraries/{LibraryId}/collections/{CollectionId}
    owner: OwnerId
    access: { read: [owner, shared], write: owner }
    parents:
      library: { entity: LIBRARY, on_delete: cascade }
    keys:
      PK: "owner#{OwnerId}"
      SK: "collection#{LibraryId}#{CollectionId}"
      GSI1PK: "owner#{OwnerId}#library#{LibraryId}"
      GSI1SK: "item#{Name|sortable}"
    attributes:
      OwnerId: string
      LibraryId: uuid
      CollectionId: { type: uuid, generated: uuid }
      Name: { type: string, required: true, max: 100, unique_within: LibraryId, fold: true }
      ItemCount: { count: BOOK.collection }
  BOOK:
    path: /libraries/{LibraryId}/books/{ItemId}
    owner: OwnerId
    access: { read: [owner, shared], write: owner }
    parents:
      library: { entity: LIBRARY, on_delete: cascade }
      collection: { entity: COLLECTION, optional: true, on_delete: { clear: [CollectionId, CollectionName, Order] } }
    keys:
      PK: "owner#{OwnerId}"
      SK: "item#{LibraryId}#{ItemId}"
      GSI1PK: "owner#{OwnerId}#library#{LibraryId}"
      GSI1SK:
        - "item#{CollectionName|sortable}#{Order:05}#{Title|sortable}#{ItemId}"
        - "item#{Title|sortable}##{ItemId}"
    attributes:
      OwnerId: string
      LibraryId: uuid
      ItemId: { type: uuid, generated: uuid }
      Title: { type: string, required: true, min: 1, max: 100 }
      Label: { type: string, derived: "concat(Title, ' (', if_not_exists(CollectionName, 'loose'), ')')" }
      Pages: { type: integer, min: 0, default: 0 }
      Isbn: { type: string, unique_within: OwnerId }
      CollectionId: uuid
      CollectionName: { type: string, copy_of: collection.Name }
      Order: { type: integer, min: 1, max: 1000 }
      LentTo: { type: string, internal: true }
  EVENT:
    path: /libraries/{LibraryId}/books/{ItemId}/events/{EventId}
    owner: OwnerId
    append_only: true
    parents:
      book: { entity: BOOK, on_delete: cascade }
    keys:
      PK: "owner#{OwnerId}"
      SK: "event#{LibraryId}#{ItemId}#{EventId}"
    attributes:
      OwnerId: string
      LibraryId: uuid
      ItemId: uuid
      EventId: { type: ulid, generated: ulid }
      Type: { type: enum, values: [LENT, RETURNED], required: true }
      Borrower: { type: string, required: true }
  SHARE:
    owner: SharedToId
    access: { read: owner, create: role:admin }
    keys:
      PK: "share#{SharedToId}"
      SK: "library#{LibraryId}"
    attributes:
      SharedToId: string
      LibraryId: uuid
      SharedFromId: { type: string, required: true }

grants:
  shared:
    pointer: SHARE
    key: { SharedToId: me, LibraryId: LibraryId }
    gives: { OwnerId: SharedFromId }

patterns:
  libraries:
    get: /libraries
    query: { index: ByName, GSI1PK: "owner#{me}", GSI1SK: { begins_with: "library#" } }
    returns: LIBRARY
    page: { default: 10, max: 50 }
  contents:
    get: /libraries/{LibraryId}/contents
    within: LIBRARY
    query: { index: ByName, GSI1PK: "owner#{OwnerId}#library#{LibraryId}" }
    returns: [COLLECTION, BOOK]
    nest: { parent: COLLECTION, children: BOOK, relation: collection, as: books }
  events:
    get: /libraries/{LibraryId}/books/{ItemId}/events
    query: { PK: "owner#{me}", SK: { begins_with: "event#{LibraryId}#{ItemId}#" } }
    order: { asked: descending }
    returns: EVENT
    join: { relation: book, as: book, attributes: Title }

actions:
  lend:
    post: /libraries/{LibraryId}/books/{ItemId}/lend
    input: { borrower: { type: string, required: true, min: 1 } }
    steps:
      - read: BOOK
        as: book
        key: { LibraryId: ":LibraryId", ItemId: ":ItemId" }
      - check: "attribute_not_exists(book.LentTo)"
        else: { status: 409, code: AlreadyLent, message: "it is lent already" }
      - update: book
        set: { LentTo: ":borrower" }
      - create: EVENT
        as: event
        set: { LibraryId: ":LibraryId", ItemId: ":ItemId", Type: "'LENT'", Borrower: ":borrower" }
    result: event
)yaml";

}  // namespace stator::runtime
