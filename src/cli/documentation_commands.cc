#include "stator/cli/documentation_commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "stator/base/suggest.h"
#include "stator/cli/command.h"
#include "stator/cli/completion.h"
#include "stator/cli/man_page.h"
#include "stator/server/version.h"
#include "stator/systems/catalog/catalog.h"

namespace stator::cli {
namespace {

constexpr std::string_view kManHelp =
    R"(Print the manual page of a command, or of the program; or write all of them into a folder.

Usage: stator man [COMMAND...]
       stator man --folder FOLDER

Options:
  --folder FOLDER
      Write every page into this folder, which must exist: stator.1, stator-serve.1 and so on.

Examples:
  stator man | man -l -
  stator man model check | man -l -
  sudo stator man --folder /usr/local/share/man/man1
)";
constexpr std::string_view kCompletionHelp =
    R"(Print a script that makes a shell complete commands, options and their values.

Usage: stator completion bash|zsh|fish

Examples:
  source <(stator completion bash)                                        # in ~/.bashrc
  stator completion zsh >"${fpath[1]}/_stator"                            # then start a new shell
  stator completion fish >~/.config/fish/completions/stator.fish
)";

constexpr int kDeepest = 8;  // words of a command's name

CommandTree describe_command(const CLI::App& app) {
  CommandTree tree;
  tree.name = app.get_name();
  tree.path = path_of(app);
  // Not app.help(), which is that of the command being run.
  tree.help = app.get_formatter()->make_help(&app, "", CLI::AppFormatMode::Normal);
  for (const auto* option : app.get_options()) {
    if (option->get_positional()) {
      tree.operands.push_back(option->get_name());
      continue;
    }
    for (const auto& name : option->get_lnames()) {
      tree.options.push_back(
          {.flag = "--" + name, .placeholder = {}, .help = {}, .takes_value = option->get_items_expected_max() > 0});
    }
  }
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    tree.commands.push_back(describe_command(*command));
  }
  return tree;
}

// The program makes files that only their owner can read; manual pages are for everybody.
bool write_for_all(const std::filesystem::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out.flush()) return false;
  using std::filesystem::perms;
  std::error_code failed;
  std::filesystem::permissions(path, perms::owner_read | perms::owner_write | perms::group_read | perms::others_read,
                               failed);
  return !failed;
}

}  // namespace

CommandTree describe(const CLI::App& program) {
  auto tree = describe_command(program);
  read_help(tree);
  for (auto& command : tree.commands) {
    if (command.name == "app" || command.name == "demo") command.words = systems::names();
    if (command.name == "demo") command.words.emplace_back("all");
    if (command.name == "completion") command.words = {"bash", "zsh", "fish"};
    if (command.name == "man") {
      for (const auto& other : tree.commands) command.words.push_back(other.name);
    }
  }
  return tree;
}

ManCommand::ManCommand(CLI::App& app) : program_(app), app_(add_command(app, "man", std::string(kManHelp))) {
  app_->add_option("COMMAND")->expected(1, kDeepest)->allow_extra_args();
  app_->add_option("--folder")->expected(1)->allow_extra_args(false);
}

ManCommand::operator bool() const { return app_->parsed(); }

int ManCommand::run() const {
  if (const auto wrong = objection_to_rest(*app_); !wrong.empty()) return fail(kWrongArguments, wrong);
  const auto program = describe(program_);
  const auto pages = with_own_help(program);
  const auto words = app_->get_option("COMMAND")->results();
  if (const auto folder = option(*app_, "--folder")) {
    if (!words.empty()) return fail(kWrongArguments, "man --folder writes every page, so it takes no command");
    for (const auto* command : pages) {
      const auto path = std::filesystem::path(*folder) / man_page_name(*command);
      if (!write_for_all(path, man_page(program, *command, server::version()))) {
        return fail(kFailed, fmt::format("cannot write {}", path.string()));
      }
    }
    return kDone;
  }
  const auto wanted = fmt::format("{}", fmt::join(words, " "));
  for (const auto* command : pages) {
    if (command->path == wanted) return fmt::print("{}", man_page(program, *command, server::version())), kDone;
  }
  std::vector<std::string_view> known;
  for (const auto* command : pages) {
    if (!command->path.empty()) known.push_back(command->path);
  }
  const auto suggestion = did_you_mean(wanted, known);
  return fail(kWrongArguments, fmt::format("there is no manual page of {}{}", wanted,
                                           suggestion.empty() ? "; see stator --help" : suggestion));
}

CompletionCommand::CompletionCommand(CLI::App& app)
    : program_(app), app_(add_command(app, "completion", std::string(kCompletionHelp))) {
  app_->add_option("SHELL")->expected(1);
}

CompletionCommand::operator bool() const { return app_->parsed(); }

int CompletionCommand::run() const {
  if (const auto wrong = objection_to_rest(*app_); !wrong.empty()) return fail(kWrongArguments, wrong);
  const auto shell = option(*app_, "SHELL");
  if (!shell) return fail(kWrongArguments, "completion needs a shell: bash, zsh or fish");
  const auto script = completion(*shell, describe(program_));
  if (!script) return fail(kWrongArguments, script.error().message);
  fmt::print("{}", *script);
  return kDone;
}

}  // namespace stator::cli
