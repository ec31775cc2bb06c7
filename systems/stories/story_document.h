#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/byte_source.h"
#include "stator/base/random.h"
#include "stator/model/model.h"
#include "stator/runtime/problem.h"
#include "stator/systems/stories/passage_reader.h"
#include "stator/value/attribute_value.h"

// A whole story as one text, outside of any table.
//
//   {"format": "stator-story", "version": 1, "title": "...", "startNodeId": "...", "variables": {...},
//    "nodes": [{"id": "...", "label": "...", "type": "...", "prompt": "...", "responses": [...], "media": ...}, ...]}
//
// The order of the nodes is that of the list.  Responses point at ids; these need to be unique within the document
// only. Passages of Twine have no place for media, conditions, and values that are no number, text or boolean; labels
// become names of passages, made different where two are the same, and the type becomes tags.
namespace stator::systems::stories {

// The default limit of a request's body.
inline constexpr std::size_t kMostDocumentBytes = std::size_t{16} << 20;
// How deep lists and maps of a node nest: JSON nests 32 levels, and a document has three around them.
inline constexpr std::size_t kDeepestValue = 29;

struct StoryDocument {
  value::Item story;               // title, startNodeId, variables, ifid, twine
  std::vector<value::Item> nodes;  // id, label, type, prompt, responses, media, position
};

// Called with one node after another, and about how many values it holds.
using OnNode = std::function<Result<void, runtime::Problem>(value::Item node, std::size_t values)>;

// A text is checked first, one node at a time, and then read again for its nodes.  Bounds: 10,000
// nodes, each as large as an item can be, and the model's bounds of attributes.  Problems: Invalid, with the first
// hundred places; those of the source (app::unreadable).
Result<value::Item, runtime::Problem> check_json_story(ByteSource& text, const model::Model& model);
Result<void, runtime::Problem> for_each_json_node(ByteSource& text, const model::Model& model, const OnNode& on_node);

// Checks the size of a document.  Problems: TooLarge.
Result<void, runtime::Problem> check_document_size(std::size_t bytes);

// A story of a file of passages.
struct CheckedStory {
  value::Item story;
  std::map<std::string, std::string> ids;  // of the nodes that passages become, by their names
};
// Looks at all passages.  Problems: Invalid, with the first hundred places; those of the reader (app::unreadable).
Result<std::vector<CheckedStory>, runtime::Problem> check_passages(PassageReader& reader, const model::Model& model,
                                                                   Random& random);
// Reads the same file again.  Parts that a node cannot hold are noted in the reports of the reader.  `on_node` is
// called with one node after another, the story it belongs to, and about how many values it holds.
using OnStoryNode =
    std::function<Result<void, runtime::Problem>(std::size_t story, value::Item node, std::size_t values)>;
Result<void, runtime::Problem> for_each_passage_node(PassageReader& reader, const model::Model& model,
                                                     const std::vector<CheckedStory>& checked,
                                                     const OnStoryNode& on_node);

// The text can be read again.  Problems: TooLarge, beyond kMostDocumentBytes.
Result<std::string, runtime::Problem> write_json_story(const StoryDocument& document);
// `ifid`: the story's identity elsewhere, if it has none yet.  Problems: Conflict, too, when something in it does not
// survive in Twee.
Result<std::string, runtime::Problem> write_twee_story(const StoryDocument& document, const model::Model& model,
                                                       std::string_view ifid, Random& random);

}  // namespace stator::systems::stories
