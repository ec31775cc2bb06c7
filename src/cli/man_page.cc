#include "stator/cli/man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <span>
#include <vector>

#include "stator/base/trim.h"

namespace stator::cli {
namespace {

std::string upper(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return result;
}

// Text that roff takes as it is.  Hyphens become minus signs, which is what a reader copies into a terminal.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '\\': result += "\\e"; break;
      case '-': result += "\\-"; break;
      case '\'': result += "\\(aq"; break;
      case '^': result += "\\(ha"; break;
      case '~': result += "\\(ti"; break;
      case '`': result += "\\(ga"; break;
      default: result += c;
    }
  }
  if (result.starts_with('.')) result.insert(0, "\\&");
  return result;
}

// A paragraph's text: `in backticks` is bold.
std::string prose(std::string_view text) {
  std::string result;
  bool bold = false;
  for (;;) {
    const auto tick = text.find('`');
    result += escaped(text.substr(0, tick));
    if (tick == std::string_view::npos) break;
    bold = !bold;
    result += bold ? "\\fB" : "\\fR";
    text.remove_prefix(tick + 1);
  }
  if (bold) result += "\\fR";
  return result;
}

std::string page_title(const CommandTree& command) {
  auto title = command.path.empty() ? std::string("stator") : "stator-" + command.path;
  std::replace(title.begin(), title.end(), ' ', '-');
  return title;
}

// The blocks of a help text, which are separated by empty lines.
std::vector<std::vector<std::string_view>> blocks_of(std::string_view text) {
  std::vector<std::vector<std::string_view>> blocks(1);
  for (const auto line : lines_of(text)) {
    if (!line.empty()) {
      blocks.back().push_back(line);
    } else if (!blocks.back().empty()) {
      blocks.emplace_back();
    }
  }
  if (blocks.back().empty()) blocks.pop_back();
  return blocks;
}

bool is_indented(std::string_view line) { return line.starts_with("  "); }

class Page {
 public:
  void section(std::string_view name) {
    if (name == section_) return;
    section_ = name;
    text_ += fmt::format(".SH {}\n", escaped(name));
    fresh_ = true;
  }
  void raw(std::string_view line) {
    text_ += line;
    text_ += '\n';
    fresh_ = false;
  }
  void paragraph() {
    if (!fresh_) text_ += ".PP\n";
    fresh_ = false;
  }
  // Lines as they are.
  void literal(std::span<const std::string_view> lines, std::size_t indent) {
    raw(".PP\n.RS 4\n.nf");
    for (const auto line : lines) raw(escaped(line.substr(std::min(indent, line.size()))));
    raw(".fi\n.RE");
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_, section_;
  bool fresh_ = true;  // nothing stands in this section yet
};

// Flags are bold, and their placeholders slanted.
std::string option_head(std::string_view line) {
  std::string result;
  for (const auto& [flag, placeholder] : option_usages(line)) {
    if (!result.empty()) result += ", ";
    result += fmt::format("\\fB{}\\fR", escaped(flag));
    if (!placeholder.empty()) result += fmt::format(" \\fI{}\\fR", escaped(placeholder));
  }
  return result;
}

void add_options(Page& page, std::span<const std::string_view> lines) {
  for (const auto line : lines) {
    if (line.starts_with("  --")) {
      page.raw(".TP");
      page.raw(option_head(line));
    } else {
      page.raw(prose(trim(line)));
    }
  }
}

void add_entries(Page& page, std::span<const std::string_view> lines) {
  for (const auto line : lines) {
    const auto [word, text] = help_entry(line);
    page.raw(".TP");
    page.raw(fmt::format("\\fB{}\\fR", escaped(word)));
    if (!text.empty()) page.raw(prose(text));
  }
}

void add_usage(Page& page, std::span<const std::string_view> lines) {
  constexpr std::string_view kUsage = "Usage: ";
  page.section("SYNOPSIS");
  page.raw(".nf");
  for (const auto line : lines) page.raw(escaped(line.substr(std::min(kUsage.size(), line.size()))));
  page.raw(".fi");
}

// A paragraph, and the lines below it that are indented.
void add_text(Page& page, std::span<const std::string_view> lines) {
  const auto indented = std::find_if(lines.begin(), lines.end(), is_indented);
  const auto count = static_cast<std::size_t>(indented - lines.begin());
  if (count > 0) {
    page.paragraph();
    for (const auto line : lines.first(count)) page.raw(prose(line));
  }
  if (count < lines.size()) page.literal(lines.subspan(count), 2);
}

void add_block(Page& page, std::span<const std::string_view> lines) {
  const auto head = lines.front();
  const auto rest = lines.subspan(1);
  if (head == "Options:") {
    page.section("OPTIONS");
    add_options(page, rest);
  } else if (head == "Commands:" || head == "Systems:") {
    page.section(upper(head.substr(0, head.size() - 1)));
    add_entries(page, rest);
  } else if (head == "Example:" || head == "Examples:") {
    page.section("EXAMPLES");
    page.literal(rest, 2);
  } else if (head.starts_with("The exit status") || head.starts_with("Exit status")) {
    page.section("EXIT STATUS");
    add_text(page, lines);
  } else {
    add_text(page, lines);
  }
}

}  // namespace

std::string man_page_name(const CommandTree& command) { return page_title(command) + ".1"; }

std::string man_page(const CommandTree& program, const CommandTree& command, std::string_view version) {
  Page page;
  page.raw(fmt::format(".TH {} 1 \"\" \"Stator {}\" \"Stator\"", escaped(upper(page_title(command))), version));
  page.raw(".nh\n.ad l");  // no word is hyphenated: options could not be told from it
  page.section("NAME");
  page.raw(fmt::format("{} \\- {}", escaped(page_title(command)), prose(command.summary)));

  // The synopsis stands first in a manual page, and what the command is behind it.
  const auto blocks = blocks_of(command.help);
  const auto usage =
      std::find_if(blocks.begin(), blocks.end(), [](const auto& lines) { return lines.front().starts_with("Usage:"); });
  if (usage != blocks.end()) add_usage(page, *usage);
  page.section("DESCRIPTION");
  for (auto block = blocks.begin(); block != blocks.end(); ++block) {
    if (block != usage) add_block(page, *block);
  }

  std::string others;
  for (const auto* other : with_own_help(program)) {
    if (other == &command) continue;
    others += fmt::format("{}\\fB{}\\fR(1)", others.empty() ? "" : ", ", escaped(page_title(*other)));
  }
  page.section("SEE ALSO");
  page.raw(others);
  return page.take();
}

}  // namespace stator::cli
