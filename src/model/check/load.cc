#include "stator/model/check/load.h"

#include <filesystem>
#include <fstream>
#include <utility>

#include "stator/model/check/well_formed/well_formed.h"
#include "stator/model/resolve/resolve.h"
#include "stator/model/syntax/syntax.h"

namespace stator::model {
namespace {

constexpr std::streamsize kReadAtMost = 1'048'577;  // one more than a model may have, so that too long is seen

Loaded failed(std::string file, std::string message) {
  Report report(std::move(file));
  report.error(Position{}, "unreadable", std::move(message));
  return {.model = std::nullopt, .diagnostics = std::move(report).take()};
}

}  // namespace

// Each stage goes on with what the one before could make of the file, so that all that is wrong is reported at once.
Loaded load_model(std::string_view yaml, std::string file, WordListener listener) {
  Report report(file, std::move(listener));
  Loaded loaded;
  if (const auto root = read_yaml(yaml, report)) {
    auto syntax = parse(*root, report);
    auto model = resolve(syntax, std::move(file), report);
    check_well_formed(syntax, model, report);
    if (!report.failed()) loaded.model = std::move(model);
  }
  loaded.diagnostics = std::move(report).take();
  return loaded;
}

Loaded load_model_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return failed(path, "this is a folder, not a model");
  std::ifstream in(path, std::ios::binary);
  if (!in) return failed(path, "the file cannot be read");
  std::string text(static_cast<std::size_t>(kReadAtMost), '\0');
  in.read(text.data(), kReadAtMost);
  text.resize(static_cast<std::size_t>(in.gcount()));
  return load_model(text, path);
}

}  // namespace stator::model
