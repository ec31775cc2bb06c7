#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/model/diagnostic.h"
#include "stator/model/expression/expression.h"
#include "stator/model/expression/template.h"
#include "stator/value/attribute_value.h"
#include "stator/value/number.h"

// A single-table design as data.  docs/model-language.md teaches the language; the structs below say the same, one by
// one.  check/load.h makes a Model from a file; every name in a loaded Model is known to exist.
//
// Names are resolved once, by resolve/: the pointers below lead to other parts of the same Model.  In a loaded Model
// none of them is null, unless its comment says so.  All that is pointed to is an element of a vector, so pointers stay
// valid when the Model is moved; a Model cannot be copied, and these vectors do not change after it is loaded.
// "Derived:" marks facts that follow from the rest; resolve/ derives them once, for a model without errors.
namespace stator::model {

// Generations of parents through which a rule is followed: what a deletion does, where a value comes from, what is
// summed up.
inline constexpr unsigned kMostGenerations = 16;

// Rows that DynamoDB writes in one transaction.
inline constexpr std::size_t kMostTransactionRows = 100;

// ----------------------------------------------------------------------------------------------------------- the table

struct KeyDesign {
  std::string name;
  value::Type type = value::Type::S;  // S, N or B
  Position position;
};

enum class ProjectionKind : std::uint8_t { All, KeysOnly, Include };

struct IndexDesign {
  std::string name;
  std::string description;
  bool local = false;
  std::vector<KeyDesign> partition;  // one, or up to four in a global index; of a local one, the table's
  std::vector<KeyDesign> sort;       // none, one, or up to four in a global index
  ProjectionKind projection = ProjectionKind::All;
  std::vector<std::string> included;  // with ProjectionKind::Include
  Position position;
};

// The key of the table or of an index.
struct KeyPair {
  std::vector<KeyDesign> partition;
  std::vector<KeyDesign> sort;
};

enum class StreamView : std::uint8_t { None, KeysOnly, NewImage, OldImage, NewAndOldImages };

struct Throughput {
  std::int64_t read = 0;
  std::int64_t write = 0;
};

struct TableDesign {
  std::string name;
  std::string description;
  KeyDesign partition;
  std::optional<KeyDesign> sort;
  std::vector<IndexDesign> indexes;
  std::string type_attribute = "EntityType";  // says which entity and record a row is
  std::string version_attribute = "Version";
  std::optional<std::string> ttl_attribute;
  StreamView stream = StreamView::NewAndOldImages;
  std::optional<Throughput> provisioned;  // none: on demand
  Position position;

