#include "stator/model/syntax/yaml_tree.h"

#include <fmt/format.h>
#include <utf8proc.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <istream>
#include <map>
#include <streambuf>

namespace stator::model {
namespace {

constexpr std::size_t kMaxDepth = 32;
constexpr std::size_t kMaxNodes = 100'000;
constexpr std::size_t kMaxItems = 2'000;

// Ends the reading of a document in which there is no going on; the report has the reason.
struct Stop {};

Position position_of(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {.line = static_cast<std::uint32_t>(mark.line + 1), .column = static_cast<std::uint32_t>(mark.column + 1)};
}

// Where each line of a text begins.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
    begins_.push_back(0);
    for (std::size_t i = 0; i < text_.size(); ++i) {
      if (text_[i] == '\n') begins_.push_back(i + 1);
    }
  }

  // The text from that place to the end of the file.
  std::string_view from(Position position) const {
    if (position.line == 0 || position.line > begins_.size()) return {};
    return text_.substr(std::min(text_.size(), begins_[position.line - 1] + position.column - 1));
  }

 private:
  std::string_view text_;
  std::vector<std::size_t> begins_;
};

// Builds the tree from the parser's events.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view text, Report& report) : lines_(text), report_(report) {}

  std::optional<YamlNode> take() && { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0)
      stop(position_of(mark), "several-documents", "a model is one document; this begins a second one");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    add({.kind = YamlNode::Kind::Nothing,
         .text = {},
         .quoted = false,
         .items = {},
         .position = position_of(mark),
         .key = {}});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    stop(position_of(mark), "alias", "aliases are not part of the language; write the value out");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    const auto position = position_of(mark);
    const bool quoted = tag == "!";  // how yaml-cpp marks quotes and blocks
    const std::string_view source = lines_.from(position);
    const int lead = quoted ? 1 : 0;
    const bool as_written =
        source.substr(std::min<std::size_t>(source.size(), static_cast<std::size_t>(lead))).starts_with(value) &&
        (!quoted || source.starts_with('"') || source.starts_with('\''));
    add({.kind = YamlNode::Kind::Scalar,
         .text = {.text = value, .position = position, .lead = as_written ? lead : -1},
         .quoted = quoted,
         .items = {},
         .position = position,
         .key = {}});
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::List, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::Map, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  // A list or map whose end has not come yet.
  struct Open {
    YamlNode node;
    std::optional<Text> key;                            // of the item that comes next; none: the key itself comes next
    std::map<std::string, Position, std::less<>> seen;  // keys
  };

  [[noreturn]] void stop(Position position, std::string_view code, std::string message) {
    report_.error(position, code, std::move(message));
    throw Stop();
  }
  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0)
      stop(position_of(mark), "alias", "anchors are not part of the language; write the value where it is used");
  }
  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!")
      stop(position_of(mark), "tag", "tags are not part of the language; write the value alone");
  }

  void open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (open_.size() >= kMaxDepth)
      stop(position_of(mark), "too-deep", fmt::format("nothing in a model is nested {} deep", kMaxDepth));
    open_.push_back(
        {.node = {.kind = kind, .text = {}, .quoted = false, .items = {}, .position = position_of(mark), .key = {}},
         .key = std::nullopt,
         .seen = {}});
  }
  void close() {
    YamlNode node = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(node));
  }

  void add(YamlNode node) {
    if (++nodes_ > kMaxNodes) stop(node.position, "too-long", fmt::format("a model has at most {} values", kMaxNodes));
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.is_map() && !parent.key) {
      if (!node.is_scalar())
        stop(node.position, "bad-word", fmt::format("a word is expected before the colon, not {}", node.kind_name()));
      parent.key = std::move(node.text);
      return;
    }
    if (parent.node.items.size() >= kMaxItems)
      stop(node.position, "too-long", fmt::format("a list or map has at most {} members", kMaxItems));
    if (parent.node.is_map()) {
      node.key = *std::exchange(parent.key, std::nullopt);
      if (node.kind == YamlNode::Kind::Nothing) node.position = node.key.position;  // nothing has no place of its own
      const auto [earlier, first] = parent.seen.emplace(node.key.text, node.key.position);
      if (!first) {
        report_.error(
            node.key.position, "repeated-word",
            fmt::format("{} is given a second time; the first is in line {}", node.key.text, earlier->second.line));
        return;
      }
    }
    parent.node.items.push_back(std::move(node));
  }

  const Lines lines_;
  Report& report_;
  std::optional<YamlNode> root_;
  std::vector<Open> open_;
  std::size_t nodes_ = 0;
  std::size_t documents_ = 0;
};

