#include "stator/systems/stories/story_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "stator/app/rest/request/file_body.h"
#include "stator/base/ascii.h"
#include "stator/model/json_reader.h"
#include "stator/model/problem_list.h"
#include "stator/model/types/text.h"
#include "stator/model/types/type_rules.h"
#include "stator/model/validate.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/write/given.h"
#include "stator/systems/stories/response_rules.h"
#include "stator/systems/stories/setters.h"
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
constexpr std::array<std::string_view, 7> kNodeAttributes = {"id",        "label", "type",    "prompt",
                                                             "responses", "media", "position"};
constexpr std::array<std::string_view, 5> kStoryAttributes = {"title", "startNodeId", "variables", "ifid", "twine"};

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
  std::vector<model::Attribute> attributes = {std::move(format), std::move(version)};
  for (const auto name : kStoryAttributes) attributes.push_back(*model.find_entity("STORY")->find_attribute(name));
  return attributes;
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
    for (auto& problem : check_variables(map_of(story_, "variables"), "variables"))
      problems_.push_back(std::move(problem));
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
    for (std::size_t i = 0; i < label.size(); ++i) {
      const bool is_arrow = (label[i] == '>' && i > 0 && label[i - 1] == '-') || label.substr(i, 2) == "<-";
      const bool is_markup = is_arrow || std::string_view("[]|\r\n\t").find(label[i]) != std::string_view::npos;
      name += is_markup ? ' ' : label[i];
    }
    const auto first = name.find_first_not_of(' ');
    if (first == std::string::npos) return {};
    name = name.substr(first, name.find_last_not_of(' ') - first + 1);
    const bool reserved = name == "StoryTitle" || name == "StoryData" || name == "StoryInit";
    return reserved ? name + " (passage)" : name;
  }

  const std::size_t longest_;
  std::map<std::string, std::string> names_;
  std::set<std::string> taken_;
  std::map<std::string, int> last_numbers_;
};

// The type of a node as tags.  Readers of Twee, this one included, do not take a passage with the tag script or
// stylesheet for a node.
std::vector<std::string> tags_of(const Item& node) {
  auto tags = words_of(node.text("type"));
  std::erase_if(tags, [](const std::string& tag) { return tag == "script" || tag == "stylesheet"; });
  return tags;
}

std::optional<NumberPair> pair_of(const Item& map, std::string_view first, std::string_view second) {
  const auto* a = map.find(first);
  const auto* b = map.find(second);
  if (a == nullptr || b == nullptr || a->as_number() == nullptr || b->as_number() == nullptr) return std::nullopt;
  return NumberPair(*a->as_number(), *b->as_number());
}

void set_pair(Item& map, std::string_view first, std::string_view second, const std::optional<NumberPair>& pair) {
  if (!pair) return;
  map.set(first, AttributeValue(pair->first));
  map.set(second, AttributeValue(pair->second));
}

TweePassage to_passage(const Item& node, const PassageNames& names) {
  TweePassage passage{
      .name = names.of(node.text("id")), .tags = tags_of(node), .text = node.text("prompt"), .links = {}};
  const auto& place = map_of(node, "position");
  passage.position = pair_of(place, "x", "y");
  passage.size = pair_of(place, "width", "height");
  for (const auto& response : responses_of(node)) {
    const auto* map = response.as_map();
    if (map == nullptr) continue;
    const auto target = names.of(map->text("targetNodeId"));
    const auto label = map->text("label");
    passage.links.push_back({.text = label.empty() ? target : label,
                             .target = target,
                             .setter = write_setter(map_of(*map, "set")).value_or("")});
  }
  return passage;
}