  const IndexDesign* find_index(std::string_view name) const;
  KeyPair key_of(const IndexDesign* index) const;  // null: of the table
  // Whether the entries of an index have that attribute of a row, if the row has it.
  bool projects(const IndexDesign& index, std::string_view attribute) const;
};

// ---------------------------------------------------------------------------------------------------------- attributes

enum class Kind : std::uint8_t {
  String,
  Number,
  Integer,
  Boolean,
  Binary,
  Uuid,       // 8-4-4-4-12 lower-case hex
  Ulid,       // 26 of Crockford's base32, upper case
  Date,       // 2026-01-15
  Timestamp,  // 2026-01-15T10:00:00.000Z: UTC, fixed width; other spellings of RFC 3339 are taken and normalised
  Email,
  Url,
  Domain,  // of a web site, in its one spelling: see normal_domain() in web_address.h
  Isbn,    // ISBN-10 or ISBN-13 with a right checksum, kept without dashes
  Enum,
  List,
  Set,  // of String, Number, Binary and kinds that are stored as these
  Map,
  Any,
};

struct Attribute;
struct Entity;
struct Grant;
struct Parent;
struct Pattern;
struct Record;

// Which end of a day a date stands for where a moment is asked for.
enum class DayEnd : std::uint8_t { Start, End };

// The rules for a value.  Bounds count code points for text, members for lists and sets, bytes for binary.
struct Type {
  Kind kind = Kind::String;
  std::vector<std::string> values;      // Enum
  std::shared_ptr<const Type> element;  // List (none: anything), Set
  std::vector<Attribute> shape;         // Map (empty: anything)
  std::optional<value::Number> min;     // of a number, or of a length
  std::optional<value::Number> max;
  std::optional<value::Number> step;   // a number is a multiple of it
  std::optional<std::string> pattern;  // RE2, matched against the whole text
  std::string form;                    // the rule of `pattern` in words: the description of the attribute
  bool lower = false;                  // a text is kept in lower case
  bool many_lines = false;             // String: tabs and line breaks are allowed
  std::optional<DayEnd> date;          // Timestamp: a date is taken, too, and stands for that end of its day
};

enum class Generated : std::uint8_t { No, Uuid, Ulid, Now };

// "child.relation": the rows of `entity` that have this parent through `relation`.
struct Children {
  std::string entity;
  std::string relation;
  Position position;
  const Entity* child = nullptr;    // `entity`
  const Parent* through = nullptr;  // its `relation`
};

struct Count {
  std::vector<Children> of;
};
struct Sum {
  std::vector<Children> of;
  std::string attribute;  // of the children; a number
};
struct CopyOf {
  std::string relation;               // one of this entity's parents
  std::string attribute;              // of that parent
  const Parent* through = nullptr;    // `relation`
  const Attribute* from = nullptr;    // `attribute`
  const Attribute* origin = nullptr;  // `from`, or the attribute that it is a copy of in the end
};

// Where the numbers of an order are counted: the rows of one partition with a certain front of the sort key before the
// number.
struct NextPlace {
  const IndexDesign* index = nullptr;  // null: the table
  const Record* record = nullptr;
  std::vector<KeyDesign> partition;
  KeyDesign sort;
  const Template* text = nullptr;  // of the sort key; null: it is the number as it is
  unsigned width = 0;              // digits of the number; 0: the sort key is a number
  std::vector<std::string> scope;  // attributes that select the rows: those of the partition key, and before the number
};

// Where an absent number comes from: the greatest in the order of `pattern`, or the last one that a parent has given,
// plus `step`.
struct Next {
  std::string pattern;   // empty: a parent gives it
  std::string relation;  // one of this entity's parents
  std::string counter;   // the parent's attribute with `last`
  std::int64_t step = 1;
  bool distinct = false;  // no two rows of the order have the same number
  Position position;
  const Pattern* order = nullptr;   // `pattern`; null: a parent gives it
  std::optional<NextPlace> place;   // in that order; none: a parent gives it
  const Parent* through = nullptr;  // `relation`; null: it is of an order
  const Attribute* last = nullptr;  // `counter`; null: it is of an order

  // Whether every row has such a number, because it has the parent that gives it.
  bool in_every_row() const;
};

struct Attribute {
  std::string name;
  std::string description;
  Type type;
  bool required = false;
  bool immutable = false;  // set at creation only
  bool hidden = false;     // stored, never served
  bool transient = false;  // taken and used by expressions, never stored
  bool internal = false;   // no request can set it; the model's own expressions and actions do
  bool drifts = false;     // the version does not count changes of it by actions
  Generated generated = Generated::No;
  bool updated = false;  // set to now by every change that a user makes
  std::optional<value::AttributeValue> default_value;
  std::optional<Expression> derived;  // computed from the other attributes at every write
  bool when_read = false;             // derived from a count or a sum: computed when the entity is read, and not stored
  std::optional<Count> count;
  std::optional<Sum> sum;
  std::optional<CopyOf> copy_of;
  std::optional<Next> next;
  bool last = false;  // the last number that was given to a child through its `next`; it only grows
  Position position;
  // Derived: every stored row has it.  It names the entity, or is required, or is made from attributes that are always
  // there.
  bool always_there = false;

