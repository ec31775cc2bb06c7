#pragma once

#include <CLI/CLI.hpp>

namespace stator::cli {

// stator token: makes a token for development.
class TokenCommand {
 public:
  explicit TokenCommand(CLI::App& app);

  explicit operator bool() const { return app_->parsed(); }
  int run() const;

 private:
  CLI::App* app_;
};

}  // namespace stator::cli
