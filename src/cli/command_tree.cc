#include "stator/cli/command_tree.h"

#include <algorithm>
#include <map>

#include "stator/base/trim.h"

namespace stator::cli {
namespace {

constexpr std::string_view kProgramSummary = "a database that speaks the DynamoDB API";

struct OptionHelp {
  std::string placeholder, text;
};

// Lines of options, and below each its text, indented further.
std::map<std::string, OptionHelp, std::less<>> options_in(std::string_view help) {
  std::map<std::string, OptionHelp, std::less<>> found;
  std::vector<OptionHelp*> current;
  for (const auto line : lines_of(help)) {
    if (line.starts_with("  --")) {
      current.clear();
      for (const auto& usage : option_usages(line)) {
        auto& option = found[std::string(usage.flag)];
        option.placeholder = usage.placeholder;
        current.push_back(&option);
      }
    } else if (line.starts_with("      ")) {
      for (auto* option : current) {
        if (!option->text.empty()) option->text += ' ';
        option->text += trim(line);
      }
    } else {
      current.clear();
    }
  }
  return found;
}

// The entries below "Commands:".
std::map<std::string, std::string, std::less<>> summaries_in(std::string_view help) {
  std::map<std::string, std::string, std::less<>> found;
  bool inside = false;
  for (const auto line : lines_of(help)) {
    if (line == "Commands:") {
      inside = true;
    } else if (!line.starts_with("  ")) {
      inside = false;
    } else if (inside) {
      const auto entry = help_entry(line);
      if (!entry.text.empty()) found[std::string(entry.word)] = entry.text;
    }
  }
  return found;
}

void collect(const CommandTree& tree, std::vector<const CommandTree*>& found) {
  found.push_back(&tree);
  for (const auto& command : tree.commands) {
    if (command.help != tree.help) collect(command, found);
  }
}

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

HelpEntry help_entry(std::string_view line) {
  const auto entry = trim(line);
  const auto space = std::min(entry.find(' '), entry.size());
  return {.word = entry.substr(0, space), .text = trim(entry.substr(space))};
}

std::vector<OptionUsage> option_usages(std::string_view line) {
  std::vector<OptionUsage> usages;
  while (!line.empty()) {
    const auto end = line.find(", --");
    const auto [flag, placeholder] = help_entry(line.substr(0, end));
    usages.push_back({.flag = flag, .placeholder = placeholder});
    line.remove_prefix(end == std::string_view::npos ? line.size() : end + 2);
  }
  return usages;
}

const CommandTree* CommandTree::find(std::string_view wanted) const {
  if (path == wanted) return this;
  for (const auto& command : commands) {
    if (const auto* found = command.find(wanted)) return found;
  }
  return nullptr;
}

void read_help(CommandTree& tree) {
  if (tree.path.empty()) tree.summary = kProgramSummary;
  const auto options = options_in(tree.help);
  for (auto& option : tree.options) {
    if (option.flag == "--help") option.help = "Print the help.";
    if (option.flag == "--version") option.help = "Print the version.";
    const auto found = options.find(option.flag);
    if (found == options.end()) continue;
    option.help = found->second.text;
    option.placeholder = found->second.placeholder;
  }
  const auto summaries = summaries_in(tree.help);
  for (auto& command : tree.commands) {
    const auto found = summaries.find(command.name);
    command.summary = found == summaries.end() ? tree.summary : found->second;
    read_help(command);
  }
}

std::vector<const CommandTree*> with_own_help(const CommandTree& tree) {
  std::vector<const CommandTree*> found;
  collect(tree, found);
  return found;
}

}  // namespace stator::cli