  // Whether rows hold it.
  bool is_stored() const { return !transient && !when_read; }
  // Whether a parent gives it, and neither requests nor actions can set it.
  bool is_numbered() const { return next && !next->relation.empty(); }
  // No request may set it: it is generated, derived, counted, copied, numbered by a parent, internal...
  bool computed() const;
};

// ------------------------------------------------------------------------------------------------------------ entities

struct KeyTemplate {
  Template text;
  std::optional<Expression> when;  // over the entity's attributes; none: whenever the attributes of `text` are present
  Position position;
};

// How one key attribute of the table or of an index is made: the first alternative that applies; none applies: absent.
// An index key attribute without a rule is the entity's own attribute of that name, as it is.
struct KeyRule {
  std::string attribute;
  std::vector<KeyTemplate> alternatives;
  Position position;
};

// One row of an entity.  Most entities have one; some live in several, always written together.
struct Record {
  std::string name;  // "main" when the entity has only one
  std::string description;
  std::string type;                     // the value of Table::type_attribute
  std::vector<KeyRule> keys;            // of the table, then of indexes
  std::vector<std::string> attributes;  // its attributes beside keys, type and version; empty: all
  std::optional<Expression> when;       // the row exists while this holds; the first record's is always empty
  std::optional<Expression> expires;    // the row's TTL: a timestamp; needs Table::ttl_attribute
  Position position;

  const KeyRule* find_key(std::string_view attribute) const;
  bool holds(std::string_view attribute) const;  // beside keys, type and version
};

enum class OnDelete : std::uint8_t {
  Nothing,   // rows keep a reference to the deleted parent
  Cascade,   // rows go too, through the consistency manager
  Clear,     // attributes of the row are cleared, through the consistency manager
  Restrict,  // the parent is not deleted while there are rows, and they go if it goes all the same; needs a count on it
};

// A reference from a row to the row it belongs to.
struct Parent {
  std::string name;  // of the relation: "collection"
  std::string description;
  std::string entity;          // "COLLECTION"
  const Entity* to = nullptr;  // `entity`
  // Attribute of the parent -> attribute of this entity, for every attribute in the templates of the parent's main key.
  std::vector<std::pair<std::string, std::string>> by;
  std::optional<Expression> when;  // the relation holds while this does and all of `by` are present
  bool optional = false;           // rows without it are fine
  bool must_exist = true;          // creating a row, or pointing it elsewhere, checks that the parent is there
  OnDelete on_delete = OnDelete::Nothing;
  std::vector<std::string> clear;  // with OnDelete::Clear
  Position position;
  std::vector<const Attribute*> cleared;  // `clear`
  // Derived: the counts and sums of the parent in which children are; the copies and numbers of the child.
  std::vector<const Attribute*> counters, copies, numbers;
  // Derived: the parent can be removed although children restrict it.  It expires, or it is removed with its own
  // parent, unless the children restrict that parent as well or are removed with it.
  bool overruled = false;
  // Derived: children are removed when their parent is gone.
  bool cascades = false;
  // Derived: children can exist before their parent.  It need not exist, or a former parent of the same name has left
  // them.
  bool can_precede = false;
  // Derived: the keys that lead from a parent to all of its children; null: that of the table, which comes first.  Such
  // a key is not sparse; its partition key has one alternative and no shards, and follows from the parent.
  std::vector<const IndexDesign*> found_by;
};

// No two rows of the same scope have the same values.  A reservation row, written in the same transaction, holds the
// claim.
struct Unique {
  std::vector<std::string> attributes;  // the values; a row that lacks one of them claims nothing
  std::vector<std::string> within;      // the scope; empty: the whole table
  // How values are compared: as they are (Escaped), without regard to case and diacritics (Sortable), and also with the
  // letters that people type for others (Alphabetical).
  Transform compared = Transform::Escaped;
  Position position;
};

// A condition on an entity. It is checked whenever a user or an action changes an attribute that it reads.
struct EntityCheck {
  Expression that;
  std::string attribute;  // the attribute of the reported problem
  std::string problem;    // "must not be beyond totalPages"
  Position position;
};

struct SoftDelete {
  std::string attribute;                     // boolean: true while deleted
  std::optional<std::string> at;             // timestamp of the deletion
  std::optional<std::chrono::seconds> keep;  // purged after that long; none: kept until purged by hand
  Position position;
};

// The callers that may do something.  Empty: only the system itself.
struct Access {
  bool anyone = false;     // `public`: no token needed
  bool signed_in = false;  // `signed-in`: any valid token
  bool owner = false;      // `owner`: the entity's owner attribute is the token's subject
  // `{ public: "isPublic = true" }`: no token needed for a row of which this holds.  Only for reading.
  std::optional<Expression> anyone_when;
  std::vector<std::string> roles;    // `role:admin`
  std::vector<const Grant*> grants;  // `shared`: the name of a grant
  Position position;
};

// One method on one path of an entity.
struct EntityRoute {
  std::string_view operation;
  std::string_view method;
  std::string path;
};

struct Entity {
  std::string name;
  std::string description;
  std::string path;                     // REST: "/libraries/{LibraryId}/collections/{CollectionId}"; empty: no routes
  std::vector<std::string> operations;  // of create, get, put, update, delete, restore, purge: operations with a route
  std::optional<std::string> owner;     // the attribute that is bound to the token's subject
  const Attribute* owner_attribute = nullptr;  // `owner`; null: it has none
  Access create, read, update, remove;
  std::string key_family;             // entities of one family may share keys; the entity's own name when not given
  std::vector<Attribute> attributes;  // in the order of the file
  std::vector<Record> records;        // never empty; the first is the one that is always there
  std::vector<Parent> parents;
  std::vector<Unique> uniques;
  std::vector<EntityCheck> checks;
  bool versioned = true;
  bool append_only = false;  // no update and no delete, a cascade aside
  std::optional<SoftDelete> soft_delete;
  std::optional<std::string> unfinished;  // the attribute that is true while the entity is written in several steps
  Position position;
  // The attributes in the templates of the main record's primary key. They name one entity.
  std::vector<std::string> identity;
  // Derived: no second entity ever has the same name.  Part of the name is generated, or is a number that is given by a
  // parent that is itself never recreated.
  bool never_recreated = false;

