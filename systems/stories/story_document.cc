#include "stator/systems/stories/story_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "stator/model/validate.h"
#include "stator/runtime/given.h"
#include "stator/runtime/problems.h"
#include "stator/systems/stories/response_rules.h"
#include "stator/systems/stories/story_access.h"
#include "stator/systems/stories/twee.h"
#include "stator/value/json.h"

namespace stator::systems::stories {
namespace {

using runtime::Outcome;
using value::AttributeValue;
using value::Item;
using value::List;

constexpr std::string_view kFormat = "stator-story";
constexpr std::size_t kMostDetails = 100;
constexpr std::array<std::string_view, 6> kNodeAttributes = {"id", "label", "type", "prompt", "responses", "media"};

model::Attribute attribute(std::string name, model::Kind kind) {
  model::Attribute made;
  made.name = std::move(name);
  made.type.kind = kind;
  return made;
}

// What the JSON of a story holds, in the model's own words.
std::vector<model::Attribute> document_attributes(const model::Model& model) {
  model::Type node;
  node.kind = model::Kind::Map;
  for (const auto name : kNodeAttributes) {
    node.shape.push_back(*model.find_entity("NODE")->find_attribute(name));
    node.shape.back().required = name == "id";
  }
  auto nodes = attribute("nodes", model::Kind::List);
  nodes.required = true;
  nodes.type.element = std::make_shared<const model::Type>(std::move(node));
  nodes.type.max = value::Number::from_int(static_cast<std::int64_t>(kMostNodes));
  auto version = attribute("version", model::Kind::Integer);
  version.type.min = version.type.max = value::Number::from_int(1);
  auto format = attribute("format", model::Kind::Enum);
  format.type.values = {std::string(kFormat)};
  auto title = *model.find_entity("STORY")->find_attribute("title");
  auto start = *model.find_entity("STORY")->find_attribute("startNodeId");
  return {std::move(format), std::move(version), std::move(title), std::move(start), std::move(nodes)};
}

runtime::Problem refused(std::vector<model::Problem> problems) {
  const auto count = problems.size();
  if (count > kMostDetails) problems.resize(kMostDetails);
  return runtime::invalid(fmt::format("the story cannot be imported: {} values are wrong", count), std::move(problems));
}

void add_problems(std::vector<model::Problem>& problems, const std::string& path, std::vector<model::Problem> more) {
  for (auto& problem : more) {
    problem.attribute = fmt::format("{}.{}", path, problem.attribute);
    problems.push_back(std::move(problem));
  }
}

// What the types of attributes do not say.
void check_nodes(const StoryDocument& document, std::vector<model::Problem>& problems) {
  std::set<std::string> ids;
  for (std::size_t i = 0; i < document.nodes.size(); ++i) {
    const auto& node = document.nodes[i];
    const auto path = fmt::format("nodes[{}]", i);
    if (!ids.insert(text_at(node, "id")).second) problems.push_back({path + ".id", "is given twice"});
    add_problems(problems, path, check_responses(responses_of(node), "responses"));
  }
}

// ----------------------------------------------------------------------------------------------------------------------- Twee

// The first `count` characters.
std::string_view front_of(std::string_view text, std::size_t count) {
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end) {
    const bool begins_character = (static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U;
    if (begins_character && seen++ == count) break;
  }
  return text.substr(0, end);
}

// Names that links can hold and labels can be, each once.
class PassageNames {
 public:
  PassageNames(const std::vector<Item>& nodes, std::size_t longest) : longest_(longest) {
    for (const auto& node : nodes) {
      const auto id = text_at(node, "id");
      const auto label = plain(text_at(node, "label"));
      const auto& wanted = label.empty() ? id : label;
      auto name = wanted;
      // Each goes on from its last number, so that many equal ones cost no more than different ones.
      for (auto& number = last_numbers_[wanted]; !taken_.insert(name).second;) name = numbered(wanted, ++number + 1);
      names_.emplace(id, std::move(name));
    }
  }

  // Empty when there is no such node.
  std::string of(const std::string& id) const {
    const auto found = names_.find(id);
    return found != names_.end() ? found->second : std::string();
  }

 private:
  std::string numbered(std::string_view name, int number) const {
    const auto suffix = fmt::format(" ({})", number);
    return fmt::format("{}{}", front_of(name, longest_ - suffix.size()), suffix);
  }

  static std::string plain(const std::string& label) {
    std::string name;
    for (const char c : label) {
      const bool is_markup = std::string_view("[]|<>\r\n\t").find(c) != std::string_view::npos;
      name += is_markup ? ' ' : c;
    }
    const auto first = name.find_first_not_of(' ');
    if (first == std::string::npos) return {};
    name = name.substr(first, name.find_last_not_of(' ') - first + 1);
    const bool reserved = name == "StoryTitle" || name == "StoryData";
    return reserved ? name + " (passage)" : name;
  }

