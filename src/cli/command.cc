#include "stator/cli/command.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <utility>
#include <vector>

#include "stator/base/suggest.h"

namespace stator::cli {

int fail(int status, std::string_view message) {
  fmt::print(stderr, "stator: {}\n", message);
  return status;
}

CLI::App* add_command(CLI::App& app, const std::string& name, std::string help) {
  return add_command(app, name, [help = std::move(help)] { return help; });
}

CLI::App* add_command(CLI::App& app, const std::string& name, std::function<std::string()> help) {
  auto* command = app.add_subcommand(name);
  command->allow_extras();  // so that our message, not the library's, says what is wrong with them
  command->formatter_fn([help = std::move(help)](const auto*, const auto&, auto) { return help(); });
  return command;
}

std::string path_of(const CLI::App& command) {
  const auto* parent = command.get_parent();
  if (parent == nullptr) return {};
  const auto above = path_of(*parent);
  return above.empty() ? command.get_name() : fmt::format("{} {}", above, command.get_name());
}

std::optional<std::string> option(const CLI::App& command, const std::string& name) {
  if (command.count(name) == 0) return std::nullopt;
  return command[name]->as<std::string>();
}

std::optional<std::size_t> positive_number(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0) return std::nullopt;
  return number;
}

std::string objection_to_rest(const CLI::App& command) {
  if (command.remaining_size() == 0) return {};
  const auto name = path_of(command);
  const auto word = command.remaining().front();
  if (!word.starts_with("-")) return fmt::format("{} takes only options, not {}", name, word);
  const auto flag = word.substr(0, word.find('='));
  std::vector<std::string> flags;
  for (const auto* known : command.get_options()) {
    if (known != command.get_help_ptr() && !known->get_positional()) flags.push_back(known->get_name());
  }
  const auto suggestion = did_you_mean(flag, std::vector<std::string_view>(flags.begin(), flags.end()));
  return fmt::format("{} has no option {}{}", name, flag,
                     suggestion.empty() ? fmt::format("; see stator {} --help", name) : suggestion);
}

std::string no_such_command(const CLI::App& command, const std::string& word) {
  std::vector<std::string> names;
  for (const auto* known : command.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(known->get_name());
  }
  const auto path = path_of(command);
  if (path.empty()) names.emplace_back("help");
  const auto suggestion = did_you_mean(word, std::vector<std::string_view>(names.begin(), names.end()));
  if (path.empty()) {
    return fmt::format("no command is called {}{}", word, suggestion.empty() ? "; see stator --help" : suggestion);
  }
  return fmt::format("{} has no command {}{}", path, word,
                     suggestion.empty() ? fmt::format("; see stator {} --help", path) : suggestion);
}

}  // namespace stator::cli