TweeStory to_twee(const StoryDocument& document, const PassageNames& names, std::string_view ifid) {
  const auto& story = document.story;
  const auto& own_ifid = story.text("ifid");
  const auto& twine = map_of(story, "twine");
  TweeStory made{.title = story.text("title"),
                 .ifid = std::string(own_ifid.empty() ? ifid : own_ifid),
                 .start = names.of(story.text("startNodeId")),
                 .passages = {}};
  std::ranges::transform(made.ifid, made.ifid.begin(), to_upper);
  made.format = twine.text("format");
  made.format_version = twine.text("formatVersion");
  if (const auto* zoom = twine.find("zoom"); zoom != nullptr && zoom->as_number() != nullptr) {
    made.zoom = *zoom->as_number();
  }
  const auto* colors = twine.find("tagColors");
  for (const auto& color : colors != nullptr && colors->as_list() != nullptr ? *colors->as_list() : List()) {
    if (const auto* map = color.as_map()) made.tag_colors[map->text("tag")] = map->text("color");
  }
  made.variables = map_of(story, "variables");
  for (const auto& node : document.nodes) made.passages.push_back(to_passage(node, names));
  return made;
}

// Makes stories and nodes of passages, and notes what these cannot hold.
class FromPassages {
 public:
  FromPassages(const model::Model& model, const std::map<std::string, std::string>& ids, ImportReport& report)
      : model_(model), ids_(ids), report_(report) {}

  Item story(const TweeStory& from) const {
    Item made;
    set_text(made, "title", from.title);
    if (model::is_blank(from.title)) {
      report_.add(What::Changed, {}, 0, "the story has no title, and is called Untitled");
      made.set("title", AttributeValue::string("Untitled"));
    }
    if (const auto start = ids_.find(from.start); start != ids_.end()) {
      made.set("startNodeId", AttributeValue(start->second));
    } else {
      report_.add(What::Dropped, {}, 0,
                  from.start.empty() ? std::string("the story has no start")
                                     : fmt::format("the start, {}, is no passage", model::shown_name(from.start)));
    }
    auto ifid = AttributeValue(from.ifid);
    if (!from.ifid.empty() && fits("ifid", ifid)) made.set("ifid", std::move(ifid));
    auto twine = AttributeValue(twine_of(from));
    if (!twine.as_map()->empty() && fits("twine", twine)) made.set("twine", std::move(twine));
    auto variables = from.variables;
    if (!variables.empty() && check_variables(variables, "variables").empty()) {
      made.set("variables", AttributeValue(std::move(variables)));
    } else if (!variables.empty()) {
      report_.add(What::Dropped, "StoryInit", 0, "the variables are too many or too large");
    }
    return made;
  }

  Item node(const TweePassage& passage) const {
    Item made;
    set_text(made, "id", ids_.at(passage.name));
    set_text(made, "label", passage.name);
    set_text(made, "type", fmt::format("{}", fmt::join(passage.tags, " ")));
    if (!model::is_blank(passage.text)) set_text(made, "prompt", passage.text);
    Item place;
    set_pair(place, "x", "y", passage.position);
    set_pair(place, "width", "height", passage.size);
    if (!place.empty()) made.set("position", AttributeValue(std::move(place)));
    List responses;
    for (const auto& link : passage.links) responses.emplace_back(response(passage, link));
    if (!responses.empty()) made.set("responses", AttributeValue(std::move(responses)));
    return made;
  }

 private:
  using What = ImportReport::What;

  static void set_text(Item& item, std::string_view name, const std::string& text) {
    if (!text.empty()) item.set(name, AttributeValue(text));
  }

  // Whether the story can hold it, in its one spelling.
  bool fits(std::string_view name, AttributeValue& content) const {
    std::vector<model::ValueProblem> problems;
    model::check_value(model_.find_entity("STORY")->find_attribute(name)->type, name, content, problems);
    if (problems.empty()) return true;
    report_.add(What::Dropped, "StoryData", 0,
                fmt::format("{} {}", problems.front().attribute, problems.front().problem));
    return false;
  }

  static Item twine_of(const TweeStory& from) {
    Item twine;
    set_text(twine, "format", from.format);
    set_text(twine, "formatVersion", from.format_version);
    if (from.zoom) twine.set("zoom", AttributeValue(*from.zoom));
    List colors;
    for (const auto& [tag, color] : from.tag_colors) {
      colors.emplace_back(Item{{"tag", AttributeValue(tag)}, {"color", AttributeValue(color)}});
    }
    if (!colors.empty()) twine.set("tagColors", AttributeValue(std::move(colors)));
    return twine;
  }

