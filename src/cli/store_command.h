#pragma once

#include <CLI/CLI.hpp>

namespace stator::cli {

// stator store init, stator store upgrade, stator store copy.
class StoreCommand {
 public:
  explicit StoreCommand(CLI::App& app);
  explicit operator bool() const { return app_->parsed(); }
  int run() const;

 private:
  int init() const;
  int upgrade() const;
  int copy() const;

  CLI::App* app_;
  CLI::App* init_;
  CLI::App* upgrade_;
  CLI::App* copy_;
};

}  // namespace stator::cli
