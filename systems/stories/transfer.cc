#include "stator/systems/stories/transfer.h"

#include <fmt/format.h>

#include <functional>

#include "stator/app/rest/answer.h"
#include "stator/app/rest/request/body_memory.h"
#include "stator/app/rest/request/file_body.h"
#include "stator/base/log.h"
#include "stator/base/memory_budget.h"
#include "stator/runtime/object.h"
#include "stator/runtime/problem.h"
#include "stator/systems/stories/arrangement.h"
#include "stator/systems/stories/import_report.h"
#include "stator/systems/stories/story_document.h"
#include "stator/systems/stories/twee.h"
#include "stator/systems/stories/twine_archive.h"
#include "stator/value/item_size.h"
#include "stator/value/json.h"

namespace stator::systems::stories {
namespace {

using runtime::Draft;
using runtime::Object;
using runtime::Problem;
using runtime::Transaction;
using runtime::ValueSource;
using value::AttributeValue;
using value::Item;

constexpr std::chrono::hours kUnfinishedImport{1};  // until an interrupted import is deleted
// Half of DynamoDB's bound, which counts more than text.
constexpr std::size_t kBytesPerTransaction = std::size_t{2} << 20;
constexpr std::size_t kValuesPerTransaction = 20'000;  // a single node may have more
constexpr std::string_view kHtmlType = "text/html";
constexpr std::string_view kTweeType = "text/twee; charset=utf-8";

// Reads the nodes of stories that have been looked through.
using ForEachNode = std::function<Result<void, Problem>(const OnStoryNode& on_node)>;

// Writes nodes as they are read, and holds as many as one transaction takes.
class Import {
 public:
  Import(const StoryAccess& stories, const Clock& clock, std::string owner, MemoryBudget* memory)
      : stories_(stories), clock_(clock), owner_(std::move(owner)), claim_(memory, MemoryPart::Values) {}

  Result<std::vector<Object>, Problem> run(const std::vector<Item>& stories, const ForEachNode& for_each_node) {
    auto finished = write(stories, for_each_node);
    if (!finished) give_up();
    return finished;
  }

 private:
  Result<std::vector<Object>, Problem> write(const std::vector<Item>& stories, const ForEachNode& for_each_node) {
    TRY(begin(stories));
    TRY(for_each_node(
        [this](std::size_t story, Item node, std::size_t values) { return add(story, std::move(node), values); }));
    TRY(write_waiting());
    return finish();
  }

  Result<void, Problem> begin(const std::vector<Item>& stories) {
    std::vector<std::string> ids;
    TRY(stories_.repository().transact([&](Transaction& transaction) -> Result<void, Problem> {
      ids.clear();
      for (auto attributes : stories) {
        attributes.set("userId", AttributeValue(owner_));
        attributes.set(*stories_.story().unfinished, AttributeValue::boolean(true));
        auto* draft = TRY(transaction.create(stories_.story(), std::move(attributes), ValueSource::Model));
        const auto expiry = std::chrono::floor<std::chrono::seconds>(clock_.now() + kUnfinishedImport);
        draft->after->set(ttl(), AttributeValue::number(expiry.time_since_epoch().count()));
        ids.push_back(draft->after->text("id"));
      }
      return {};
    }));
    story_ids_ = std::move(ids);
    return {};
  }

