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

#include "stator/client/client.h"
#include "stator/runtime/dynamo/call.h"
#include "stator/runtime/dynamo/stream_reader.h"
#include "stator/runtime/test_support.h"
#include "stator/value/json.h"

namespace stator::runtime {

// A database whose table has the stream that a test wants: shards that end, vanish and lose their oldest records.
// Everything but the stream is the database's own.  Confined to one thread.
class FakeStream final : public client::Client {
 public:
  struct Shard {
    std::string id;
    std::string parent;
    std::vector<std::string> records;  // as the real stream told them
    bool closed = false;
    bool listed = true;
    std::size_t trimmed = 0;  // of the oldest records
  };

  explicit FakeStream(client::Client& client) : client_(client) {}

  Shard& add(std::string_view id, std::string_view parent = "") {
    return shards_.emplace(id, Shard{.id = std::string(id), .parent = std::string(parent), .records = {}})
        .first->second;
  }
  // What has happened to the table since the last time becomes records of this shard.
  void take(Shard& shard, std::string_view table) {
    const auto state = ask_json(client_, "DescribeTable", fmt::format(R"({{"TableName":"{}"}})", table));
    const std::string arn(text_at(*object_at(state->root(), "Table"), "LatestStreamArn").value());
    StreamReader reader(client_);
    const auto shards = reader.shards(arn);
    for (const auto& real : *shards) {
      auto& position = positions_[real.id];
      auto page = reader.read(*reader.iterator(arn, real.id, position));
      for (; page.ok() && !page->changes.empty(); page = reader.read(*page->next)) {
        for (const auto& change : page->changes) {
          shard.records.push_back(change.text);
          position = change.sequence_number;
        }
        if (!page->next) break;
      }
    }
  }
  void expire_iterators() { expired_ = true; }
  // The shards whose records were asked for, in that order.
  const std::vector<std::string>& asked() const { return asked_; }

  void call(std::string_view operation, std::string_view json, api::ReplyCallback reply) override {
    if (operation == "DescribeStream") return reply(described());
    if (operation == "GetShardIterator") return reply(iterator(*Answer::read(operation, json)));
    if (operation == "GetRecords") return reply(records(*Answer::read(operation, json)));
    client_.call(operation, json, std::move(reply));
  }

 private:
  static constexpr std::size_t kPage = 2;

  static api::Reply fault(std::string_view name) {
    return {.outcome = api::Fault{.type = fmt::format("com.amazonaws.dynamodb.v20120810#{}", name),
                                  .message = "the test says no",
                                  .server_side = false},
            .table = {}};
  }
  static api::Reply success(std::string body) { return {.outcome = std::move(body), .table = {}}; }

  api::Reply described() const {
    std::string body;
    value::JsonWriter json(body);
    json.begin_object().key("StreamDescription").begin_object().key("Shards").begin_array();
    for (const auto& [id, shard] : shards_) {
      if (!shard.listed) continue;
      json.begin_object().key("ShardId").string(id);
      if (!shard.parent.empty()) json.key("ParentShardId").string(shard.parent);
      json.end_object();
    }
    json.end_array().end_object().end_object();
    return success(std::move(body));
  }

  api::Reply iterator(const Answer& request) {
    const auto shard = shards_.find(std::string(text_at(request.root(), "ShardId").value()));
    if (shard == shards_.end() || !shard->second.listed) return fault("ResourceNotFoundException");
    auto at = shard->second.trimmed;
    if (const auto after = text_at(request.root(), "SequenceNumber")) {
      const auto& records = shard->second.records;
      const auto found = std::find_if(records.begin(), records.end(), [&](const std::string& record) {
        return record.find(fmt::format(R"("SequenceNumber":"{}")", *after)) != std::string::npos;
      });
      at = static_cast<std::size_t>(found - records.begin()) + 1;
      if (at <= shard->second.trimmed) return fault(StreamReader::kTrimmed);
    }
    return success(fmt::format(R"({{"ShardIterator":"{}:{}"}})", shard->first, at));
  }

  api::Reply records(const Answer& request) {
    if (std::exchange(expired_, false)) return fault(StreamReader::kExpired);
    const auto iterator = text_at(request.root(), "ShardIterator").value();
    const auto colon = iterator.find(':');
    const auto& shard = shards_.at(std::string(iterator.substr(0, colon)));
    std::size_t at = 0;
    std::from_chars(iterator.data() + colon + 1, iterator.data() + iterator.size(), at);
    asked_.push_back(shard.id);
    if (!shard.listed) return fault("ResourceNotFoundException");
    if (at < shard.trimmed) return fault(StreamReader::kTrimmed);
    const auto end = std::min(at + kPage, shard.records.size());
    std::string body = R"({"Records":[)";
    for (auto i = at; i < end; ++i) body += (i > at ? "," : "") + shard.records[i];
    body += "]";
    if (!shard.closed || end < shard.records.size()) {
      body += fmt::format(R"(,"NextShardIterator":"{}:{}")", shard.id, end);
    }
    return success(body + "}");
  }

  client::Client& client_;
  std::map<std::string, Shard> shards_;
  std::map<std::string, std::optional<std::string>> positions_;  // in the real stream
  std::vector<std::string> asked_;
  bool expired_ = false;
};

}  // namespace stator::runtime
