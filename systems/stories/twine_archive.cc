#include "stator/systems/stories/twine_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "stator/base/ascii.h"
#include "stator/model/problem_list.h"

namespace stator::systems::stories {
namespace {

using What = ImportReport::What;

constexpr std::size_t kMostTagBytes = std::size_t{64} << 10;
constexpr std::size_t kMostTagName = 32;                          // longer ones mean nothing here
constexpr std::size_t kMostEncodedBytes = 2 * kMostPassageBytes;  // of a passage, with its entities
constexpr std::size_t kMostTagColors = 100;
constexpr std::string_view kPassageEnd = "</tw-passagedata>";

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

bool ends_with_tag(std::string_view text, std::string_view tag) {
  return text.size() >= tag.size() && std::ranges::equal(text.substr(text.size() - tag.size()), tag, {}, to_lower);
}

void append_utf8(std::string& out, std::uint32_t c) {
  const auto byte = [&](std::uint32_t bits) { out += static_cast<char>(bits); };
  if (c < 0x80) {
    byte(c);
  } else if (c < 0x800) {
    byte(0xC0U | c >> 6U);
    byte(0x80U | (c & 0x3FU));
  } else if (c < 0x10000) {
    byte(0xE0U | c >> 12U);
    byte(0x80U | (c >> 6U & 0x3FU));
    byte(0x80U | (c & 0x3FU));
  } else {
    byte(0xF0U | c >> 18U);
    byte(0x80U | (c >> 12U & 0x3FU));
    byte(0x80U | (c >> 6U & 0x3FU));
    byte(0x80U | (c & 0x3FU));
  }
}

// `name`: the text between & and ;.  False when it is no known entity.
bool append_entity(std::string& out, std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kNamed{
      {{"amp", "&"}, {"lt", "<"}, {"gt", ">"}, {"quot", "\""}, {"apos", "'"}, {"nbsp", "\u00A0"}}};
  const auto named = std::ranges::find(kNamed, name, &std::pair<std::string_view, std::string_view>::first);
  if (named != kNamed.end()) {
    out += named->second;
    return true;
  }
  if (!name.starts_with('#')) return false;
  const bool is_hex = name.size() > 1 && to_lower(name[1]) == 'x';
  const auto digits = name.substr(is_hex ? 2 : 1);
  std::uint32_t c = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), c, is_hex ? 16 : 10);
  if (digits.empty() || end != digits.data() + digits.size()) return false;
  const bool is_character = problem == std::errc() && c != 0 && c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF);
  append_utf8(out, is_character ? c : 0xFFFDU);
  return true;
}

}  // namespace

std::string decode_entities(std::string_view text) {
  constexpr std::size_t kLongest = 10;
  std::string out;
  while (!text.empty()) {
    const auto mark = std::min(text.find('&'), text.size());
    out += text.substr(0, mark);
    text.remove_prefix(mark);
    if (text.empty()) break;
    const auto end = text.substr(0, kLongest).find(';');
    if (end != std::string_view::npos && append_entity(out, text.substr(1, end - 1))) {
      text.remove_prefix(end + 1);
    } else {
      out += '&';
      text.remove_prefix(1);
    }
  }
  return out;
}

Error TwineReader::error(std::string_view problem) const {
  return failure_ ? *failure_ : validation_error(fmt::format("line {}: {}", line_, problem));
}

std::optional<char> TwineReader::peek() {
  if (piece_.empty() && !failure_) {
    auto piece = source_.next();
    if (!piece) {
      failure_ = std::move(piece).error();
    } else {
      piece_ = *piece;
    }
  }
  return piece_.empty() ? std::nullopt : std::optional(piece_.front());
}

std::optional<char> TwineReader::take() {
  const auto c = peek();
  if (!c) return c;
  piece_.remove_prefix(1);
  if (*c == '\n') ++line_;
  return c;
}

bool TwineReader::skip_past(std::string_view wanted) {
  std::size_t matched = 0;
  while (matched < wanted.size()) {
    const auto c = take();
    if (!c) return false;
    if (to_lower(*c) == wanted[matched]) {
      ++matched;
    } else {
      matched = *c == wanted.front() ? 1 : 0;
    }
  }
  return true;
}

// From behind "<!--" to its end.
void TwineReader::skip_comment() {
  std::size_t dashes = 0;
  while (const auto c = take()) {
    if (*c == '>' && dashes >= 2) return;
    dashes = *c == '-' ? dashes + 1 : 0;
  }
}

// Behind a <: "tw-passagedata", "/tw-storydata", "!--"; cut off where it is too long to mean anything.
std::string TwineReader::tag_name() {
  std::string name;
  while (name.size() < kMostTagName && name != "!--") {
    const auto c = peek();
    const bool belongs = c && (is_letter(*c) || is_digit(*c) || *c == '-' || *c == '!' || (*c == '/' && name.empty()));
    if (!belongs) break;
    name += to_lower(*take());
  }
  return name;
}