// Reads from memory that it does not own.
class ViewBuffer final : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // a get area is never written to
    setg(begin, begin, begin + text.size());
  }
};

// Where `text` first is not UTF-8 or has a character that no text file has; nullopt when all is well.
std::optional<Position> first_bad_byte(std::string_view text) {
  Position position{.line = 1, .column = 1};
  while (!text.empty()) {
    utf8proc_int32_t code = 0;
    const auto size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &code);
    if (size <= 0 || code == 0) return position;
    if (code == '\n') {
      position = {.line = position.line + 1, .column = 1};
    } else {
      position.column += static_cast<std::uint32_t>(size);
    }
    text.remove_prefix(static_cast<std::size_t>(size));
  }
  return std::nullopt;
}

// The first line that is indented with a tab.
std::optional<Position> first_tab(std::string_view text) {
  Position position{.line = 1, .column = 1};
  for (std::size_t begin = 0; begin < text.size(); ++position.line) {
    const auto tab = text.find_first_not_of(' ', begin);
    if (tab != text.npos && text[tab] == '\t') {
      position.column = static_cast<std::uint32_t>(tab - begin) + 1;
      return position;
    }
    const auto end = text.find('\n', begin);
    if (end == text.npos) break;
    begin = end + 1;
  }
  return std::nullopt;
}

}  // namespace

Position Text::at(std::size_t offset) const {
  if (lead < 0) return position;
  return {.line = position.line,
          .column = position.column + static_cast<std::uint32_t>(lead) + static_cast<std::uint32_t>(offset)};
}

std::string_view YamlNode::kind_name() const {
  switch (kind) {
    case Kind::Nothing: return "nothing";
    case Kind::Scalar: return "a text";
    case Kind::List: return "a list";
    case Kind::Map: return "a map";
  }
  return "something else";
}

std::optional<YamlNode> read_yaml(std::string_view text, Report& report) {
  if (text.size() > kMostModelBytes) {
    report.error(Position{}, "too-long",
                 fmt::format("a model has at most {} bytes; this has {}", kMostModelBytes, text.size()));
    return std::nullopt;
  }
  if (const auto bad = first_bad_byte(text)) {
    report.error(*bad, "bad-encoding", "a model is UTF-8 text; this byte is not");
    return std::nullopt;
  }
  ViewBuffer buffer(text);
  std::istream in(&buffer);
  TreeBuilder builder(text, report);
  try {
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) continue;
  } catch (const Stop&) {
    return std::nullopt;
  } catch (const YAML::Exception& error) {
    // The parser goes on to where it misses something, and reports that.
    if (const auto tab = first_tab(text)) {
      report.error(*tab, "bad-yaml", "this line is indented with a tab, and in YAML only spaces can indent",
                   "spaces instead of the tab");
      return std::nullopt;
    }
    report.error(position_of(error.mark), "bad-yaml", fmt::format("this is not YAML: {}", error.msg),
                 "texts that hold { } [ ] ? , or a colon and a space are written in quotes");
    return std::nullopt;
  }
  auto root = std::move(builder).take();
  if (!root) report.error({.line = 1, .column = 1}, "empty", "the file is empty; a model begins with `model: NAME`");
  return root;
}

}  // namespace stator::model
