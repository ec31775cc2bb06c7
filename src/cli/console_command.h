#pragma once

#include <CLI/CLI.hpp>

namespace stator::cli {

// stator console --endpoint URL
class ConsoleCommand {
 public:
  explicit ConsoleCommand(CLI::App& app);
  explicit operator bool() const { return app_->parsed(); }
  int run() const;

 private:
  CLI::App* app_;
};

}  // namespace stator::cli
