#include "stator/systems/stories/twee.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stator/value/json.h"

// Twee 3, as far as it is used here:
//
//   :: Name of the passage [tag other] {"position":"10,10"}
//   Text, with links: [[go on->Target]], [[Target<-go on]], [[go on|Target]], [[Target]]
//
// In names and tags a backslash stands before [ ] { } and itself.  StoryTitle and StoryData are passages of their own
// kind.
namespace stator::systems::stories {
namespace {

constexpr std::size_t kMostPassages = 10'000;
constexpr std::size_t kMostLineBytes = std::size_t{64} << 10;      // held at once; headers have no more
constexpr std::size_t kMostPassageBytes = std::size_t{512} << 10;  // a node holds less
constexpr std::size_t kMostStoryDataBytes = std::size_t{64} << 10;
constexpr std::size_t kMostNameBytes = 1024;  // a node's label is shorter
constexpr std::size_t kMostLinks = 1000;      // a node has far fewer
constexpr std::string_view kTitle = "StoryTitle";
constexpr std::string_view kData = "StoryData";
constexpr std::string_view kStart = "Start";

// Without the white space around it, line breaks included.
std::string_view trim_lines(std::string_view text) {
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

// The last character of what was put in may begin the next one: "[[[" holds "[[" twice.  `to` ends without holding
// `from`.
void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size() - 1)) {
    text.replace(at, from.size(), to);
  }
}

// A passage's text as such: nothing in it begins a passage or is a link.  Twee cannot escape these, so a space keeps
// them apart.
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
  passage.name = unescape(trim_lines(header.substr(0, std::min(tags, metadata))));
  if (passage.name.empty()) return validation_error(fmt::format("line {}: a passage without a name", line));
  if (passage.name.size() > kMostNameBytes) {
    return validation_error(fmt::format("line {}: the name of a passage has at most {} bytes", line, kMostNameBytes));
  }
  if (tags < metadata) {
    const auto end = find_bare(header, ']', tags);
    if (end == std::string_view::npos)
      return validation_error(fmt::format("line {}: the tags of {} are not closed", line, passage.name));
    auto rest = header.substr(tags + 1, end - tags - 1);
    while (!(rest = trim_lines(rest)).empty()) {
      const auto space = std::min(rest.find(' '), rest.size());
      passage.tags.push_back(unescape(rest.substr(0, space)));
      rest.remove_prefix(space);
    }
  }
  return passage;
}

TweeLink read_link(std::string_view inside) {
  if (const auto arrow = inside.rfind("->"); arrow != std::string_view::npos) {
    return {std::string(trim_lines(inside.substr(0, arrow))), std::string(trim_lines(inside.substr(arrow + 2)))};
  }
  if (const auto arrow = inside.find("<-"); arrow != std::string_view::npos) {
    return {std::string(trim_lines(inside.substr(arrow + 2))), std::string(trim_lines(inside.substr(0, arrow)))};
  }
  if (const auto bar = inside.find('|'); bar != std::string_view::npos) {
    return {std::string(trim_lines(inside.substr(0, bar))), std::string(trim_lines(inside.substr(bar + 1)))};
  }
  return {std::string(trim_lines(inside)), std::string(trim_lines(inside))};
}

// Takes the links out of a passage's text.  False when there are too many.
bool take_links(std::string_view body, TweePassage& passage) {
  std::string text;
  std::size_t at = 0;
  while (true) {
    const auto open = body.find("[[", at);
    const auto close = open == std::string_view::npos ? open : body.find("]]", open);
    if (close == std::string_view::npos) break;
    if (passage.links.size() == kMostLinks) return false;
    text += body.substr(at, open - at);
    passage.links.push_back(read_link(body.substr(open + 2, close - open - 2)));
    at = close + 2;
  }
  text += body.substr(at);
  passage.text = std::string(trim_lines(text));
  return true;
}

void read_story_data(std::string_view json, std::string& ifid, std::string& start) {
  value::JsonParser parser;
  const auto root = parser.parse(json);
  if (!root) return;  // each tool writes its own data; unknown data is not needed
  std::string_view text;
  if ((*root)["ifid"].get(text)) ifid = text;
  if ((*root)["start"].get(text)) start = text;
}

bool has_tag(const TweePassage& passage, std::string_view tag) {
  return std::find(passage.tags.begin(), passage.tags.end(), tag) != passage.tags.end();
}

}  // namespace

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
      return true;
    }
  }
  return true;
}

bool TweeReader::is_skipped() const {
  return passage_ && (has_tag(*passage_, "script") || has_tag(*passage_, "stylesheet"));
}

Result<void> TweeReader::add_to_body(std::string_view text) {
  if (is_skipped()) return {};
  const auto most = passage_->name == kData ? kMostStoryDataBytes : kMostPassageBytes;
  if (body_.size() + text.size() > most) return error(fmt::format("{} has more than {} bytes", passage_->name, most));
  body_ += text;
  return {};
}

// Whether there was one that is a passage of the story, which is then finished.
Result<bool> TweeReader::end_passage() {
  if (!passage_) return false;
  auto passage = *std::exchange(passage_, std::nullopt);
  const auto body = std::exchange(body_, {});
  if (passage.name == kTitle) {
    title_ = trim_lines(body);
    return false;
  }
  if (passage.name == kData) {
    read_story_data(trim_lines(body), ifid_, start_);
    return false;
  }
  if (has_tag(passage, "script") || has_tag(passage, "stylesheet")) return false;
  if (count_ == kMostPassages) return validation_error(fmt::format("more than {} passages", kMostPassages));
  if (!take_links(body, passage)) return error(fmt::format("{} has more than {} links", passage.name, kMostLinks));
  if (count_++ == 0) first_ = passage.name;
  has_start_ = has_start_ || passage.name == kStart;
  finished_ = std::move(passage);
  return true;
}

// Whether the line ended a passage of the story.
Result<bool> TweeReader::take_line() {
  if (begins_ && line_.starts_with("::")) {
    if (!whole_) return error(fmt::format("the first line of a passage has at most {} bytes", kMostLineBytes));
    const bool ended = TRY(end_passage());
    passage_ = TRY(read_header(std::string_view(line_).substr(2), line_number_));
    return ended;
  }
  if (passage_) {
    TRY(add_to_body(line_));
    if (whole_) TRY(add_to_body("\n"));
  } else if (!trim_lines(line_).empty()) {
    return error("text before the first passage; passages begin with ::");
  }
  return false;
}

Result<std::optional<TweePassage>> TweeReader::next() {
  while (next_line()) {
    if (TRY(take_line())) return std::exchange(finished_, std::nullopt);
  }
  if (failure_) return *failure_;
  TRY(end_passage());
  return std::exchange(finished_, std::nullopt);
}

const std::string& TweeReader::start() const {
  static const std::string called(kStart);
  if (!start_.empty()) return start_;
  return has_start_ ? called : first_;
}

Result<TweeStory> read_twee(std::string_view text) {
  TextSource source(text);
  TweeReader reader(source);
  TweeStory story;
  while (auto passage = TRY(reader.next())) story.passages.push_back(std::move(*passage));
  story.title = reader.title();
  story.ifid = reader.ifid();
  story.start = reader.start();
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
