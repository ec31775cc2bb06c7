#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/client/call.h"
#include "stator/client/client.h"
#include "stator/runtime/dynamo/stream_reader.h"
#include "stator/runtime/test_support.h"

namespace stator::runtime {

// A database with a stream that a test controls: shards that end, vanish and lose their oldest records.
// Everything but the stream is the database's own.  Confined to one thread.
class FakeStream final : public client::Client {
 public:
  struct Shard {
    std::string id;
    std::string parent;
    std::vector<api::StreamRecord> records;  // as the real stream told them
    bool closed = false;
    bool listed = true;
    std::size_t trimmed = 0;  // of the oldest records
  };

  explicit FakeStream(client::Client& client) : client_(client) {}

  Shard& add(std::string_view id, std::string_view parent = "") {
    return shards_.emplace(id, Shard{.id = std::string(id), .parent = std::string(parent), .records = {}})
        .first->second;
  }
  // Moves the table's changes since the last time into records of this shard.
  void take(Shard& shard, std::string_view table) {
    const auto state = client::ask(client_, api::DescribeTableRequest{.table = std::string(table)});
    const auto& arn = state->table.stream_arn.value();
    const auto stream = client::ask(client_, api::DescribeStreamRequest{.arn = arn});
    for (const auto& real : stream->stream.shards) {
      auto& position = positions_[real.id];
      auto iterator = StreamReader(client_).iterator(arn, real.id, position);
      std::optional<std::string> next = *iterator;
      while (next) {
        auto page = client::ask(client_, api::GetRecordsRequest{.iterator = *next});
        if (!page || page->records.empty()) break;
        for (auto& record : page->records) {
          position = record.change.sequence_number;
          shard.records.push_back(std::move(record));
        }
        next = page->next;
      }
    }
  }
  void expire_iterators() { expired_ = true; }
  // The shards that were read, in that order.
  const std::vector<std::string>& asked() const { return asked_; }

  void run(api::AnyRequest request, api::AnyReplyCallback reply) override {
    if (std::holds_alternative<api::DescribeStreamRequest>(request)) return reply(api::AnyAnswer(described()));
    if (const auto* asked = std::get_if<api::GetShardIteratorRequest>(&request)) return reply(iterator(*asked));
    if (const auto* asked = std::get_if<api::GetRecordsRequest>(&request)) return reply(records(*asked));
    client_.run(std::move(request), std::move(reply));
  }
  void call(std::string_view operation, std::string_view json, api::ReplyCallback reply) override {
    client_.call(operation, json, std::move(reply));
  }

 private:
  using Answered = Result<api::AnyAnswer, api::Fault>;
  static constexpr std::size_t kPage = 2;

  static api::Fault fault(std::string_view name) {
    return {.type = fmt::format("com.amazonaws.dynamodb.v20120810#{}", name),
            .message = "the test says no",
            .server_side = false};
  }

  api::DescribeStreamAnswer described() const {
    api::DescribeStreamAnswer answer;
    for (const auto& [id, shard] : shards_) {
      if (!shard.listed) continue;
      auto& description = answer.stream.shards.emplace_back();
      description.id = id;
      if (!shard.parent.empty()) description.parent = shard.parent;
    }
    return answer;
  }

  Answered iterator(const api::GetShardIteratorRequest& request) {
    const auto shard = shards_.find(request.shard);
    if (shard == shards_.end() || !shard->second.listed) return fault("ResourceNotFoundException");
    auto at = shard->second.trimmed;
    if (request.sequence_number) {
      const auto& records = shard->second.records;
      const auto found = std::ranges::find(records, *request.sequence_number,
                                           [](const auto& record) { return record.change.sequence_number; });
      at = static_cast<std::size_t>(found - records.begin()) + 1;
      if (at <= shard->second.trimmed) return fault(StreamReader::kTrimmed);
    }
    return api::AnyAnswer(api::GetShardIteratorAnswer{fmt::format("{}:{}", shard->first, at)});
  }

  Answered records(const api::GetRecordsRequest& request) {
    if (std::exchange(expired_, false)) return fault(StreamReader::kExpired);
    const std::string_view iterator = request.iterator;
    const auto colon = iterator.find(':');
    const auto& shard = shards_.at(std::string(iterator.substr(0, colon)));
    std::size_t at = 0;
    std::from_chars(iterator.data() + colon + 1, iterator.data() + iterator.size(), at);
    asked_.push_back(shard.id);
    if (!shard.listed) return fault("ResourceNotFoundException");
    if (at < shard.trimmed) return fault(StreamReader::kTrimmed);
    const auto end = std::min(at + kPage, shard.records.size());
    api::GetRecordsAnswer answer;
    for (auto i = at; i < end; ++i) answer.records.push_back(shard.records[i]);
    if (!shard.closed || end < shard.records.size()) answer.next = fmt::format("{}:{}", shard.id, end);
    return api::AnyAnswer(std::move(answer));
  }

  client::Client& client_;
  std::map<std::string, Shard> shards_;
  std::map<std::string, std::optional<std::string>> positions_;  // in the real stream
  std::vector<std::string> asked_;
  bool expired_ = false;
};

}  // namespace stator::runtime
