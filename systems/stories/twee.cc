#include "stator/systems/stories/twee.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stator/model/problem_list.h"
#include "stator/systems/stories/setters.h"
#include "stator/systems/stories/twee_links.h"
#include "stator/value/json.h"

//   :: Name of the passage [tag other] {"position":"10,10","size":"100,100"}
//   Text, with links
//
// In names and tags a backslash stands before [ ] { } and itself.  StoryTitle and StoryData are passages of their own
// kind.
namespace stator::systems::stories {
namespace {

using What = ImportReport::What;

constexpr std::size_t kMostLineBytes = std::size_t{64} << 10;  // held at once; headers have no more
constexpr std::size_t kMostStoryDataBytes = std::size_t{64} << 10;
constexpr std::size_t kMostTagColors = 100;
constexpr std::string_view kTitle = "StoryTitle";
constexpr std::string_view kData = "StoryData";
constexpr std::string_view kStart = "Start";

std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    out += text[i];
  }
  return out;
}

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("[]{}\\").find(c) != std::string_view::npos) out += '\\';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out;
}

// The first `wanted` that no backslash stands before.
std::size_t find_bare(std::string_view text, char wanted, std::size_t from = 0) {
  for (std::size_t i = from; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == wanted) {
      return i;
    }
  }
  return std::string_view::npos;
}

// A member of StoryData or of metadata that is a text or a number.
std::string text_of(value::JsonElement json) {
  std::string_view text;
  if (json.get(text)) return std::string(text);
  return json.is_number() ? value::json_text(json) : std::string();
}

void write_pair(value::JsonWriter& json, std::string_view name, const std::optional<NumberPair>& pair) {
  if (pair) json.key(name).string(fmt::format("{},{}", pair->first.to_string(), pair->second.to_string()));
}

std::string header_of(const TweePassage& passage) {
  auto out = fmt::format(":: {}", escape(passage.name));
  if (!passage.tags.empty()) {
    out += " [";
    for (std::size_t i = 0; i < passage.tags.size(); ++i) out += (i > 0 ? " " : "") + escape(passage.tags[i]);
    out += "]";
  }
  if (!passage.position && !passage.size) return out;
  out += " ";
  value::JsonWriter json(out);
  json.begin_object();
  write_pair(json, "position", passage.position);
  write_pair(json, "size", passage.size);
  json.end_object();
  return out;
}

void write_story_data(std::string& out, const TweeStory& story) {
  value::JsonWriter json(out);
  json.begin_object().key("ifid").string(story.ifid);
  if (!story.format.empty()) json.key("format").string(story.format);
  if (!story.format_version.empty()) json.key("format-version").string(story.format_version);
  json.key("start").string(story.start);
  if (!story.tag_colors.empty()) {
    json.key("tag-colors").begin_object();
    for (const auto& [tag, color] : story.tag_colors) json.key(tag).string(color);
    json.end_object();
  }
  if (story.zoom) json.key("zoom").raw(story.zoom->to_string());
  json.end_object();
}

}  // namespace

TweeReader::TweeReader(ByteSource& source) : source_(source) { begin_story(); }

Error TweeReader::error(std::string_view problem) const {
  return validation_error(fmt::format("line {}: {}", line_number_, problem));
}

bool TweeReader::next_line() {
  line_.clear();
  begins_ = whole_;
  whole_ = false;
  if (begins_) ++line_number_;
  while (line_.size() < kMostLineBytes) {
    if (piece_.empty()) {
      auto piece = source_.next();
      if (!piece) {
        failure_ = std::move(piece).error();
        return false;
      }
      if (piece->empty()) {
        whole_ = true;
        return !line_.empty();
      }
      piece_ = *piece;
    }
    const auto end = std::min(piece_.find('\n'), piece_.size());
    const auto taken = std::min(end, kMostLineBytes - line_.size());
    line_ += piece_.substr(0, taken);
    piece_.remove_prefix(taken);
    if (!piece_.empty() && piece_.front() == '\n') {
      piece_.remove_prefix(1);
      whole_ = true;
      if (line_.ends_with('\r')) line_.pop_back();
      return true;
    }
  }
  return true;
}

Result<void> TweeReader::add_to_body(std::string_view text) {
  if (passage_->has_tag("script") || passage_->has_tag("stylesheet")) return {};  // it is not needed
  const auto most = passage_->name == kData ? kMostStoryDataBytes : kMostPassageBytes;
  if (body_.size() + text.size() > most) {
    return error(fmt::format("{} has more than {} bytes", model::shown_name(passage_->name), most));
  }
  body_ += text;
  return {};
}