Result<std::string> TwineReader::attribute_value(std::size_t& bytes) {
  std::string text;
  const auto quote = peek() == '"' || peek() == '\'' ? take() : std::nullopt;
  while (true) {
    const auto c = peek();
    if (!c) return error("a tag is not closed");
    if (quote ? *c == *quote : is_space(*c) || *c == '>') break;
    text += *take();
    if (++bytes > kMostTagBytes) return error(fmt::format("a tag has more than {} bytes", kMostTagBytes));
  }
  if (quote) take();
  return decode_entities(text);
}

// Up to and with the > of the tag.
Result<TwineReader::Attributes> TwineReader::attributes() {
  Attributes found;
  std::size_t bytes = 0;
  std::string name;
  while (true) {
    const auto c = take();
    if (!c) return error("a tag is not closed");
    if (++bytes > kMostTagBytes) return error(fmt::format("a tag has more than {} bytes", kMostTagBytes));
    if (*c == '=' && !name.empty()) {
      auto content = TRY(attribute_value(bytes));
      found.emplace(std::exchange(name, {}), std::move(content));
    } else if (*c == '>') {
      return found;
    } else if (is_space(*c) || *c == '/') {
      name.clear();
    } else {
      name += to_lower(*c);
    }
  }
}

Result<void> TwineReader::begin_tag_story() {
  if (in_story_) return error("a story inside of a story");
  if (stories().size() == kMostStories) return error(fmt::format("more than {} stories", kMostStories));
  auto given = TRY(attributes());
  auto& made = begin_story();
  made.title = one_line(given["name"]);
  made.ifid = given["ifid"];
  made.format = given["format"];
  made.format_version = given["format-version"];
  if (const auto zoom = value::Number::parse(given["zoom"])) made.zoom = *zoom;
  start_ = given["startnode"];
  in_story_ = true;
  return {};
}

Result<void> TwineReader::tag_color() {
  auto given = TRY(attributes());
  if (story().tag_colors.size() < kMostTagColors) story().tag_colors[given["name"]] = given["color"];
  return {};
}

Result<void> TwineReader::code(const std::string& name) {
  const auto line = line_;
  TRY(attributes());
  const bool empty = peek() == '<';
  if (!skip_past("</" + name)) return error(fmt::format("<{}> is not closed", name));
  if (in_story_ && !empty) note(What::Dropped, {}, line, "scripts and styles are not imported");
  return {};
}

Result<std::optional<TweePassage>> TwineReader::passage() {
  TweePassage passage;
  passage.line = line_;
  auto given = TRY(attributes());
  passage.name = one_line(given["name"]);
  TRY(check_name(passage));
  passage.tags = words_of(given["tags"]);
  if (const auto& place = given["position"]; !place.empty()) passage.position = read_pair(place, "position", passage);
  if (const auto& size = given["size"]; !size.empty()) passage.size = read_pair(size, "size", passage);
  if (!start_.empty() && given["pid"] == start_) story().start = passage.name;
  const auto body_line = line_;
  std::string body;
  const auto too_long = [&] {
    return error(fmt::format("{} has more than {} bytes", model::shown_name(passage.name), kMostPassageBytes));
  };
  while (!ends_with_tag(body, kPassageEnd)) {
    do {
      const auto c = take();
      if (!c) return error(fmt::format("{} is not closed", model::shown_name(passage.name)));
      body += *c;
      if (body.size() > kMostEncodedBytes) return too_long();
    } while (body.back() != '>');
  }
  body.resize(body.size() - kPassageEnd.size());
  auto text = decode_entities(body);
  std::erase(text, '\r');
  if (text.size() > kMostPassageBytes) return too_long();
  return finish(std::move(passage), text, body_line);
}

Result<std::optional<TweePassage>> TwineReader::next() {
  while (skip_past("<")) {
    const auto name = tag_name();
    if (name == "!--") {
      skip_comment();
    } else if (name == "tw-storydata") {
      TRY(begin_tag_story());
    } else if (name == "script" || name == "style") {
      TRY(code(name));
    } else if (in_story_ && name == "tw-tag") {
      TRY(tag_color());
    } else if (in_story_ && name == "tw-passagedata") {
      if (auto found = TRY(passage())) return found;
    } else if (name == "/tw-storydata") {
      in_story_ = false;
    }
  }
  if (failure_) return *failure_;
  if (in_story_) return error("the last story is not closed");
  if (stories().empty()) return validation_error("there is no story: <tw-storydata> is missing");
  return std::optional<TweePassage>();
}

}  // namespace stator::systems::stories
