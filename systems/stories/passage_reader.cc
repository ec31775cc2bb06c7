#include "stator/systems/stories/passage_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "stator/model/problem_list.h"
#include "stator/systems/stories/setters.h"
#include "stator/systems/stories/twee_links.h"

namespace stator::systems::stories {
namespace {

constexpr std::string_view kInit = "StoryInit";

// Macros of SugarCube and Harlowe: <<if ...>>, (set: ...).  No node runs them.
bool has_macros(std::string_view text) {
  if (const auto open = text.find("<<"); open != std::string_view::npos && text.find(">>", open) != text.npos)
    return true;
  for (auto open = text.find('('); open != std::string_view::npos; open = text.find('(', open + 1)) {
    const auto end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", open + 1);
    if (end != std::string_view::npos && end > open + 1 && text[end] == ':') return true;
  }
  return false;
}

}  // namespace

std::string_view trim_lines(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string one_line(std::string_view text) {
  std::string out(trim_lines(text));
  std::ranges::replace_if(out, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return out;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!(text = trim_lines(text)).empty()) {
    const auto end = std::min(text.find_first_of(" \t\r\n"), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

bool TweePassage::has_tag(std::string_view tag) const { return std::ranges::find(tags, tag) != tags.end(); }

TweeStory& PassageReader::begin_story() {
  reports_.emplace_back();
  return stories_.emplace_back();
}

Result<void> PassageReader::check_name(const TweePassage& passage) const {
  if (passage.name.empty()) return validation_error(fmt::format("line {}: a passage without a name", passage.line));
  if (passage.name.size() <= kMostNameBytes) return {};
  return validation_error(
      fmt::format("line {}: the name of a passage has at most {} bytes", passage.line, kMostNameBytes));
}

std::optional<NumberPair> PassageReader::read_pair(std::string_view text, std::string_view what,
                                                   const TweePassage& passage) {
  const auto comma = text.find(',');
  if (comma != std::string_view::npos) {
    const auto first = value::Number::parse(trim_lines(text.substr(0, comma)));
    const auto second = value::Number::parse(trim_lines(text.substr(comma + 1)));
    if (first && second) return NumberPair(*first, *second);
  }
  note(ImportReport::What::Dropped, passage.name, passage.line,
       fmt::format("the {} is no pair of numbers such as 600,400", what));
  return std::nullopt;
}

Result<std::optional<TweePassage>> PassageReader::finish(TweePassage passage, std::string_view body,
                                                         std::size_t body_line) {
  using What = ImportReport::What;
  if (passage.has_tag("script") || passage.has_tag("stylesheet")) {
    note(What::Dropped, passage.name, passage.line, "scripts and styles are not imported");
    return std::optional<TweePassage>();
  }
  if (passage.name == kInit) {
    auto init = read_story_init(body);
    for (const auto& unknown : init.unknown) {
      note(What::Dropped, passage.name, passage.line,
           fmt::format("{} gives no variable a number, a text, true or false", model::shown_name(unknown)));
    }
    story().variables = std::move(init.values);
    return std::optional<TweePassage>();
  }
  if (passages_++ == kMostPassages) return validation_error(fmt::format("more than {} passages", kMostPassages));
  passage.story = stories_.size() - 1;
  TRY(read_links(body, body_line, passage));
  if (has_macros(passage.text)) {
    note(What::Kept, passage.name, passage.line, "macros of a story format stay in the text and are not run");
  }
  return std::optional(std::move(passage));
}

}  // namespace stator::systems::stories
