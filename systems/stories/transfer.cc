#include "stator/systems/stories/transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "stator/app/rest/answer.h"
#include "stator/app/rest/body_memory.h"
#include "stator/app/rest/file_body.h"
#include "stator/base/log.h"
#include "stator/base/memory_budget.h"
#include "stator/runtime/object.h"
#include "stator/runtime/problem.h"
#include "stator/systems/stories/arrangement.h"
#include "stator/systems/stories/story_document.h"
#include "stator/value/item_size.h"

namespace stator::systems::stories {
namespace {

using runtime::Draft;
using runtime::Object;
using runtime::Problem;
using runtime::Source;
using runtime::Transaction;
using value::AttributeValue;
using value::Item;

constexpr std::chrono::hours kUnfinishedImport{1};  // until an interrupted import is deleted
// Half of DynamoDB's bound, which counts more than text.
constexpr std::size_t kBytesPerTransaction = std::size_t{2} << 20;
constexpr std::size_t kValuesPerTransaction = 20'000;  // a single node may have more
constexpr std::string_view kTweeType = "text/twee; charset=utf-8";

std::string upper_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return text;
}

// Reads the nodes of a story that has been looked through.
using ForEachNode = std::function<Result<void, Problem>(const OnNode& on_node)>;

// Writes nodes as they are read, and holds as many as one transaction takes.
class Import {
 public:
  Import(const StoryAccess& stories, const Clock& clock, std::string owner, MemoryBudget* memory)
      : stories_(stories), clock_(clock), owner_(std::move(owner)), claim_(memory, MemoryPart::Values) {}

  Result<Object, Problem> run(const Item& story, const ForEachNode& for_each_node) {
    TRY(begin(story));
    auto done = for_each_node([this](Item node, std::size_t values) { return add(std::move(node), values); });
    if (done) done = write_waiting();
    auto finished = done ? finish() : Result<Object, Problem>(done.error());
    if (!finished) give_up();
    return finished;
  }

 private:
  Result<void, Problem> begin(const Item& story) {
    return stories_.repository().transact([&](Transaction& transaction) -> Result<void, Problem> {
      auto attributes = story;
      attributes.set("userId", AttributeValue(owner_));
      attributes.set("importing", AttributeValue::boolean(true));
      auto* draft = TRY(transaction.create(stories_.story(), std::move(attributes), Source::Model));
      const auto expiry = std::chrono::floor<std::chrono::seconds>(clock_.now() + kUnfinishedImport);
      draft->after->set(ttl(), AttributeValue::number(expiry.time_since_epoch().count()));
      story_id_ = draft->after->text("id");
      return {};
    });
  }

  Result<void, Problem> add(Item node, std::size_t values) {
    const auto bytes = value::item_size_bytes(node);
    const bool full = waiting_.size() == kNodesPerTransaction || bytes_ + bytes > kBytesPerTransaction ||
                      values_ + values > kValuesPerTransaction;
    if (full) TRY(write_waiting());
    bytes_ += bytes;
    values_ += values;
    if (const auto needed = app::bytes_of_values(bytes_, values_);
        needed > MemoryBudget::kSmallBytes && !claim_.resize(needed)) {
      return app::unreadable({ErrorCode::Busy, "there is no memory left for this request: try again in a moment"});
    }
    waiting_.push_back(std::move(node));
    return {};
  }

  Result<void, Problem> write_waiting() {
    if (waiting_.empty()) return {};
    TRY(stories_.repository().transact([&](Transaction& transaction) -> Result<void, Problem> {
      for (std::size_t i = 0; i < waiting_.size(); ++i) {
        auto attributes = waiting_[i];
        attributes.set("userId", AttributeValue(owner_));
        attributes.set("storyId", AttributeValue(story_id_));
        const auto position = static_cast<std::int64_t>(written_ + i + 1) * kPositionStep;
        attributes.set("nodeOrder", AttributeValue::number(position));
        TRY(transaction.create(stories_.node(), std::move(attributes), Source::Model));
      }
      return {};
    }));
    written_ += waiting_.size();
    waiting_.clear();
    bytes_ = values_ = 0;
    return {};
  }

