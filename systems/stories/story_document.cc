#include "stator/systems/stories/story_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "stator/app/rest/file_body.h"
#include "stator/model/json_reader.h"
#include "stator/model/problem_list.h"
#include "stator/model/types/type_rules.h"
#include "stator/model/validate.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/write/given.h"
#include "stator/systems/stories/response_rules.h"
#include "stator/systems/stories/story_access.h"
#include "stator/systems/stories/twee.h"
#include "stator/value/item_size.h"
#include "stator/value/json.h"

namespace stator::systems::stories {
namespace {

using runtime::Problem;
using value::AttributeValue;
using value::Item;
using value::List;

constexpr std::string_view kFormat = "stator-story";
constexpr std::string_view kNodes = "nodes";
constexpr std::array<std::string_view, 6> kNodeAttributes = {"id", "label", "type", "prompt", "responses", "media"};

model::Attribute attribute(std::string name, model::Kind kind) {
  model::Attribute made;
  made.name = std::move(name);
  made.type.kind = kind;
  return made;
}

model::Type node_type(const model::Model& model) {
  model::Type node;
  node.kind = model::Kind::Map;
  for (const auto name : kNodeAttributes) {
    node.shape.push_back(*model.find_entity("NODE")->find_attribute(name));
    node.shape.back().required = name == "id";
  }
  return node;
}

// The members of a story's JSON other than its nodes, with the model's names.
std::vector<model::Attribute> document_attributes(const model::Model& model) {
  auto version = attribute("version", model::Kind::Integer);
  version.type.min = version.type.max = value::Number::from_int(1);
  auto format = attribute("format", model::Kind::Enum);
  format.type.values = {std::string(kFormat)};
  auto title = *model.find_entity("STORY")->find_attribute("title");
  auto start = *model.find_entity("STORY")->find_attribute("startNodeId");
  return {std::move(format), std::move(version), std::move(title), std::move(start)};
}

runtime::Problem refused(std::vector<model::ValueProblem> problems) {
  const auto count = model::problem_count(problems);
  return runtime::invalid(fmt::format("the story cannot be imported: {} values are wrong", count), std::move(problems));
}

void add_problems(std::vector<model::ValueProblem>& problems, const std::string& path,
                  std::vector<model::ValueProblem> more) {
  for (auto& problem : more) {
    if (const auto counted = model::more_of(problem); counted > 0) {
      model::count_more_problems(problems, counted);
    } else {
      model::add_problem(problems, fmt::format("{}.{}", path, problem.attribute), std::move(problem.problem));
    }
  }
}

void check_size(const Item& node, const std::string& path, std::vector<model::ValueProblem>& problems) {
  if (value::item_size_bytes(node) > value::kMaxItemSizeBytes) {
    model::add_problem(problems, path, fmt::format("must have at most {} bytes", value::kMaxItemSizeBytes));
  }
}

// Reads the JSON of a story member by member, and its nodes one by one.  Confined to one reading.
class JsonStory {
 public:
  JsonStory(ByteSource& text, const model::Model& model)
      : attributes_(document_attributes(model)), node_(node_type(model)), reader_(text, problems_) {}

  // The story itself, without its nodes.  Stops at the first node above the limit.
  Result<Item, Problem> read(const OnNode& on_node) {
    const auto done = read_document(on_node);
    if (problem_) return std::move(*problem_);
    if (!done && reader_.values() > model::kMostJsonValues) return runtime::invalid("a node " + done.error().message);
    if (!done) return app::unreadable(done.error());
    for (auto& problem : runtime::check_inputs(attributes_, story_)) {
      const auto told = std::ranges::find(problems_, problem.attribute, &model::ValueProblem::attribute);
      if (told == problems_.end()) problems_.push_back(std::move(problem));
    }
    if (!has_nodes_) model::add_problem(problems_, std::string(kNodes), "is required");
    if (!problems_.empty()) return refused(std::move(problems_));
    story_.erase("format");
    story_.erase("version");
    return std::move(story_);
  }