  Result<void, Problem> add(std::size_t story, Item node, std::size_t values) {
    if (story != story_) {
      TRY(write_waiting());
      story_ = story;
      written_ = 0;
    }
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
        attributes.set("storyId", AttributeValue(story_ids_[story_]));
        const auto position = static_cast<std::int64_t>(written_ + i + 1) * kPositionStep;
        attributes.set("nodeOrder", AttributeValue::number(position));
        TRY(transaction.create(stories_.node(), std::move(attributes), ValueSource::Model));
      }
      return {};
    }));
    written_ += waiting_.size();
    waiting_.clear();
    bytes_ = values_ = 0;
    return {};
  }

  // All of them become visible at once.
  Result<std::vector<Object>, Problem> finish() {
    std::vector<Item> after;
    TRY(stories_.repository().transact([&](Transaction& transaction) -> Result<void, Problem> {
      after.clear();
      for (const auto& id : story_ids_) {
        auto* story = TRY(load(transaction, id));
        if (story == nullptr) return runtime::conflict("Removed", "the story expired while it was being imported");
        TRY(transaction.change(*story, {.values = {}, .nulls = {*stories_.story().unfinished}}, ValueSource::Model));
        story->after->erase(ttl());
        after.push_back(*story->after);
      }
      return {};
    }));
    std::vector<Object> finished;
    for (auto& story : after) {
      finished.push_back(runtime::to_object(stories_.model(), stories_.story(), std::move(story)));
    }
    return finished;
  }

  // The nodes go with them, through the consistency manager.
  void give_up() {
    const auto removed = stories_.repository().transact([&](Transaction& transaction) -> Result<void, Problem> {
      for (const auto& id : story_ids_) {
        if (auto* story = TRY(load(transaction, id))) TRY(transaction.remove(*story));
      }
      return {};
    });
    if (!removed) log::warning("unfinished_import_left_to_expire", {{"problem", removed.error().message}});
  }

  Result<Draft*, Problem> load(Transaction& transaction, const std::string& id) {
    return transaction.load(stories_.story(), {{"userId", AttributeValue(owner_)}, {"id", AttributeValue(id)}});
  }

  const std::string& ttl() const { return *stories_.model().table.ttl_attribute; }

  const StoryAccess& stories_;
  const Clock& clock_;
  const std::string owner_;
  std::vector<std::string> story_ids_;
  std::size_t story_ = 0;  // whose nodes are being written
  MemoryClaim claim_;
  std::vector<Item> waiting_;  // for the next transaction
  std::size_t bytes_ = 0;      // of those
  std::size_t values_ = 0;     // in those
  std::size_t written_ = 0;    // of that story
};

// A story and what became of it, as {..., "report": {...}}.
std::string story_answer(const StoryAccess& stories, const Object& story, const ImportReport& report) {
  std::string body;
  app::append_object(body, stories.model().table, story);
  body.pop_back();
  body += ",\"report\":";
  value::JsonWriter json(body);
  report.append(json);
  return body + "}";
}

// One story of a document.
http::Response one_answer(const StoryAccess& stories, const Object& story, const ImportReport& report) {
  auto answer = app::json_answer(201, story_answer(stories, story, report));
  answer.headers = fmt::format("Location: /systems/{}/v1{}\r\nETag: {}\r\n", stories.model().name, app::path_of(story),
                               app::etag_of(story));
  return answer;
}

// The stories of a page of HTML.
http::Response all_answer(const StoryAccess& stories, const std::vector<Object>& made, PassageReader& reader) {
  std::string body = "{\"stories\":[";
  for (std::size_t i = 0; i < made.size(); ++i) {
    body += (i > 0 ? "," : "") + story_answer(stories, made[i], reader.report(i));
  }
  return app::json_answer(201, body + "]}");
}

Result<std::vector<Object>, Problem> import_passages(Import& import, const model::Model& model, Random& random,
                                                     PassageReader& first, PassageReader& second) {
  const auto checked = TRY(check_passages(first, model, random));
  std::vector<Item> stories;
  for (const auto& one : checked) stories.push_back(one.story);
  return import.run(stories,
                    [&](const OnStoryNode& on_node) { return for_each_passage_node(second, model, checked, on_node); });
}

}  // namespace

Result<http::Response, Problem> export_story(const StoryAccess& stories, Random& random, const app::NativeCall& call) {
  StoryDocument document{.story = call.within->attributes, .nodes = {}};
  const auto id = document.story.text("id");
  MemoryClaim memory(call.call.memory, MemoryPart::Answers);
  for (auto& node : TRY(stories.nodes_in_order(id, call.caller(), memory))) {
    document.nodes.push_back(std::move(node.attributes));
  }
  const bool as_twee = call.inputs.text("format") == "twee";
  auto answer = app::json_answer(
      200, TRY(as_twee ? write_twee_story(document, stories.model(), id, random) : write_json_story(document)));
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
  const auto type = call.call.request.header("Content-Type");
  if (type.starts_with(app::kJsonType)) {
    const auto story = TRY(check_json_story(first, model));
    ImportReport report;
    const auto made = TRY(import.run({story}, [&](const OnStoryNode& on_node) {
      return for_each_json_node(second, model, [&](Item node, std::size_t values) {
        report.count(node);
        return on_node(0, std::move(node), values);
      });
    }));
    return one_answer(stories, made.front(), report);
  }
  if (type.starts_with(kHtmlType)) {
    TwineReader looking(first), reading(second);
    const auto made = TRY(import_passages(import, model, random, looking, reading));
    return all_answer(stories, made, reading);
  }
  TweeReader looking(first), reading(second);
  const auto made = TRY(import_passages(import, model, random, looking, reading));
  return one_answer(stories, made.front(), reading.report(0));
}

}  // namespace stator::systems::stories
