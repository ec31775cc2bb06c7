#include "stator/systems/stories/transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "stator/app/answer.h"
#include "stator/base/log.h"
#include "stator/runtime/object.h"
#include "stator/runtime/problems.h"
#include "stator/systems/stories/arrangement.h"
#include "stator/systems/stories/story_document.h"

namespace stator::systems::stories {
namespace {

using runtime::Done;
using runtime::Draft;
using runtime::Object;
using runtime::Outcome;
using runtime::Source;
using runtime::Transaction;
using value::AttributeValue;
using value::Item;

constexpr std::chrono::hours kUnfinishedImport{1};  // until what was cut off goes away
constexpr std::size_t kBytesPerTransaction = std::size_t{2}
                                             << 20;          // half of DynamoDB's bound, which counts more than text
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // some editors put one in front
constexpr std::string_view kTweeType = "text/twee; charset=utf-8";

std::string upper_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return text;
}

std::size_t bytes_of(const Item& node) {
  std::string json;
  model::append_plain_json(json, AttributeValue(node));
  return json.size();
}

class Import {
 public:
  Import(const StoryAccess& stories, const Clock& clock, std::string owner)
      : stories_(stories), clock_(clock), owner_(std::move(owner)) {}

  Outcome<Object> run(const StoryDocument& document) {
    ATTEMPT(begin(document.story));
    auto done = write_all(document.nodes);
    auto finished = done ? finish() : Outcome<Object>(done.problem());
    if (!finished) give_up();
    return finished;
  }

 private:
  Outcome<Done> begin(const Item& story) {
    return stories_.repository().transact([&](Transaction& transaction) -> Outcome<Done> {
      auto attributes = story;
      attributes.set("userId", AttributeValue(owner_));
      attributes.set("importing", AttributeValue::boolean(true));
      auto* draft = ATTEMPT(transaction.create(stories_.story(), std::move(attributes), Source::Model));
      const auto expiry = std::chrono::floor<std::chrono::seconds>(clock_.now() + kUnfinishedImport);
      draft->after->set(ttl(), AttributeValue::number(expiry.time_since_epoch().count()));
      story_id_ = text_at(*draft->after, "id");
      return Done{};
    });
  }

  Outcome<Done> write_all(const std::vector<Item>& nodes) {
    for (std::size_t begin = 0; begin < nodes.size();) {
      std::size_t bytes = 0;
      auto end = begin;
      while (end < nodes.size() && end - begin < kNodesPerTransaction) {
        bytes += bytes_of(nodes[end]);
        if (end > begin && bytes > kBytesPerTransaction) break;
        ++end;
      }
      ATTEMPT(write(std::span(nodes).subspan(begin, end - begin), begin));
      begin = end;
    }
    return Done{};
  }

  Outcome<Done> write(std::span<const Item> nodes, std::size_t place) {
    return stories_.repository().transact([&](Transaction& transaction) -> Outcome<Done> {
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        auto attributes = nodes[i];
        attributes.set("userId", AttributeValue(owner_));
        attributes.set("storyId", AttributeValue(story_id_));
        const auto position = static_cast<std::int64_t>(place + i + 1) * kPositionStep;
        attributes.set("nodeOrder", AttributeValue::number(position));
        ATTEMPT(transaction.create(stories_.node(), std::move(attributes), Source::Model));
      }
      return Done{};
    });
  }

  Outcome<Object> finish() {
    Item after;
    ATTEMPT(stories_.repository().transact([&](Transaction& transaction) -> Outcome<Done> {
      auto* story = ATTEMPT(load(transaction));
      if (story == nullptr) return runtime::conflict("Removed", "the story was deleted while it was being imported");
      ATTEMPT(transaction.change(*story, {.values = {}, .nulls = {"importing"}}, Source::Model));
      story->after->erase(ttl());
      after = *story->after;
      return Done{};
    }));
    return runtime::to_object(stories_.model(), stories_.story(), std::move(after));
  }

  // Its nodes go with it, through the consistency manager.
  void give_up() {
    const auto removed = stories_.repository().transact([&](Transaction& transaction) -> Outcome<Done> {
      auto* story = ATTEMPT(load(transaction));
      return story != nullptr ? transaction.remove(*story) : Outcome<Done>(Done{});
    });
    if (!removed) log::warning("unfinished_import_left_to_expire", {{"problem", removed.problem().message}});
  }

  Outcome<Draft*> load(Transaction& transaction) {
    return transaction.load(stories_.story(), {{"userId", AttributeValue(owner_)}, {"id", AttributeValue(story_id_)}});
  }

  const std::string& ttl() const { return *stories_.model().table.ttl_attribute; }

  const StoryAccess& stories_;
  const Clock& clock_;
  const std::string owner_;
  std::string story_id_;
};

bool is_json(const http::Request& request) { return request.header("Content-Type").starts_with(app::kJsonType); }

}  // namespace

Outcome<http::Response> export_story(const StoryAccess& stories, Random& random, const app::NativeCall& call) {
  StoryDocument document{.story = call.within->attributes, .nodes = {}};
  const auto id = text_at(document.story, "id");
  for (auto& node : ATTEMPT(stories.nodes_in_order(id, call.caller()))) {
    document.nodes.push_back(std::move(node.attributes));
  }
  const bool as_twee = text_at(call.inputs, "format") == "twee";
  auto answer = json_answer(200, ATTEMPT(as_twee ? write_twee_story(document, stories.model(), upper_case(id), random)
                                                 : write_json_story(document)));
  if (as_twee) answer.content_type = kTweeType;
  answer.headers =
      fmt::format("Content-Disposition: attachment; filename=\"{}.{}\"\r\n", id, as_twee ? "twee" : "json");
  return answer;
}

Outcome<http::Response> import_story(const StoryAccess& stories, const Clock& clock, Random& random,
                                     const app::NativeCall& call) {
  auto text = call.call.body;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (text.empty()) return runtime::invalid("there is no story in the body");
  const auto document = ATTEMPT(is_json(call.call.request) ? read_json_story(text, stories.model())
                                                           : read_twee_story(text, stories.model(), random));
  const auto story = ATTEMPT(Import(stories, clock, *call.caller().subject).run(document));
  std::string body;
  app::append_object(body, stories.model().table, story);
  auto answer = json_answer(201, std::move(body));
  answer.headers = fmt::format("Location: /systems/{}/v1{}\r\nETag: {}\r\n", stories.model().name, app::path_of(story),
                               app::etag_of(story));
  return answer;
}

}  // namespace stator::systems::stories
