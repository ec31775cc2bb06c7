#pragma once

#include <CLI/CLI.hpp>

namespace stator::cli {

// stator store init.
class StoreCommand {
 public:
  explicit StoreCommand(CLI::App& app);
  explicit operator bool() const { return app_->parsed(); }
  int run() const;

 private:
  CLI::App* app_;
  CLI::App* init_;
};

}  // namespace stator::cli