Result<void> TweeReader::begin_passage(std::string_view header) {
  TweePassage passage;
  passage.line = line_number_;
  const auto tags = find_bare(header, '[');
  auto metadata = find_bare(header, '{');
  passage.name = one_line(unescape(header.substr(0, std::min(tags, metadata))));
  TRY(check_name(passage));
  if (tags < metadata) {
    const auto end = find_bare(header, ']', tags);
    if (end == std::string_view::npos) {
      return error(fmt::format("the tags of {} are not closed", model::shown_name(passage.name)));
    }
    for (const auto& word : words_of(header.substr(tags + 1, end - tags - 1))) passage.tags.push_back(unescape(word));
    metadata = find_bare(header, '{', end);
  }
  if (metadata != std::string_view::npos) read_metadata(trim_lines(header.substr(metadata)), passage);
  passage_ = std::move(passage);
  return {};
}

void TweeReader::read_metadata(std::string_view json, TweePassage& passage) {
  value::JsonParser parser;
  const auto root = parser.parse(json);
  value::JsonObject members;
  if (!root || !root->get(members)) {
    return note(What::Dropped, passage.name, passage.line, "the metadata is no JSON object");
  }
  for (const auto& [name, content] : members) {
    if (name == "position") {
      passage.position = read_pair(text_of(content), name, passage);
    } else if (name == "size") {
      passage.size = read_pair(text_of(content), name, passage);
    } else {
      note(What::Dropped, passage.name, passage.line,
           fmt::format("there is no place for the metadata {}", model::shown_name(name)));
    }
  }
}

void TweeReader::read_story_data(std::string_view json, const TweePassage& passage) {
  value::JsonParser parser;
  const auto root = parser.parse(json);
  value::JsonObject members;
  const auto drop = [&](std::string message) { note(What::Dropped, passage.name, passage.line, std::move(message)); };
  if (!root || !root->get(members)) return drop("it is no JSON object");
  for (const auto& [name, content] : members) {
    value::JsonObject colors;
    if (name == "ifid") {
      story().ifid = text_of(content);
    } else if (name == "format") {
      story().format = text_of(content);
    } else if (name == "format-version") {
      story().format_version = text_of(content);
    } else if (name == "start") {
      story().start = text_of(content);
    } else if (name == "zoom") {
      if (const auto zoom = value::Number::parse(text_of(content))) story().zoom = *zoom;
    } else if (name == "tag-colors" && content.get(colors)) {
      for (const auto& [tag, color] : colors) {
        if (story().tag_colors.size() < kMostTagColors) story().tag_colors[std::string(tag)] = text_of(color);
      }
    } else {
      drop(fmt::format("there is no place for {}", model::shown_name(name)));
    }
  }
}

// finished_ is then the passage, if it is one of the story.
Result<void> TweeReader::end_passage() {
  if (!passage_) return {};
  auto passage = *std::exchange(passage_, std::nullopt);
  const auto body = std::exchange(body_, {});
  if (passage.name == kTitle) {
    story().title = one_line(body);
    return {};
  }
  if (passage.name == kData) {
    read_story_data(trim_lines(body), passage);
    return {};
  }
  const auto body_line = passage.line + 1;
  finished_ = TRY(finish(std::move(passage), body, body_line));
  if (!finished_) return {};
  if (first_.empty()) first_ = finished_->name;
  has_start_ = has_start_ || finished_->name == kStart;
  return {};
}

Result<void> TweeReader::take_line() {
  if (begins_ && line_.starts_with("::")) {
    if (!whole_) return error(fmt::format("the first line of a passage has at most {} bytes", kMostLineBytes));
    TRY(end_passage());
    return begin_passage(std::string_view(line_).substr(2));
  }
  if (passage_) {
    TRY(add_to_body(line_));
    if (whole_) TRY(add_to_body("\n"));
  } else if (!trim_lines(line_).empty()) {
    return error("text before the first passage; passages begin with ::");
  }
  return {};
}

Result<std::optional<TweePassage>> TweeReader::next() {
  while (next_line()) {
    TRY(take_line());
    if (finished_) return std::exchange(finished_, std::nullopt);
  }
  if (failure_) return *failure_;
  TRY(end_passage());
  if (!finished_) decide_start();
  return std::exchange(finished_, std::nullopt);
}

// StoryData's, else the passage called Start, else the first.
void TweeReader::decide_start() {
  if (story().start.empty()) story().start = has_start_ ? std::string(kStart) : first_;
}

std::string write_twee(const TweeStory& story) {
  auto out = fmt::format(":: StoryTitle\n{}\n\n:: StoryData\n", write_links(story.title, {}));
  write_story_data(out, story);
  out += "\n";
  if (const auto init = write_story_init(story.variables); !init.empty())
    out += fmt::format("\n:: StoryInit\n{}", init);
  for (const auto& passage : story.passages) {
    out += fmt::format("\n{}\n{}\n", header_of(passage), write_links(passage.text, passage.links));
  }
  return out;
}

}  // namespace stator::systems::stories