  const Attribute* find_attribute(std::string_view name) const;
  const Parent* find_parent(std::string_view relation) const;
  const Record* find_record(std::string_view name) const;
  const Record& main() const { return records.front(); }
  // Whether it can change without its version: counters, sums, copies, attributes that the deletion of a parent clears,
  // and those declared with `drifts`.
  bool drifts() const;
  // Where new ones are made: the path without the names at its end.  "/lists/{id}/items/{type}/{contentId}" is
  // "/lists/{id}/items".
  std::string collection_path() const;
  bool has_operation(std::string_view operation) const;
  // Whether the operation is possible: an append_only entity is never changed, and restore and purge need soft
  // deletion.
  bool can_have_operation(std::string_view operation) const;
  bool expires() const;  // one of its rows does
  // Routes of its operations; none without a path.
  std::vector<EntityRoute> routes() const;
  // Whether the attribute is part of its name.
  bool is_named_by(std::string_view attribute) const;
  // Whether its access has that grant.
  bool lets_in_by(const Grant& grant) const;
};

// ------------------------------------------------------------------------------------------------------------ patterns

enum class Comparison : std::uint8_t { Equal, BeginsWith, Between, Less, LessOrEqual, Greater, GreaterOrEqual };

struct PatternCondition {
  std::string attribute;
  Comparison comparison = Comparison::Equal;
  std::vector<Template> operands;  // two for Between, otherwise one
  // With Between: the upper bound itself is left out, so that "from a to b" can be half-open.
  bool half_open = false;
  // For an included upper bound and for Greater: this text behind the bound gives the last of all keys that begin with
  // it. Empty: the bound stands for itself only.
  std::string ending;
  Position position;
};

struct Returned {
  const Entity* entity = nullptr;
  const Record* record = nullptr;  // the first when not given
  Position position;
};

// A returned entity, and that relation of it which a pattern follows.
struct Related {
  const Entity* entity = nullptr;
  const Parent* through = nullptr;
};

// Children that follow their parent in the key's order are served inside it.
struct Nest {
  const Entity* parent = nullptr;
  std::vector<Related> children;
  std::string relation;  // the children's relation to it
  std::string as;        // the member that holds them: "items"
};

// Each returned row gets the row that one of its relations points to.
struct Join {
  std::string relation;
  std::string as;
  std::vector<std::string> attributes;  // of the joined entity; empty: all that is served
  std::vector<Related> returned;        // those that have `relation`

