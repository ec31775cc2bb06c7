#pragma once

#include <CLI/CLI.hpp>

namespace stator::cli {

// stator check: whether everything in a database is readable and fits together.
class CheckCommand {
 public:
  explicit CheckCommand(CLI::App& app);
  explicit operator bool() const { return app_->parsed(); }
  int run() const;

 private:
  CLI::App* app_;
};

}  // namespace stator::cli
