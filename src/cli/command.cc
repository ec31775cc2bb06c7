#include "stator/cli/command.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "stator/base/suggest.h"

namespace stator::cli {

int fail(int status, std::string_view message) {
  fmt::print(stderr, "stator: {}\n", message);
  return status;
}

CLI::App* add_command(CLI::App& app, const std::string& name, std::string help) {
  auto* command = app.add_subcommand(name);
  command->allow_extras();  // so that our message, not the library's, says what is wrong with them
  command->formatter_fn([help = std::move(help)](const auto*, const auto&, auto) { return help; });
  return command;
}

std::string objection_to_rest(const CLI::App& command, std::span<const std::string_view> flags) {
  if (command.remaining_size() == 0) return {};
  const auto* parent = command.get_parent();
  const auto name = parent != nullptr && parent->get_parent() != nullptr
                        ? fmt::format("{} {}", parent->get_name(), command.get_name())
                        : command.get_name();
  const auto word = command.remaining().front();
  if (!word.starts_with("-")) return fmt::format("{} takes only options, not {}", name, word);
  const auto flag = word.substr(0, word.find('='));
  const auto suggestion = did_you_mean(flag, flags);
  return fmt::format("{} has no option {}{}", name, flag,
                     suggestion.empty() ? fmt::format("; see stator {} --help", name) : suggestion);
}

}  // namespace stator::cli
