#pragma once

#include <CLI/CLI.hpp>

namespace stator::cli {

// stator repair.
class RepairCommand {
 public:
  explicit RepairCommand(CLI::App& app);
  explicit operator bool() const { return app_->parsed(); }
  int run() const;

 private:
  CLI::App* app_;
};

}  // namespace stator::cli