 private:
  Result<void> read_document(const OnNode& on_node) {
    if (!reader_.open('{')) return reader_.error("it is not a JSON object");
    std::set<std::string> seen;
    std::string name;
    while (TRY(reader_.next_member(name))) {
      const auto attribute = std::ranges::find(attributes_, name, &model::Attribute::name);
      const bool known = name == kNodes || attribute != attributes_.end();
      if (!known || !seen.insert(name).second) {
        const auto shown = model::shown_name(name);
        model::add_problem(problems_, shown, known ? "is given twice" : model::unknown_attribute(attributes_, shown));
        TRY(reader_.skip(2));
      } else if (name == kNodes && reader_.open('[')) {
        has_nodes_ = true;
        TRY(read_nodes(on_node));
        if (problem_) return {};
      } else if (name == kNodes) {
        has_nodes_ = true;
        model::add_problem(problems_, name, "must be a list");
        TRY(reader_.skip(2));
      } else {
        const model::JsonPlace place{.name = name};
        auto content = TRY(reader_.value(place, 2));
        if (content.type() == value::Type::Null) continue;
        if (auto fitted = model::fit_json(attribute->type, place, std::move(content), problems_)) {
          story_.set(name, std::move(*fitted));
        }
      }
    }
    return reader_.end();
  }

  // A problem of `on_node` ends it, and is then problem_.
  Result<void> read_nodes(const OnNode& on_node) {
    const model::JsonPlace nodes{.name = kNodes};
    for (std::size_t i = 0; TRY(reader_.next_element()); ++i) {
      if (i == kMostNodes) {
        // Other mistakes do not matter then.
        problem_ = refused({{std::string(kNodes), fmt::format("must have at most {} members", kMostNodes)}});
        return {};
      }
      reader_.forget_values();
      const model::JsonPlace place{.parent = &nodes, .index = i};
      const auto before = model::problem_count(problems_);
      auto content = model::fit_json(node_, place, TRY(reader_.value(place, 3)), problems_);
      if (!content) continue;
      const auto path = place.text();
      model::check_value(node_, path, *content, problems_);
      if (model::problem_count(problems_) > before) continue;
      auto& node = *content->as_map();
      check_node(node, path);
      if (const auto done = on_node(std::move(node), reader_.values()); !done) {
        problem_ = done.error();
        return {};
      }
    }
    return {};
  }

  // Rules beyond the types of the attributes.
  void check_node(const Item& node, const std::string& path) {
    if (!ids_.insert(node.text("id")).second) model::add_problem(problems_, path + ".id", "is given twice");
    add_problems(problems_, path, check_responses(responses_of(node), "responses"));
    check_size(node, path, problems_);
  }

