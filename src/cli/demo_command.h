#pragma once

#include <CLI/CLI.hpp>

namespace stator::cli {

// stator demo: loads sample data.
class DemoCommand {
 public:
  explicit DemoCommand(CLI::App& app);

  explicit operator bool() const { return app_->parsed(); }
  int run() const;

 private:
  CLI::App* app_;
};

}  // namespace stator::cli
