#include "stator/runtime/dynamo/dynamo.h"

#include <fmt/format.h>

#include <algorithm>

#include "stator/base/assert.h"
#include "stator/client/call.h"
#include "stator/expr/build.h"
#include "stator/runtime/dynamo/fault_problem.h"

namespace stator::runtime {
namespace {

constexpr std::size_t kBatchGetKeys = 100;   // DynamoDB's bound
constexpr unsigned kUnprocessedRetries = 8;  // of a batch, each of which may bring something

// ---------------------------------------------------------------------------------------------------- items of answers

// The attributes of the items in an answer.
template <typename Held>
auto taken(Held held, std::string_view operation)
    -> Result<std::remove_reference_t<decltype(*std::move(held).take())>, Problem> {
  auto items = std::move(held).take();
  if (!items) return unreadable_answer(operation);
  return std::move(*items);
}

Result<std::optional<value::Item>, Problem> taken(std::optional<api::AnswerItem> item, std::string_view operation) {
  if (!item) return std::optional<value::Item>();
  return std::optional(TRY(taken(std::move(*item), operation)));
}

Result<ItemPage, Problem> page_from(api::PageAnswer answer, std::string_view operation) {
  return ItemPage{.items = TRY(taken(std::move(answer.items), operation)), .last_key = std::move(answer.last_key)};
}

Result<Refusal, Problem> refusal_of(api::CancellationReason reason, std::string_view operation) {
  Refusal refusal;
  if (reason.code == "ConditionalCheckFailed") {
    refusal.cause = Refusal::Cause::Condition;
  } else if (reason.code == "TransactionConflict") {
    refusal.cause = Refusal::Cause::Contention;
  } else if (reason.code != "None") {
    return to_problem(reason.code, reason.message);
  }
  refusal.item = TRY(taken(std::move(reason.item), operation));
  return refusal;
}

// The request of a write that stands alone.
api::AnyRequest request_of(RowWrite write) {
  const bool shows_item = write.condition.has_value();
  switch (write.kind) {
    case RowWrite::Kind::Update:
      return api::UpdateItemRequest{.table = std::move(write.table),
                                    .key = std::move(write.item),
                                    .update = std::move(write.update),
                                    .condition = std::move(write.condition),
                                    .return_item_on_failure = shows_item};
    case RowWrite::Kind::Delete:
      return api::DeleteItemRequest{.table = std::move(write.table),
                                    .key = std::move(write.item),
                                    .condition = std::move(write.condition),
                                    .return_item_on_failure = shows_item};
    case RowWrite::Kind::Check: STATOR_ASSERT(false, "a check alone is no write");
    case RowWrite::Kind::Put: break;
  }
  return api::PutItemRequest{.table = std::move(write.table),
                             .item = std::move(write.item),
                             .condition = std::move(write.condition),
                             .return_item_on_failure = shows_item};
}

// ----------------------------------------------------------------------------------------------------------- the table

// A model's view may be none; the others come in the same order.
std::optional<api::StreamView> to_api(model::StreamView view) {
  switch (view) {
    case model::StreamView::None: break;
    case model::StreamView::KeysOnly: return api::StreamView::KeysOnly;
    case model::StreamView::NewImage: return api::StreamView::NewImage;
    case model::StreamView::OldImage: return api::StreamView::OldImage;
    case model::StreamView::NewAndOldImages: return api::StreamView::NewAndOldImages;
  }
  return std::nullopt;
}

model::StreamView from_api(const std::optional<api::StreamSpecification>& stream) {
  for (const auto view : {model::StreamView::KeysOnly, model::StreamView::NewImage, model::StreamView::OldImage,
                          model::StreamView::NewAndOldImages}) {
    if (stream && stream->view == to_api(view)) return view;
  }
  return model::StreamView::None;
}

std::vector<model::KeyDesign> sort_of(const model::TableDesign& table) {
  if (!table.sort) return {};
  return {*table.sort};
}

std::vector<api::KeyElement> key_elements(const std::vector<model::KeyDesign>& partition,
                                          const std::vector<model::KeyDesign>& sort) {
  std::vector<api::KeyElement> elements;
  for (const auto& key : partition) elements.push_back({key.name, api::KeyRole::Hash});
  for (const auto& key : sort) elements.push_back({key.name, api::KeyRole::Range});
  return elements;
}

std::optional<api::Throughput> throughput_of(const model::TableDesign& table) {
  if (!table.provisioned) return std::nullopt;
  return api::Throughput{.read_units = table.provisioned->read, .write_units = table.provisioned->write};
}

api::IndexDefinition definition_of(const model::TableDesign& table, const model::IndexDesign& index) {
  api::IndexDefinition definition{
      .name = index.name,
      .keys = key_elements(index.local ? std::vector{table.partition} : index.partition, index.sort)};
  switch (index.projection) {
    case model::ProjectionKind::All: definition.projection.kind = api::ProjectionKind::All; break;
    case model::ProjectionKind::KeysOnly: definition.projection.kind = api::ProjectionKind::KeysOnly; break;
    case model::ProjectionKind::Include:
      definition.projection = {.kind = api::ProjectionKind::Include, .attributes = index.included};
      break;
  }
  if (!index.local) definition.throughput = throughput_of(table);
  return definition;
}

std::optional<std::vector<api::IndexDefinition>> indexes_of(const model::TableDesign& table, bool local) {
  std::vector<api::IndexDefinition> indexes;
  for (const auto& index : table.indexes) {
    if (index.local == local) indexes.push_back(definition_of(table, index));
  }
  if (indexes.empty()) return std::nullopt;
  return indexes;
}

// Of the keys of the table and its indexes, each once.
std::vector<api::AttributeDefinition> definitions_of(const model::TableDesign& table) {
  std::vector<api::AttributeDefinition> definitions;
  const auto add = [&](const std::vector<model::KeyDesign>& keys) {
    for (const auto& key : keys) {
      if (std::ranges::find(definitions, key.name, &api::AttributeDefinition::name) == definitions.end()) {
        definitions.push_back({key.name, key.type});
      }
    }
  };
  add({table.partition});
  add(sort_of(table));
  for (const auto& index : table.indexes) {
    add(index.partition);
    add(index.sort);
  }
  return definitions;
}

struct KeyDesigns {
  std::vector<model::KeyDesign> partition, sort;
};

KeyDesigns designs_of(const std::vector<api::KeyElement>& keys,
                      const std::vector<api::AttributeDefinition>& definitions) {
  KeyDesigns designs;
  for (const auto& [name, role] : keys) {
    const auto defined = std::ranges::find(definitions, name, &api::AttributeDefinition::name);
    const auto type = defined == definitions.end() ? value::Type::S : defined->type;
    (role == api::KeyRole::Hash ? designs.partition : designs.sort)
        .push_back({.name = name, .type = type, .position = {}});
  }
  return designs;
}

model::IndexDesign design_of(const api::IndexDescription& description, bool local,
                             const std::vector<api::AttributeDefinition>& definitions) {
  model::IndexDesign index;
  index.name = description.name;
  index.local = local;
  auto keys = designs_of(description.keys, definitions);
  index.partition = std::move(keys.partition);
  index.sort = std::move(keys.sort);
  if (description.projection.kind == api::ProjectionKind::KeysOnly) index.projection = model::ProjectionKind::KeysOnly;
  if (description.projection.kind == api::ProjectionKind::Include) index.projection = model::ProjectionKind::Include;
  index.included = description.projection.attributes.value_or(std::vector<std::string>());
  return index;
}

TableState state_of(const api::TableDescription& description) {
  TableState state{.arn = description.arn,
                   .status = description.status,
                   .table = {},
                   .index_status = {},
                   .stream_arn = description.stream_arn};
  state.table.name = description.name;
  auto keys = designs_of(description.keys, description.definitions);
  if (!keys.partition.empty()) state.table.partition = keys.partition.front();
  if (!keys.sort.empty()) state.table.sort = keys.sort.front();
  for (const bool local : {true, false}) {
    for (const auto& index : local ? description.local_indexes : description.global_indexes) {
      state.table.indexes.push_back(design_of(index, local, description.definitions));
      state.index_status.push_back(index.status.value_or("ACTIVE"));
    }
  }
  state.table.stream = from_api(description.stream);
  return state;
}

}  // namespace

std::string_view stream_name(model::StreamView view) {
  switch (view) {
    case model::StreamView::None: return "none";
    case model::StreamView::KeysOnly: return "keys_only";
    case model::StreamView::NewImage: return "new_image";
    case model::StreamView::OldImage: return "old_image";
    case model::StreamView::NewAndOldImages: return "new_and_old_images";
  }
  return {};
}

void back_off(unsigned attempt, Random& random, const Clock& clock) {
  constexpr std::uint64_t kFirstMicroseconds = 500;
  constexpr unsigned kDoublings = 8;
  const auto longest = kFirstMicroseconds << std::min(attempt, kDoublings);
  clock.wait(std::chrono::microseconds(random.below(longest) + 1));
}

// The answer to a request, or the problem that its fault is.
template <typename Request>
Result<typename Request::Answer, Problem> Dynamo::ask(Request request) {
  auto answer = client::ask(client_, std::move(request));
  if (!answer) return to_problem(answer.error());
  return std::move(*answer);
}

Result<std::optional<value::Item>, Problem> Dynamo::get(std::string_view table, const value::Item& key,
                                                        bool consistent) {
  auto answer = TRY(ask(api::GetItemRequest{.table = std::string(table), .key = key, .consistent = consistent}));
  return taken(std::move(answer.item), "GetItem");
}

Result<std::vector<value::Item>, Problem> Dynamo::batch_get(std::string_view table,
                                                            const std::vector<value::Item>& keys, bool consistent,
                                                            const std::vector<std::string>& attributes) {
  std::vector<expr::Path> paths;
  for (const auto& name : attributes) paths.push_back({.attribute = name, .elements = {}});
  std::vector<value::Item> items;
  std::vector<value::Item> waiting(keys.rbegin(), keys.rend());  // taken from the back
  unsigned fruitless = 0;
  while (!waiting.empty()) {
    const auto count = std::min(waiting.size(), kBatchGetKeys);
    api::TableKeys batch{.table = std::string(table), .keys = {}, .consistent = consistent};
    if (!paths.empty()) batch.projection = expr::Projection(paths);
    batch.keys.assign(waiting.end() - static_cast<std::ptrdiff_t>(count), waiting.end());
    waiting.resize(waiting.size() - count);

    auto answer = TRY(ask(api::BatchGetItemRequest{.tables = {std::move(batch)}}));
    for (auto& response : answer.responses) {
      auto found = TRY(taken(std::move(response.items), "BatchGetItem"));
      std::move(found.begin(), found.end(), std::back_inserter(items));
    }
    if (answer.unprocessed.empty()) continue;
    auto& again = answer.unprocessed.front().keys;
    // A large page takes several requests as a matter of course; only those that bring nothing are a sign of
    // throttling.
    if (again.size() < count) {
      fruitless = 0;
    } else if (++fruitless > kUnprocessedRetries) {
      return Problem{.kind = ProblemKind::Busy, .code = "Busy", .message = "the database is throttling", .details = {}};
    } else {
      back_off(fruitless, random_, clock_);
    }
    std::move(again.begin(), again.end(), std::back_inserter(waiting));
  }
  return items;
}

Result<ItemPage, Problem> Dynamo::query(QueryRequest request) {
  return page_from(TRY(ask(std::move(request))), "Query");
}

QueryRequest partition_query(const model::TableDesign& table, const model::IndexDesign* index,
                             const value::Item& partition, unsigned limit) {
  QueryRequest request;
  request.page.table = table.name;
  if (index != nullptr) request.page.index = index->name;
  request.page.consistent = index == nullptr || index->local;
  request.page.limit = limit;
  for (const auto& [name, content] : partition) request.condition.terms.push_back(expr::key_equals(name, content));
  return request;
}

Result<bool, Problem> Dynamo::scan(std::string_view table, const std::optional<value::Item>& start,
                                   const std::function<Result<void, Problem>(const value::Item& row)>& look_at,
                                   const std::function<bool(std::uint64_t rows, const value::Item& last)>& after_page) {
  constexpr unsigned kPageRows = 200;
  ScanRequest request;
  request.page.table = table;
  request.page.consistent = true;
  request.page.limit = kPageRows;
  request.page.start = start;
  std::uint64_t rows = 0;
  do {
    auto page = TRY(page_from(TRY(ask(request)), "Scan"));
    for (const auto& row : page.items) TRY(look_at(row));
    rows += page.items.size();
    request.page.start = std::move(page.last_key);
    if (!after_page(rows, request.page.start ? *request.page.start : value::Item())) return false;
  } while (request.page.start);
  return true;
}

Result<RowWriteOutcome, Problem> Dynamo::write(RowWrite write) {
  auto answer = client::run_and_wait(client_, request_of(std::move(write)));
  if (answer) return RowWriteOutcome{};
  auto& fault = answer.error();
  Refusal refusal;
  if (fault.name() == "ConditionalCheckFailedException") {
    refusal.cause = Refusal::Cause::Condition;
    refusal.item = TRY(taken(std::move(answer).error().item, "write"));
  } else if (fault.name() == "TransactionConflictException") {
    refusal.cause = Refusal::Cause::Contention;
  } else {
    return to_problem(fault);
  }
  return RowWriteOutcome{.refusals = {std::move(refusal)}};
}

Result<RowWriteOutcome, Problem> Dynamo::transact(std::vector<RowWrite> writes) {
  constexpr std::string_view kOperation = "TransactWriteItems";
  const auto count = writes.size();
  for (auto& write : writes) write.return_item_on_failure = write.condition.has_value();
  auto answered = client::ask(client_, api::TransactWriteItemsRequest{.items = std::move(writes)});
  if (answered) return RowWriteOutcome{};
  auto fault = std::move(answered).error();
  if (fault.name() != "TransactionCanceledException") return to_problem(fault);
  if (!fault.reasons || fault.reasons->size() != count) return unreadable_answer(kOperation);
  RowWriteOutcome answer;
  for (auto& reason : *fault.reasons) answer.refusals.push_back(TRY(refusal_of(std::move(reason), kOperation)));
  return answer;
}

Result<std::optional<TableState>, Problem> Dynamo::describe_table(std::string_view table) {
  const auto answer = client::ask(client_, api::DescribeTableRequest{.table = std::string(table)});
  if (answer) return std::optional(state_of(answer->table));
  if (answer.error().name() == "ResourceNotFoundException") return std::optional<TableState>();
  return to_problem(answer.error());
}

Result<void, Problem> Dynamo::create_table(const model::TableDesign& table) {
  api::CreateTableRequest request{.table = table.name,
                                  .definitions = definitions_of(table),
                                  .keys = key_elements({table.partition}, sort_of(table)),
                                  .local_indexes = indexes_of(table, true),
                                  .global_indexes = indexes_of(table, false),
                                  .throughput = throughput_of(table)};
  if (!table.provisioned) request.billing_mode = api::BillingMode::PayPerRequest;
  if (const auto view = to_api(table.stream)) request.stream = {.enabled = true, .view = view};
  const auto created = client::ask(client_, std::move(request));
  if (created || created.error().name() == "ResourceInUseException") return {};
  return to_problem(created.error());
}

Result<void, Problem> Dynamo::create_index(const model::TableDesign& table, const model::IndexDesign& index) {
  TRY(ask(api::UpdateTableRequest{.table = table.name,
                                  .definitions = definitions_of(table),
                                  .index_updates = {{{.create = definition_of(table, index)}}}}));
  return {};
}

Result<void, Problem> Dynamo::drop_index(std::string_view table, std::string_view index) {
  TRY(ask(api::UpdateTableRequest{.table = std::string(table),
                                  .index_updates = {{{.remove = api::IndexName{std::string(index)}}}}}));
  return {};
}

Result<void, Problem> Dynamo::change_stream(std::string_view table, model::StreamView view) {
  const auto wanted = to_api(view);
  TRY(ask(api::UpdateTableRequest{.table = std::string(table),
                                  .stream = api::StreamSpecification{.enabled = wanted.has_value(), .view = wanted}}));
  return {};
}

Result<std::optional<std::string>, Problem> Dynamo::describe_ttl(std::string_view table) {
  auto [status, attribute] = TRY(ask(api::DescribeTimeToLiveRequest{.table = std::string(table)})).time_to_live;
  if (status != "ENABLED" && status != "ENABLING") return std::optional<std::string>();
  return std::optional(attribute.value_or(""));
}

Result<void, Problem> Dynamo::enable_ttl(std::string_view table, std::string_view attribute) {
  TRY(ask(api::UpdateTimeToLiveRequest{.table = std::string(table),
                                       .time_to_live = {.enabled = true, .attribute = std::string(attribute)}}));
  return {};
}

}  // namespace stator::runtime