  const std::size_t longest_;
  std::map<std::string, std::string> names_;
  std::set<std::string> taken_;
  std::map<std::string, int> last_numbers_;
};

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

// A node's type as tags.  What is tagged as a script or a style is no passage to those who read Twee, ourselves included.
std::vector<std::string> tags_of(const Item& node) {
  auto tags = words_of(text_at(node, "type"));
  std::erase_if(tags, [](const std::string& tag) { return tag == "script" || tag == "stylesheet"; });
  return tags;
}

TweePassage to_passage(const Item& node, const PassageNames& names) {
  TweePassage passage{
      .name = names.of(text_at(node, "id")), .tags = tags_of(node), .text = text_at(node, "prompt"), .links = {}};
  for (const auto& response : responses_of(node)) {
    const auto* map = response.as_map();
    if (map == nullptr) continue;
    const auto target = names.of(text_at(*map, "targetNodeId"));
    const auto label = text_at(*map, "label");
    passage.links.push_back({.text = label.empty() ? target : label, .target = target});
  }
  return passage;
}

Item to_node(const TweePassage& passage, const std::map<std::string, std::string>& ids) {
  Item node;
  const auto set = [&](std::string_view name, const std::string& text) {
    if (!text.empty()) node.set(name, AttributeValue(text));
  };
  set("id", ids.at(passage.name));
  set("label", passage.name);
  set("type", fmt::format("{}", fmt::join(passage.tags, " ")));
  set("prompt", passage.text);
  List responses;
  for (const auto& link : passage.links) {
    Item response = {{"label", AttributeValue(link.text)}};
    if (const auto target = ids.find(link.target); target != ids.end()) {
      response.set("targetNodeId", AttributeValue(target->second));
    }
    responses.emplace_back(std::move(response));
  }
  if (!responses.empty()) node.set("responses", AttributeValue(std::move(responses)));
  return node;
}

// The same bound for what comes and goes, so that what was exported can be imported, and what was imported exported.
Outcome<runtime::Done> check_size(std::string_view document) {
  if (document.size() <= kMostDocumentBytes) return runtime::Done{};
  return runtime::Problem{
      runtime::ProblemKind::TooLarge,
      "TooLarge",
      fmt::format("a document has at most {} bytes, and this one has {}", kMostDocumentBytes, document.size()),
      {}};
}

std::size_t longest_label(const model::Model& model) {
  const auto& most = model.find_entity("NODE")->find_attribute("label")->type.max;
  return static_cast<std::size_t>(most->to_int64().value());
}

}  // namespace

Outcome<StoryDocument> read_json_story(std::string_view text, const model::Model& model) {
  ATTEMPT(check_size(text));
  std::vector<model::Problem> problems;
  const auto attributes = document_attributes(model);
  auto object = model::read_plain_json(text, attributes, problems);
  if (!object) return runtime::invalid(object.error().message);
  for (auto& problem : runtime::check_inputs(attributes, object->values)) problems.push_back(std::move(problem));
  if (!problems.empty()) return refused(std::move(problems));
  StoryDocument document;
  for (const std::string_view name : {"title", "startNodeId"}) {
    if (const auto* content = object->values.find(name)) document.story.set(name, *content);
  }
  for (auto& node : *object->values.find("nodes")->as_list()) document.nodes.push_back(std::move(*node.as_map()));
  check_nodes(document, problems);
  if (!problems.empty()) return refused(std::move(problems));
  return document;
}

Outcome<StoryDocument> read_twee_story(std::string_view text, const model::Model& model, Random& random) {
  ATTEMPT(check_size(text));
  const auto twee = read_twee(text);
  if (!twee) return runtime::invalid(twee.error().message);
  std::vector<model::Problem> problems;
  std::map<std::string, std::string> ids;
  for (const auto& passage : twee->passages) {
    if (!ids.emplace(passage.name, random.uuid()).second) problems.push_back({passage.name, "is given twice"});
  }
  StoryDocument document;
  document.story.set("title", AttributeValue(twee->title.empty() ? std::string("Untitled") : twee->title));
  if (const auto start = ids.find(twee->start); start != ids.end()) {
    document.story.set("startNodeId", AttributeValue(start->second));
  }
  for (auto& problem : runtime::check_new(*model.find_entity("STORY"), document.story, runtime::Source::Model)) {
    problems.push_back(std::move(problem));
  }
  for (const auto& passage : twee->passages) {
    auto& node = document.nodes.emplace_back(to_node(passage, ids));
    add_problems(problems, passage.name, runtime::check_new(*model.find_entity("NODE"), node, runtime::Source::Model));
  }
  if (!problems.empty()) return refused(std::move(problems));
  return document;
}

Outcome<std::string> write_json_story(const StoryDocument& document) {
  std::string body;
  value::JsonWriter json(body);
  const auto append = [&](const Item& attributes, std::string_view name) {
    const auto* content = attributes.find(name);
    if (content == nullptr) return;
    std::string text;
    model::append_plain_json(text, *content);
    json.key(name).raw(text);
  };
  json.begin_object().key("format").string(kFormat).key("version").integer(1);
  append(document.story, "title");
  append(document.story, "startNodeId");
  json.key("nodes").begin_array();
  for (const auto& node : document.nodes) {
    json.begin_object();
    for (const auto name : kNodeAttributes) append(node, name);
    json.end_object();
  }
  json.end_array().end_object();
  ATTEMPT(check_size(body));
  return body;
}

Outcome<std::string> write_twee_story(const StoryDocument& document, const model::Model& model, std::string_view ifid,
                                      Random& random) {
  const PassageNames names(document.nodes, longest_label(model));
  TweeStory story{.title = text_at(document.story, "title"),
                  .ifid = std::string(ifid),
                  .start = names.of(text_at(document.story, "startNodeId")),
                  .passages = {}};
  for (const auto& node : document.nodes) story.passages.push_back(to_passage(node, names));
  auto text = write_twee(story);
  ATTEMPT(check_size(text));
  // Spaces that keep texts from looking like markup may make one too long.
  if (auto again = read_twee_story(text, model, random); !again) {
    auto problem = again.problem();
    return runtime::conflict("NotForTwee", "something in the story does not fit into Twee; JSON can hold it",
                             std::move(problem.details));
  }
  return text;
}

}  // namespace stator::systems::stories
