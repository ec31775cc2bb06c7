#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace stator::cli {

// stator model ...: commands on a model file that do not serve it.
class ModelCommand {
 public:
  explicit ModelCommand(CLI::App& app);

  explicit operator bool() const { return app_->parsed(); }
  int run() const;

 private:
  struct Action {
    CLI::App* app;
    std::function<int(const CLI::App&)> run;
  };

  CLI::App* app_;
  std::vector<Action> actions_;
};

}  // namespace stator::cli
