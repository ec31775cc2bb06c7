#include "stator/model/check/load.h"

#include <filesystem>
#include <fstream>
#include <utility>

#include "stator/model/check/well_formed/well_formed.h"
#include "stator/model/resolve/resolve.h"
#include "stator/model/syntax/syntax.h"
#include "stator/model/syntax/yaml_tree.h"

namespace stator::model {

// Each stage goes on with what the one before could make of the file, so that all that is wrong is reported at once.
std::optional<Model> load_model(std::string_view yaml, Report& report) {
  const auto root = read_yaml(yaml, report);
  if (!root) return std::nullopt;
  auto syntax = parse(*root, report);
  auto model = resolve(syntax, report.file(), report);
  check_well_formed(syntax, model, report);
  return report.failed() ? std::nullopt : std::optional(std::move(model));
}

Loaded load_model(std::string_view yaml, std::string file, WordListener listener) {
  Report report(std::move(file), std::move(listener));
  auto model = load_model(yaml, report);
  return {.model = std::move(model), .diagnostics = std::move(report).take()};
}

std::optional<Model> load_model_file(Report& report) {
  const auto fail = [&](std::string why) {
    report.error(Position{}, "unreadable", std::move(why));
    return std::optional<Model>();
  };
  std::error_code error;
  if (std::filesystem::is_directory(report.file(), error)) return fail("this is a folder, not a model");
  std::ifstream in(report.file(), std::ios::binary);
  if (!in) return fail("the file cannot be read");
  std::string text(kMostModelBytes + 1, '\0');  // one more than a model may have, so that too long is seen
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return load_model(text, report);
}

Loaded load_model_file(const std::string& path) {
  Report report(path);
  auto model = load_model_file(report);
  return {.model = std::move(model), .diagnostics = std::move(report).take()};
}

}  // namespace stator::model
