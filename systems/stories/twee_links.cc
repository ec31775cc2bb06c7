#include "stator/systems/stories/twee_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "stator/base/ascii.h"
#include "stator/model/problem_list.h"
#include "stator/systems/stories/setters.h"

namespace stator::systems::stories {
namespace {

constexpr std::string_view kChoices = "<!-- choices -->";
constexpr auto kNone = std::string_view::npos;

// The last character of what was put in may begin the next one: "[[[" holds "[[" twice.  `to` ends without holding
// `from`.
void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size() - 1)) {
    text.replace(at, from.size(), to);
  }
}

// ------------------------------------------------------------------------------------------------------------- reading

// Where the setter that begins at `from` ends: at the ]] outside of its quotes and brackets.
std::size_t end_of_setter(std::string_view body, std::size_t from) {
  int depth = 0;
  char quote = 0;
  for (auto i = from; i < std::min(body.size(), from + kMostSetterBytes); ++i) {
    const char c = body[i];
    if (c == '\n') return kNone;
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[') {
      ++depth;
    } else if (c == ']' && depth > 0) {
      --depth;
    } else if (c == ']') {
      return body.substr(i).starts_with("]]") ? i : kNone;
    }
  }
  return kNone;
}

struct Found {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string_view inside;
  std::string_view setter;
};

// The first link from there on.
std::optional<Found> find_link(std::string_view body, std::size_t from) {
  const auto open = body.find("[[", from);
  const auto close = open == kNone ? kNone : body.find("]]", open + 2);
  if (close == kNone) return std::nullopt;
  const auto inside = body.substr(open + 2, close - open - 2);
  if (const auto split = inside.find("]["); split != kNone) {
    const auto setter = open + 2 + split + 2;
    if (const auto end = end_of_setter(body, setter); end != kNone) {
      return Found{.begin = open,
                   .end = end + 2,
                   .inside = inside.substr(0, split),
                   .setter = body.substr(setter, end - setter)};
    }
  }
  return Found{.begin = open, .end = close + 2, .inside = inside, .setter = {}};
}

TweeLink to_link(const Found& found, std::size_t line) {
  const auto inside = found.inside;
  auto text = inside, target = inside;
  if (const auto arrow = inside.rfind("->"); arrow != kNone) {
    text = inside.substr(0, arrow);
    target = inside.substr(arrow + 2);
  } else if (const auto back = inside.find("<-"); back != kNone) {
    target = inside.substr(0, back);
    text = inside.substr(back + 2);
  } else if (const auto bar = inside.find('|'); bar != kNone) {
    text = inside.substr(0, bar);
    target = inside.substr(bar + 1);
  }
  return {.text = one_line(text),
          .target = one_line(target),
          .setter = std::string(trim_lines(found.setter)),
          .line = line};
}

bool is_only_link(std::string_view line) {
  const auto found = line.starts_with("[[") ? find_link(line, 0) : std::nullopt;
  return found && found->end == line.size();
}

// The lines of links that are not part of the text.
struct Choices {
  std::size_t begin = 0;
  std::size_t end = 0;
};
Choices find_choices(std::string_view body) {
  const auto size = body.find_last_not_of(" \t\r\n") + 1;  // 0 when there is nothing else
  const auto shown = body.substr(0, size);
  const Choices none{.begin = body.size(), .end = body.size()};
  if (!shown.ends_with(kChoices)) return none;
  const auto marker = size - kChoices.size();
  if (marker > 0 && body[marker - 1] != '\n') return none;
  auto begin = marker;
  while (begin > 0) {
    const auto line_break = begin >= 2 ? body.rfind('\n', begin - 2) : kNone;
    const auto line = line_break == kNone ? 0 : line_break + 1;
    if (!is_only_link(body.substr(line, begin - 1 - line))) break;
    begin = line;
  }
  return {.begin = begin, .end = marker};
}

// ------------------------------------------------------------------------------------------------------------- writing

// The text of a link: one line that does not end it.
std::string neutral_link(std::string_view text) {
  auto out = one_line(text);
  replace_all(out, "]]", "] ]");
  replace_all(out, "][", "] [");
  return out;
}

// Where these words stand in the text, from there on, and nothing beside them makes them a part of something else.
std::size_t find_words(std::string_view text, const std::string& words, std::size_t from) {
  const auto is_apart = [](char c) {
    return !is_letter(c) && !is_digit(c) && static_cast<unsigned char>(c) < 0x80 && c != '[' && c != ']';
  };
  if (words.empty() || neutral_link(words) != words || words.find("[[") != kNone) return kNone;
  for (auto at = text.find(words, from); at != kNone; at = text.find(words, at + 1)) {
    const auto end = at + words.size();
    if ((at == 0 || is_apart(text[at - 1])) && (end == text.size() || is_apart(text[end]))) return at;
  }
  return kNone;
}

std::string link_text(const TweeLink& link) {
  const auto setter = link.setter.empty() ? std::string() : fmt::format("[{}]", link.setter);
  return fmt::format("[[{}->{}]{}]", neutral_link(link.text), link.target, setter);
}

}  // namespace

Result<void> read_links(std::string_view body, std::size_t line, TweePassage& passage) {
  const auto choices = find_choices(body);
  std::string text;
  std::size_t at = 0;
  for (auto found = find_link(body, at); found; found = find_link(body, at)) {
    const auto before = body.substr(at, found->begin - at);
    line += static_cast<std::size_t>(std::ranges::count(before, '\n'));
    if (passage.links.size() == kMostLinks) {
      return validation_error(
          fmt::format("line {}: {} has more than {} links", line, model::shown_name(passage.name), kMostLinks));
    }
    passage.links.push_back(to_link(*found, line));
    if (found->begin < choices.begin) {
      text += before;
      text += passage.links.back().text;
    } else if (at < choices.begin) {
      text += body.substr(at, choices.begin - at);
    }
    const auto inside = body.substr(found->begin, found->end - found->begin);
    line += static_cast<std::size_t>(std::ranges::count(inside, '\n'));
    at = found->end;
  }
  if (at < choices.begin) text += body.substr(at, choices.begin - at);
  passage.text = std::string(trim_lines(text));
  return {};
}

std::string write_links(std::string_view text, const std::vector<TweeLink>& links) {
  std::string out;
  std::size_t at = 0;
  std::size_t placed = 0;
  const bool has_links = !links.empty() || text.find("]]") != kNone;  // otherwise a [[ is never closed
  const auto write_text = [&](std::string_view part) {
    std::string neutral(part);
    if (has_links) replace_all(neutral, "[[", "[ [");
    replace_all(neutral, "\n::", "\n ::");
    if (out.empty() && part.starts_with("::")) out += ' ';
    out += neutral;
  };
  for (; placed < links.size(); ++placed) {
    const auto place = find_words(text, links[placed].text, at);
    if (place == kNone) break;
    write_text(text.substr(at, place - at));
    out += link_text(links[placed]);
    at = place + links[placed].text.size();
  }
  write_text(text.substr(at));
  if (placed == links.size()) return out;
  // A line of the text that is a link is none of the choices.
  const auto last_line = out.rfind('\n') == std::string::npos ? 0 : out.rfind('\n') + 1;
  if (!out.empty()) out += is_only_link(std::string_view(out).substr(last_line)) ? "\n\n" : "\n";
  for (; placed < links.size(); ++placed) out += link_text(links[placed]) + "\n";
  return out.append(kChoices);
}

}  // namespace stator::systems::stories
