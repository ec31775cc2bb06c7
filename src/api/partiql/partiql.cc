#include "stator/api/partiql/partiql.h"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include "stator/api/tables/table_name.h"
#include "stator/expr/partiql/parser.h"
#include "stator/value/json.h"

namespace stator::api {

using expr::partiql::Binding;
using expr::partiql::Returning;
using expr::partiql::Select;

Result<std::unique_ptr<BoundStatement>> BoundStatement::from(std::string_view text, std::optional<Parameters> given) {
  auto parameters = std::move(given).value_or(Parameters());
  auto bound = std::make_unique<BoundStatement>();
  bound->statement_ = TRY(expr::partiql::parse(text));
  std::string identity(text);
  for (const auto& parameter : parameters) {
    identity += '\0';
    value::append_json(identity, parameter);
  }
  bound->fingerprint_ = XXH3_64bits(identity.data(), identity.size());
  bound->binding_ = TRY(Binding::make(bound->statement_, std::move(parameters)));
  return bound;
}

bool BoundStatement::is_exists() const {
  const auto* select = std::get_if<Select>(&statement_.body);
  return select != nullptr && select->exists;
}

Result<engine::TablePtr> find_table(CallContext& call, const BoundStatement& statement) {
  const auto name = table_name(statement.statement().source().table);
  if (!name) {
    return validation_error(
        "Table name should be within the length [3, 255] and only contain 'a-z', 'A-Z', '0-9', '-', '_', '.'.");
  }
  return find_table(call, *name);
}

// A token is base64 of
//
//   version:u8 = 1  fingerprint:u64  read:u32  key: JSON, or nothing  checksum:u64 of all before it
//
// numbers as the machine has them: it lives no longer than a client's loop over the pages.
namespace {

constexpr char kTokenVersion = 1;
constexpr std::size_t kTokenKeyAt = 1 + sizeof(std::uint64_t) + sizeof(std::uint32_t);

template <typename T>
void append(std::string& out, T number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

template <typename T>
T number_at(std::string_view bytes, std::size_t at) {
  T number;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

}  // namespace

std::string make_next_token(const BoundStatement& statement, const SelectPosition& position) {
  std::string bytes(1, kTokenVersion);
  append(bytes, statement.fingerprint());
  append(bytes, position.read);
  if (position.after) value::append_json(bytes, *position.after);
  append(bytes, XXH3_64bits(bytes.data(), bytes.size()));
  std::string token;
  value::append_base64(token, bytes);
  return token;
}

Result<SelectPosition> read_next_token(const BoundStatement& statement, std::string_view token) {
  const auto invalid = validation_error("Invalid NextToken");
  std::string bytes;
  if (!value::decode_base64(token, bytes) || bytes.size() < kTokenKeyAt + sizeof(std::uint64_t)) return invalid;
  const auto content = std::string_view(bytes).substr(0, bytes.size() - sizeof(std::uint64_t));
  const auto checksum = number_at<std::uint64_t>(bytes, content.size());
  if (content[0] != kTokenVersion || checksum != XXH3_64bits(content.data(), content.size())) return invalid;
  if (number_at<std::uint64_t>(content, 1) != statement.fingerprint()) {
    return validation_error("NextToken does not match request");
  }
  SelectPosition position{.read = number_at<std::uint32_t>(content, 1 + sizeof(std::uint64_t)), .after = {}};
  if (const auto text = content.substr(kTokenKeyAt); !text.empty()) {
    auto key = value::parse_item(text);
    if (!key) return invalid;
    position.after = std::move(*key);
  }
  return position;
}

Result<std::optional<AnswerItem>> WriteReturn::item(engine::ActionOutcome& outcome) const {
  const auto made = [](value::Item item) {
    return item.empty() ? std::nullopt : std::optional<AnswerItem>(std::move(item));
  };
  const auto modified = [&](const value::Item& item) {
    return made(update ? expr::project(item, update->paths()) : value::Item());
  };
  switch (returning) {
    case Returning::Nothing: break;
    case Returning::AllOld:
      if (outcome.before.exists()) return std::optional<AnswerItem>(std::move(outcome.before).take());
      break;
    case Returning::ModifiedOld: return modified(*TRY(outcome.before.item()));
    case Returning::AllNew:
      if (outcome.after) return made(std::move(*outcome.after));
      break;
    case Returning::ModifiedNew:
      if (outcome.after) return modified(*outcome.after);
      break;
  }
  return std::optional<AnswerItem>();
}

Fault WriteReturn::failure(engine::ActionOutcome& outcome, bool with_item) const {
  if (is_insert) return dynamodb_fault("DuplicateItemException", "Duplicate primary key exists in table");
  Fault fault = to_fault({ErrorCode::ConditionalCheckFailed, "The conditional request failed"});
  if (with_item && outcome.before.exists()) fault.item = AnswerItem(std::move(outcome.before).take());
  return fault;
}

}  // namespace stator::api