  const std::vector<model::Attribute> attributes_;
  const model::Type node_;
  std::vector<model::ValueProblem> problems_;
  model::JsonReader reader_;
  Item story_;
  bool has_nodes_ = false;
  std::set<std::string> ids_;
  std::optional<runtime::Problem> problem_;
};

//
// ---------------------------------------------------------------------------------------------------------------- Twee

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
      const auto id = node.text("id");
      const auto label = plain(node.text("label"));
      const auto& wanted = label.empty() ? id : label;
      auto name = wanted;
      // Each name continues from its last number, so that many equal names cost no more than different ones.
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

// The type of a node as tags.  Readers of Twee, this one included, do not take a passage with the tag script or
// stylesheet for a node.
std::vector<std::string> tags_of(const Item& node) {
  auto tags = words_of(node.text("type"));
  std::erase_if(tags, [](const std::string& tag) { return tag == "script" || tag == "stylesheet"; });
  return tags;
}

TweePassage to_passage(const Item& node, const PassageNames& names) {
  TweePassage passage{
      .name = names.of(node.text("id")), .tags = tags_of(node), .text = node.text("prompt"), .links = {}};
  for (const auto& response : responses_of(node)) {
    const auto* map = response.as_map();
    if (map == nullptr) continue;
    const auto target = names.of(map->text("targetNodeId"));
    const auto label = map->text("label");
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

std::size_t longest_label(const model::Model& model) {
  const auto& most = model.find_entity("NODE")->find_attribute("label")->type.max;
  return static_cast<std::size_t>(most->to_int64().value());
}

}  // namespace

// Imports and exports have the same limit, so that every export can be imported and every import exported.
Result<void, Problem> check_document_size(std::size_t bytes) {
  if (bytes <= kMostDocumentBytes) return {};
  return runtime::Problem{
      runtime::ProblemKind::TooLarge,
      "TooLarge",
      fmt::format("a document has at most {} bytes, and this one has {}", kMostDocumentBytes, bytes),
      {}};
}

Result<Item, Problem> check_json_story(ByteSource& text, const model::Model& model) {
  return JsonStory(text, model).read([](const Item&, std::size_t) { return Result<void, Problem>(); });
}

Result<void, Problem> for_each_json_node(ByteSource& text, const model::Model& model, const OnNode& on_node) {
  TRY(JsonStory(text, model).read(on_node));
  return {};
}

Result<CheckedTwee, Problem> check_twee_story(ByteSource& text, const model::Model& model, Random& random) {
  const auto& node_entity = *model.find_entity("NODE");
  TweeReader reader(text);
  CheckedTwee checked;
  std::vector<model::ValueProblem> problems;
  while (true) {
    const auto passage = reader.next();
    if (!passage) return app::unreadable(passage.error());
    if (!*passage) break;
    const auto name = model::shown_name((*passage)->name);
    if (!checked.ids.emplace((*passage)->name, random.uuid()).second) {
      model::add_problem(problems, name, "is given twice");
    }
    auto node = to_node(**passage, checked.ids);
    add_problems(problems, name, runtime::check_new(node_entity, node, runtime::Source::Model));
    check_size(node, name, problems);
  }
  checked.story.set("title", AttributeValue(reader.title().empty() ? std::string("Untitled") : reader.title()));
  if (const auto start = checked.ids.find(reader.start()); start != checked.ids.end()) {
    checked.story.set("startNodeId", AttributeValue(start->second));
  }
  for (auto& problem : runtime::check_new(*model.find_entity("STORY"), checked.story, runtime::Source::Model)) {
    problems.push_back(std::move(problem));
  }
  if (!problems.empty()) return refused(std::move(problems));
  return checked;
}

Result<void, Problem> for_each_twee_node(ByteSource& text, const model::Model& model, const CheckedTwee& checked,
                                         const OnNode& on_node) {
  const auto& node_entity = *model.find_entity("NODE");
  TweeReader reader(text);
  while (true) {
    const auto passage = reader.next();
    if (!passage) return app::unreadable(passage.error());
    if (!*passage) return {};
    auto node = to_node(**passage, checked.ids);
    runtime::check_new(node_entity, node, runtime::Source::Model);  // brings values into their one spelling
    TRY(on_node(std::move(node), kNodeAttributes.size() + 3 * (*passage)->links.size()));
  }
}

Result<std::string, Problem> write_json_story(const StoryDocument& document) {
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
  TRY(check_document_size(body.size()));
  return body;
}

Result<std::string, Problem> write_twee_story(const StoryDocument& document, const model::Model& model,
                                              std::string_view ifid, Random& random) {
  const PassageNames names(document.nodes, longest_label(model));
  TweeStory story{.title = document.story.text("title"),
                  .ifid = std::string(ifid),
                  .start = names.of(document.story.text("startNodeId")),
                  .passages = {}};
  for (const auto& node : document.nodes) story.passages.push_back(to_passage(node, names));
  auto text = write_twee(story);
  TRY(check_document_size(text.size()));
  // Spaces that keep texts from looking like markup may make one too long.
  TextSource source(text);
  if (auto again = check_twee_story(source, model, random); !again) {
    auto problem = again.error();
    return runtime::conflict("NotForTwee", "something in the story does not fit into Twee; JSON can hold it",
                             std::move(problem.details));
  }
  return text;
}

}  // namespace stator::systems::stories