  const Parent* through(const Entity& entity) const;  // null: it has no such relation
};

enum class Order : std::uint8_t { Ascending, Descending, Asked };  // Asked: a parameter `order` says asc or desc

struct Pattern {
  std::string name;
  std::string description;
  std::string path;                         // REST, GET: "/books?status={status}"; empty: no route
  const IndexDesign* index = nullptr;       // null: the table
  std::vector<PatternCondition> partition;  // Equal, one per partition key attribute
  std::vector<PatternCondition> sort;
  Order order = Order::Ascending;
  Order default_order = Order::Ascending;  // with Asked
  std::vector<std::string> sorted_by;      // the answer has this order; the checker proves that the key has it
  std::optional<Expression> filter;
  std::vector<Returned> returns;
  std::vector<Attribute> parameters;  // every name in path, templates and filter, `me` and `now` aside
  std::optional<Nest> nest;
  std::vector<Join> joins;
  const Entity* within = nullptr;  // that the parameters name; it must be visible to the caller, or 404; null: nothing
  Access access;
  bool own_access = false;  // given in the file; otherwise derived from the returned entities
  bool single = false;      // one row or 404, instead of a list
  bool consistent = false;
  unsigned default_limit = 50;
  unsigned max_limit = 100;
  Position position;

  unsigned shards() const;  // how many queries one page takes
};

// ------------------------------------------------------------------------------------------------------------- actions

struct Failure {
  int status = 409;
  std::string code = "Conflict";
  std::string message;
};

struct Assignment {
  std::string attribute;
  Expression value;
};

struct Step {
  enum class Kind : std::uint8_t {
    Read,    // an entity by its key, consistently; absent is 404 unless optional; the transaction is conditioned on it
    Check,   // `that` must hold, or the action ends with `failure`
    Create,  // a new entity
    Update,  // of an entity that was read
    Delete,  // of an entity that was read
  };
  Kind kind = Kind::Check;
  std::string as;                       // the name of the entity; Update and Delete: of the entity that was read
  std::vector<const Entity*> entities;  // Read: the first that has a row; Create: one; others: those of `as`
  std::vector<Assignment> key;          // Read
  std::vector<Assignment> set;          // Create, Update; null clears
  std::optional<Expression> that;       // Check
  std::optional<Expression> when;       // the step is left out unless this holds
  bool optional = false;                // Read
  Failure failure;                      // Check
  Position position;
};

// A named transaction: reads entities, computes, and writes everything at once, on the condition that nothing read has
// changed.
struct Action {
  std::string name;
  std::string description;
  std::string method = "POST";
  std::string path;
  std::vector<Attribute> inputs;  // from the path and from the body; of a GET, from the query
  std::vector<Step> steps;
  bool native = false;  // carried out by C++ that the app is given; it has no steps
  std::vector<std::string>
      accepts;  // native: media types of a body that is taken as it is, or `none`; inputs then come from the query
  std::optional<std::string> result;  // the answer is this step's entity; none: 204
  const Entity* within = nullptr;     // as of a pattern
  Access access;
  bool own_access = false;  // the file has it; otherwise it follows from the steps
  Position position;

  bool creates(const Entity& entity) const;  // in a step
};

// Somebody else's rows, through a pointer: SHARED_LIBRARY(SharedToId = me, LibraryId) gives OwnerId = SharedFromId.
struct Grant {
  std::string name;
  std::string description;
  const Entity* pointer = nullptr;
  std::vector<std::pair<std::string, std::string>>
      key;  // the pointer's attribute -> attribute of the requested row, or "me"
  std::vector<std::pair<std::string, std::string>> gives;  // attribute of the requested row -> the pointer's attribute
  Position position;
};

struct Acceptance {
  std::string finding;  // a Diagnostic's code
  std::string on;       // its subject; empty: any
  std::string because;
  Position position;
};

struct Model {
  Model() = default;
  Model(Model&&) = default;
  Model& operator=(Model&&) = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  std::string name;
  std::string description;
  std::string file;
  TableDesign table;
  std::vector<Entity> entities;
  std::vector<Pattern> patterns;
  std::vector<Action> actions;
  std::vector<Grant> grants;
  std::vector<Acceptance> accepted;

  const Entity* find_entity(std::string_view name) const;
  const Pattern* find_pattern(std::string_view name) const;
  const Action* find_action(std::string_view name) const;
  const Grant* find_grant(std::string_view name) const;
  // The entity and record of a row, by its type attribute; nulls when it is none of the model's.
  std::pair<const Entity*, const Record*> find_row_type(std::string_view type) const;
};

}  // namespace stator::model
