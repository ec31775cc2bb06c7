#include "stator/runtime/read/ordered_read.h"

#include <algorithm>

#include "stator/runtime/problem.h"

namespace stator::runtime {
namespace {

using value::AttributeValue;
using value::Item;

constexpr unsigned kRequestsPerShard = 16;
constexpr unsigned kFilteredFactor = 4;  // rows to look at for each that is wanted, where a filter drops some
constexpr unsigned kMostAtOnce = 1000;

int compare(const AttributeValue& a, const AttributeValue& b) {
  if (a.as_number() != nullptr && b.as_number() != nullptr) {
    if (*a.as_number() == *b.as_number()) return 0;
    return *a.as_number() < *b.as_number() ? -1 : 1;
  }
  if (a.as_string() != nullptr && b.as_string() != nullptr) return a.as_string()->compare(*b.as_string());
  if (a.as_binary() != nullptr && b.as_binary() != nullptr) return a.as_binary()->bytes.compare(b.as_binary()->bytes);
  return 0;
}

}  // namespace

OrderedRead::OrderedRead(Dynamo& dynamo, const model::TableDesign& table, const model::IndexDesign* index,
                         Accept accept)
    : dynamo_(dynamo), table_(table), index_(index), accept_(std::move(accept)) {}

Result<OrderedRead, Problem> OrderedRead::begin(Dynamo& dynamo, const model::TableDesign& table,
                                                const model::IndexDesign* index, std::vector<QueryRequest> requests,
                                                const std::optional<PageEnd>& start, Accept accept) {
  if (start && (start->keys.size() != requests.size() || start->done.size() != requests.size())) {
    return invalid("this is not the end of a page of this list");
  }
  OrderedRead read(dynamo, table, index, std::move(accept));
  for (std::size_t i = 0; i < requests.size(); ++i) {
    Shard shard;
    shard.request = std::move(requests[i]);
    if (start) {
      shard.ended = start->done[i];
      if (!start->keys[i].empty()) shard.last = shard.request.page.start = start->keys[i];
    }
    read.shards_.push_back(std::move(shard));
  }
  read.requests_left_ = kRequestsPerShard * static_cast<unsigned>(read.shards_.size());
  return read;
}

Result<OrderedRead::Rows, Problem> OrderedRead::read(unsigned limit) {
  Rows result;
  // One row more than asked for tells whether there is another page.
  while (true) {
    const auto missing = limit + 1 - static_cast<unsigned>(result.rows.size());
    for (auto& shard : shards_) {
      // Without its next row nobody knows whether another shard's comes first.
      if (!TRY(fill(shard, missing))) {
        result.next = end();
        return result;
      }
    }
    auto* shard = next_shard();
    if (shard == nullptr) return result;
    if (result.rows.size() == limit) break;
    shard->last = std::move(shard->rows.front().position);
    result.rows.push_back(std::move(shard->rows.front().accepted));
    shard->rows.pop_front();
  }
  result.next = end();
  return result;
}

// Reads on until the shard has a row or has ended; false when the page has used up its requests.
Result<bool, Problem> OrderedRead::fill(Shard& shard, unsigned missing) {
  const auto share = (missing + static_cast<unsigned>(shards_.size()) - 1) / static_cast<unsigned>(shards_.size());
  const auto factor = shard.request.page.filter ? kFilteredFactor : 1U;
  while (shard.rows.empty() && !shard.ended) {
    if (requests_left_ == 0) return false;
    --requests_left_;
    shard.request.page.limit = std::min(std::max(share, 2U) * factor, kMostAtOnce);
    auto page = TRY(dynamo_.query(shard.request));
    for (auto& row : page.items) {
      auto position = position_of(row);
      auto accepted = TRY(accept_(std::move(row)));
      if (accepted) shard.rows.push_back({std::move(position), *std::move(accepted)});
    }
    shard.ended = !page.last_key;
    if (!page.last_key) continue;
    shard.request.page.start = std::move(page.last_key);
    if (shard.rows.empty())
      shard.last = shard.request.page.start;  // all of it was left out: no need to look at it again
  }
  return true;
}

// The shard whose row is next; of equals the first.
OrderedRead::Shard* OrderedRead::next_shard() {
  Shard* next = nullptr;
  for (auto& shard : shards_) {
    if (shard.rows.empty()) continue;
    if (next == nullptr || before(shard.rows.front(), next->rows.front(), shard.request.ascending)) next = &shard;
  }
  return next;
}

bool OrderedRead::before(const Read& a, const Read& b, bool ascending) const {
  const auto sort = table_.key_of(index_).sort;
  for (const auto& key : sort) {
    const auto* left = a.position.find(key.name);
    const auto* right = b.position.find(key.name);
    if (left == nullptr || right == nullptr) continue;
    if (const int order = compare(*left, *right); order != 0) return ascending ? order < 0 : order > 0;
  }
  return false;
}

Item OrderedRead::position_of(const Item& row) const {
  Item position;
  const auto take = [&](const model::KeyDesign& key) {
    if (const auto* content = row.find(key.name)) position.set(key.name, *content);
  };
  take(table_.partition);
  if (table_.sort) take(*table_.sort);
  if (index_ != nullptr) {
    for (const auto& key : index_->partition) take(key);
    for (const auto& key : index_->sort) take(key);
  }
  return position;
}

std::optional<PageEnd> OrderedRead::end() const {
  PageEnd end;
  for (const auto& shard : shards_) {
    end.keys.push_back(shard.last.value_or(Item()));
    end.done.push_back(shard.ended && shard.rows.empty());
  }
  if (std::all_of(end.done.begin(), end.done.end(), [](bool done) { return done; })) return std::nullopt;
  return end;
}

}  // namespace stator::runtime
