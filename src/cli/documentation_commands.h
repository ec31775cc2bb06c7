#pragma once

#include <string_view>

#include "stator/cli/command_tree.h"

namespace CLI {
class App;
}  // namespace CLI

namespace stator::cli {

// Every command of the program as data.
CommandTree describe(const CLI::App& program);

// stator man: the help as manual pages.
class ManCommand {
 public:
  explicit ManCommand(CLI::App& app);

  explicit operator bool() const;
  int run() const;

 private:
  const CLI::App& program_;
  CLI::App* app_;
};

// stator completion: scripts that let a shell complete commands.
class CompletionCommand {
 public:
  explicit CompletionCommand(CLI::App& app);

  explicit operator bool() const;
  int run() const;

 private:
  const CLI::App& program_;
  CLI::App* app_;
};

}  // namespace stator::cli
