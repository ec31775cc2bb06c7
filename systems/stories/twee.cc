#include "stator/systems/stories/twee.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "stator/value/json.h"

// Twee 3, as far as it is used here:
//
//   :: Name of the passage [tag other] {"position":"10,10"}
//   Text, with links: [[go on->Target]], [[Target<-go on]], [[go on|Target]], [[Target]]
//
// In names and tags a backslash stands before [ ] { } and itself.  StoryTitle and StoryData are passages of their own kind.
namespace stator::systems::stories {
namespace {

constexpr std::size_t kMostPassages = 10'000;

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

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

// The last character of what was put in may begin the next one: "[[[" holds "[[" twice.  `to` ends without holding `from`.
void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size() - 1)) {
    text.replace(at, from.size(), to);
  }
}

// A passage's text as such: nothing in it begins a passage or is a link.  Twee cannot escape these, so a space keeps them apart.
std::string neutral_text(std::string text) {
  replace_all(text, "[[", "[ [");
  replace_all(text, "\n::", "\n ::");
  return text.starts_with("::") ? " " + text : text;
}

// The text of a link: one line that does not end it.
std::string neutral_link(std::string text) {
  for (auto& c : text) c = c == '\n' || c == '\r' ? ' ' : c;
  replace_all(text, "]]", "] ]");
  return text;
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

Result<TweePassage> read_header(std::string_view header, std::size_t line) {
  TweePassage passage;
  const auto tags = find_bare(header, '[');
  const auto metadata = find_bare(header, '{');
  passage.name = unescape(trim(header.substr(0, std::min(tags, metadata))));
  if (passage.name.empty()) return validation_error(fmt::format("line {}: a passage without a name", line));
  if (tags < metadata) {
    const auto end = find_bare(header, ']', tags);
    if (end == std::string_view::npos)
      return validation_error(fmt::format("line {}: the tags of {} are not closed", line, passage.name));
    auto rest = header.substr(tags + 1, end - tags - 1);
    while (!(rest = trim(rest)).empty()) {
      const auto space = std::min(rest.find(' '), rest.size());
      passage.tags.push_back(unescape(rest.substr(0, space)));
      rest.remove_prefix(space);
    }
  }
  return passage;
}

TweeLink read_link(std::string_view inside) {
  if (const auto arrow = inside.rfind("->"); arrow != std::string_view::npos) {
    return {std::string(trim(inside.substr(0, arrow))), std::string(trim(inside.substr(arrow + 2)))};
  }
  if (const auto arrow = inside.find("<-"); arrow != std::string_view::npos) {
    return {std::string(trim(inside.substr(arrow + 2))), std::string(trim(inside.substr(0, arrow)))};
  }
  if (const auto bar = inside.find('|'); bar != std::string_view::npos) {
    return {std::string(trim(inside.substr(0, bar))), std::string(trim(inside.substr(bar + 1)))};
  }
  return {std::string(trim(inside)), std::string(trim(inside))};
}

// Takes the links out of a passage's text.
void take_links(std::string_view body, TweePassage& passage) {
  std::string text;
  std::size_t at = 0;
  while (true) {
    const auto open = body.find("[[", at);
    const auto close = open == std::string_view::npos ? open : body.find("]]", open);
    if (close == std::string_view::npos) break;
    text += body.substr(at, open - at);
    passage.links.push_back(read_link(body.substr(open + 2, close - open - 2)));
    at = close + 2;
  }
  text += body.substr(at);
  passage.text = std::string(trim(text));
}

void read_story_data(std::string_view json, TweeStory& story) {
  value::JsonParser parser;
  const auto root = parser.parse(json);
  if (!root) return;  // every tool writes its own; what cannot be read is not needed
  std::string_view text;
  if ((*root)["ifid"].get(text) == simdjson::SUCCESS) story.ifid = text;
  if ((*root)["start"].get(text) == simdjson::SUCCESS) story.start = text;
}

bool has_tag(const TweePassage& passage, std::string_view tag) {
  return std::find(passage.tags.begin(), passage.tags.end(), tag) != passage.tags.end();
}

}  // namespace

Result<TweeStory> read_twee(std::string_view text) {
  TweeStory story;
  std::optional<TweePassage> passage;
  std::string body;
  const auto end_passage = [&]() -> Result<void> {
    if (!passage) return {};
    if (passage->name == "StoryTitle") {
      story.title = trim(body);
    } else if (passage->name == "StoryData") {
      read_story_data(trim(body), story);
    } else if (!has_tag(*passage, "script") && !has_tag(*passage, "stylesheet")) {
      if (story.passages.size() == kMostPassages)
        return validation_error(fmt::format("more than {} passages", kMostPassages));
      take_links(body, *passage);
      story.passages.push_back(std::move(*passage));
    }
    passage.reset();
    body.clear();
    return {};
  };
  std::size_t line_number = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line_number;
    if (line.starts_with("::")) {
      TRY(end_passage());
      passage = TRY(read_header(line.substr(2), line_number));
    } else if (passage) {
      body += line;
      body += '\n';
    } else if (!trim(line).empty()) {
      return validation_error(
          fmt::format("line {}: text before the first passage; passages begin with ::", line_number));
    }
  }
  TRY(end_passage());
  const auto named = [&](std::string_view name) {
    return std::any_of(story.passages.begin(), story.passages.end(),
                       [&](const TweePassage& p) { return p.name == name; });
  };
  if (story.start.empty() && named("Start")) story.start = "Start";
  if (story.start.empty() && !story.passages.empty()) story.start = story.passages.front().name;
  return story;
}

std::string write_twee(const TweeStory& story) {
  std::string out = fmt::format(":: StoryTitle\n{}\n\n:: StoryData\n", neutral_text(story.title));
  value::JsonWriter json(out);
  json.begin_object().key("ifid").string(story.ifid).key("start").string(story.start).end_object();
  out += "\n";
  for (const auto& passage : story.passages) {
    out += fmt::format("\n:: {}", escape(passage.name));
    if (!passage.tags.empty()) {
      out += " [";
      for (std::size_t i = 0; i < passage.tags.size(); ++i) out += (i > 0 ? " " : "") + escape(passage.tags[i]);
      out += "]";
    }
    out += "\n" + neutral_text(passage.text) + "\n";
    for (const auto& link : passage.links) out += fmt::format("[[{}->{}]]\n", neutral_link(link.text), link.target);
  }
  return out;
}

}  // namespace stator::systems::stories
