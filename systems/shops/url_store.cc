#include "stator/systems/shops/url_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "stator/app/auth/crypto.h"
#include "stator/expr/build.h"
#include "stator/model/rows.h"
#include "stator/runtime/problem.h"

namespace stator::systems::shops {
namespace {

using runtime::Problem;
using runtime::Refusal;
using runtime::RowWrite;
using value::AttributeValue;
using value::Item;

constexpr unsigned kAttempts = 40;          // of one chunk, while others write the same rows
constexpr std::size_t kLongestInKey = 900;  // as the model says; longer ones are known by their hash

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return out;
}

bool is_as_known(const Item& known, const model::PlainObject& changes) {
  return std::ranges::all_of(changes.values,
                             [&](const auto& change) {
                               const auto* now = known.find(change.name);
                               return now != nullptr && *now == change.value;
                             }) &&
         std::ranges::all_of(changes.nulls, [&](const auto& name) { return known.find(name) == nullptr; });
}

}  // namespace

// The changes that one chunk makes to the rows that were read.
struct UrlStore::Plan {
  std::vector<RowWrite> writes;
  std::vector<std::size_t> created, changed, unchanged;  // places in the chunk
};

UrlStore::UrlStore(const model::Model& model, client::Client& client, const Clock& clock)
    : model_(model),
      url_(*model.find_entity("URL")),
      shop_(*model.find_entity("SHOP")),
      random_(Random::from_system()),
      dynamo_(client, random_, clock) {}

Item UrlStore::naming(std::string_view domain, const std::string& url) {
  Item item{{"domain", AttributeValue::string(domain)}, {"url", AttributeValue::string(url)}};
  if (url.size() > kLongestInKey) item.set("url_hash", AttributeValue(hex(app::sha256(url))));
  return item;
}

Result<UpsertReport, Problem> UrlStore::upsert(const std::string& domain, std::vector<UrlNews> news) {
  UpsertReport report;
  const std::span all(news);
  for (std::size_t start = 0; start < news.size(); start += kChunk) {
    TRY(upsert_chunk(domain, all.subspan(start, std::min(kChunk, news.size() - start)), report));
  }
  return report;
}

Result<void, Problem> UrlStore::upsert_chunk(const std::string& domain, std::span<UrlNews> chunk,
                                             UpsertReport& report) {
  for (unsigned attempt = 1; attempt <= kAttempts; ++attempt) {
    auto planned = TRY(plan(domain, chunk));
    if (!planned.created.empty()) planned.writes.push_back(count_write(domain, planned.created.size()));
    if (!planned.writes.empty()) {
      const auto answer = dynamo_.transact(std::move(planned.writes));
      const bool throttled = !answer && answer.error().kind == runtime::ProblemKind::Busy;
      if (!answer && !throttled) return answer.error();
      if (throttled || !answer->written()) {
        if (!throttled && !planned.created.empty() && answer->refusals.back().cause == Refusal::Cause::Condition)
          return runtime::not_found(shop_.name);
        runtime::back_off(attempt, random_, dynamo_.clock());
        continue;
      }
    }
    const auto tell = [&](const std::vector<std::size_t>& places, std::vector<std::string>& urls) {
      for (const auto place : places) urls.push_back(std::move(chunk[place].url));
    };
    tell(planned.created, report.created);
    tell(planned.changed, report.changed);
    tell(planned.unchanged, report.unchanged);
    return {};
  }
  return runtime::conflict("Contention", "others are writing the same URLs; try again");
}

Result<UrlStore::Plan, Problem> UrlStore::plan(const std::string& domain, std::span<const UrlNews> chunk) {
  std::vector<Item> attributes;
  std::vector<Item> keys;
  for (const auto& news : chunk) {
    attributes.push_back(naming(domain, news.url));
    auto key = TRY(runtime::checked(model::key_of(model_, url_, attributes.back())));
    if (!key) return runtime::invalid("a URL cannot be empty");
    keys.push_back(std::move(*key));
  }
  const auto rows = TRY(dynamo_.batch_get(model_.table.name, keys));
  std::unordered_map<std::string_view, const Item*> known;
  for (const auto& row : rows) {
    if (const auto& url = row.text("url"); !url.empty()) known.emplace(url, &row);
  }
  Plan plan;
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    const auto& changes = chunk[i].changes;
    const auto row = known.find(chunk[i].url);
    if (row != known.end() && is_as_known(*row->second, changes)) {
      plan.unchanged.push_back(i);
      continue;
    }
    const auto* before = row == known.end() ? nullptr : row->second;
    if (before != nullptr) attributes[i] = model::attributes_of(model_, url_, url_.main(), *before);
    for (const auto& [name, content] : changes.values) attributes[i].set(name, content);
    for (const auto& name : changes.nulls) attributes[i].erase(name);
    plan.writes.push_back(TRY(to_write(attributes[i], before)));
    (before == nullptr ? plan.created : plan.changed).push_back(i);
  }
  return plan;
}

// The whole row, if it is still the one that was read, or still absent.
Result<RowWrite, Problem> UrlStore::to_write(const Item& attributes, const Item* before) const {
  const auto& version = model_.table.version_attribute;
  const auto* seen = before == nullptr ? nullptr : before->find(version);
  auto whole = attributes;
  whole.set(version, AttributeValue::number(before == nullptr ? 1 : before->integer(version) + 1));
  TRY(runtime::checked(model::derive(url_, whole)));
  auto rows = TRY(runtime::checked(model::rows_of(model_, url_, whole)));
  RowWrite write;
  write.table = model_.table.name;
  write.item = std::move(rows.front().item);
  write.condition = expr::to_condition(seen == nullptr ? expr::absent(model_.table.partition.name)
                                                       : expr::compare(version, expr::Op::Equal, *seen));
  return write;
}

RowWrite UrlStore::count_write(const std::string& domain, std::size_t created) const {
  RowWrite write;
  write.kind = RowWrite::Kind::Update;
  write.table = model_.table.name;
  const auto key = model::key_of(model_, shop_, Item{{"domain", AttributeValue::string(domain)}});
  write.item = **key;
  write.update =
      expr::UpdateBuilder().add("url_count", AttributeValue::number(static_cast<std::int64_t>(created))).finish();
  write.condition = expr::to_condition(
      expr::compare(model_.table.type_attribute, expr::Op::Equal, AttributeValue::string(shop_.main().type)));
  return write;
}

}  // namespace stator::systems::shops