  Result<Object, Problem> finish() {
    Item after;
    TRY(stories_.repository().transact([&](Transaction& transaction) -> Result<void, Problem> {
      auto* story = TRY(load(transaction));
      if (story == nullptr) return runtime::conflict("Removed", "the story was deleted while it was being imported");
      TRY(transaction.change(*story, {.values = {}, .nulls = {"importing"}}, Source::Model));
      story->after->erase(ttl());
      after = *story->after;
      return {};
    }));
    return runtime::to_object(stories_.model(), stories_.story(), std::move(after));
  }

  // Its nodes go with it, through the consistency manager.
  void give_up() {
    const auto removed = stories_.repository().transact([&](Transaction& transaction) -> Result<void, Problem> {
      auto* story = TRY(load(transaction));
      return story != nullptr ? transaction.remove(*story) : Result<void, Problem>();
    });
    if (!removed) log::warning("unfinished_import_left_to_expire", {{"problem", removed.error().message}});
  }

  Result<Draft*, Problem> load(Transaction& transaction) {
    return transaction.load(stories_.story(), {{"userId", AttributeValue(owner_)}, {"id", AttributeValue(story_id_)}});
  }

  const std::string& ttl() const { return *stories_.model().table.ttl_attribute; }

  const StoryAccess& stories_;
  const Clock& clock_;
  const std::string owner_;
  std::string story_id_;
  MemoryClaim claim_;
  std::vector<Item> waiting_;  // for the next transaction
  std::size_t bytes_ = 0;      // of those
  std::size_t values_ = 0;     // in those
  std::size_t written_ = 0;
};

bool is_json(const http::Request& request) { return request.header("Content-Type").starts_with(app::kJsonType); }

}  // namespace

Result<http::Response, Problem> export_story(const StoryAccess& stories, Random& random, const app::NativeCall& call) {
  StoryDocument document{.story = call.within->attributes, .nodes = {}};
  const auto id = document.story.text("id");
  MemoryClaim memory(call.call.memory, MemoryPart::Answers);
  for (auto& node : TRY(stories.nodes_in_order(id, call.caller(), memory))) {
    document.nodes.push_back(std::move(node.attributes));
  }
  const bool as_twee = call.inputs.text("format") == "twee";
  auto answer = app::json_answer(200, TRY(as_twee ? write_twee_story(document, stories.model(), upper_case(id), random)
                                                  : write_json_story(document)));
  if (as_twee) answer.content_type = kTweeType;
  answer.headers =
      fmt::format("Content-Disposition: attachment; filename=\"{}.{}\"\r\n", id, as_twee ? "twee" : "json");
  return answer;
}

Result<http::Response, Problem> import_story(const StoryAccess& stories, const Clock& clock, Random& random,
                                             const app::NativeCall& call) {
  if (call.call.body.empty()) return runtime::invalid("there is no story in the body");
  TRY(check_document_size(call.call.body.size()));
  const auto& model = stories.model();
  app::FileBody first(call.call, kMostDocumentBytes), second(call.call, kMostDocumentBytes);
  Import import(stories, clock, *call.caller().subject, call.call.memory);
  const auto import_json = [&]() -> Result<Object, Problem> {
    const auto checked = TRY(check_json_story(first, model));
    return import.run(checked, [&](const OnNode& on_node) { return for_each_json_node(second, model, on_node); });
  };
  const auto import_twee = [&]() -> Result<Object, Problem> {
    const auto checked = TRY(check_twee_story(first, model, random));
    return import.run(checked.story,
                      [&](const OnNode& on_node) { return for_each_twee_node(second, model, checked, on_node); });
  };
  const auto story = TRY(is_json(call.call.request) ? import_json() : import_twee());
  std::string body;
  app::append_object(body, stories.model().table, story);
  auto answer = app::json_answer(201, std::move(body));
  answer.headers = fmt::format("Location: /systems/{}/v1{}\r\nETag: {}\r\n", stories.model().name, app::path_of(story),
                               app::etag_of(story));
  return answer;
}

}  // namespace stator::systems::stories