  Item response(const TweePassage& passage, const TweeLink& link) const {
    Item made;
    set_text(made, "label", link.text);
    if (const auto target = ids_.find(link.target); target != ids_.end()) {
      made.set("targetNodeId", AttributeValue(target->second));
    } else if (!link.target.empty()) {
      report_.add(What::Changed, passage.name, link.line,
                  fmt::format("there is no passage {}, and the link leads nowhere", model::shown_name(link.target)));
    }
    if (link.setter.empty()) return made;
    auto setter = read_setter(link.setter);
    for (const auto& unknown : setter.unknown) {
      report_.add(What::Dropped, passage.name, link.line,
                  fmt::format("the link cannot set {}", model::shown_name(unknown)));
    }
    if (!setter.values.empty()) made.set("set", AttributeValue(std::move(setter.values)));
    return made;
  }

  const model::Model& model_;
  const std::map<std::string, std::string>& ids_;
  ImportReport& report_;
};

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

Result<std::vector<CheckedStory>, Problem> check_passages(PassageReader& reader, const model::Model& model,
                                                          Random& random) {
  const auto& node_entity = *model.find_entity("NODE");
  std::vector<CheckedStory> checked;
  std::vector<model::ValueProblem> problems;
  ImportReport unheard;  // the second reading notes everything, once all names are known
  while (true) {
    const auto passage = reader.next();
    if (!passage) return app::unreadable(passage.error());
    checked.resize(reader.stories().size());
    if (!*passage) break;
    auto& ids = checked[(*passage)->story].ids;
    const auto name = model::shown_name((*passage)->name);
    if (!ids.emplace((*passage)->name, random.uuid()).second) model::add_problem(problems, name, "is given twice");
    auto node = FromPassages(model, ids, unheard).node(**passage);
    add_problems(problems, name, runtime::check_new(node_entity, node, runtime::ValueSource::Model));
    check_size(node, name, problems);
  }
  for (std::size_t i = 0; i < checked.size(); ++i) {
    auto& story = checked[i].story;
    story = FromPassages(model, checked[i].ids, unheard).story(reader.stories()[i]);
    for (auto& problem : runtime::check_new(*model.find_entity("STORY"), story, runtime::ValueSource::Model)) {
      model::add_problem(problems, std::move(problem.attribute), std::move(problem.problem));
    }
  }
  if (!problems.empty()) return refused(std::move(problems));
  return checked;
}

Result<void, Problem> for_each_passage_node(PassageReader& reader, const model::Model& model,
                                            const std::vector<CheckedStory>& checked, const OnStoryNode& on_node) {
  const auto& node_entity = *model.find_entity("NODE");
  while (true) {
    const auto passage = reader.next();
    if (!passage) return app::unreadable(passage.error());
    if (!*passage) break;
    const auto story = (*passage)->story;
    auto& report = reader.report(story);
    auto node = FromPassages(model, checked[story].ids, report).node(**passage);
    runtime::check_new(node_entity, node, runtime::ValueSource::Model);  // brings values into their one spelling
    report.count(node);
    TRY(on_node(story, std::move(node), kNodeAttributes.size() + 4 * (*passage)->links.size()));
  }
  for (std::size_t i = 0; i < checked.size(); ++i) {
    FromPassages(model, checked[i].ids, reader.report(i)).story(reader.stories()[i]);  // for its notes
  }
  return {};
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
  for (const auto name : kStoryAttributes) append(document.story, name);
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
  auto text = write_twee(to_twee(document, names, ifid));
  TRY(check_document_size(text.size()));
  // Spaces that keep texts from looking like markup may make one too long.
  TextSource source(text);
  TweeReader reader(source);
  if (auto again = check_passages(reader, model, random); !again) {
    auto problem = again.error();
    return runtime::conflict("NotForTwee", "something in the story does not fit into Twee; JSON can hold it",
                             std::move(problem.details));
  }
  return text;
}

}  // namespace stator::systems::stories
