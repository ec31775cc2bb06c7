#include "stator/cli/model_command.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <optional>
#include <string_view>

#include "stator/cli/command.h"
#include "stator/cli/database_option.h"
#include "stator/cli/model_check_command.h"
#include "stator/cli/model_data_commands.h"
#include "stator/model/check/check.h"
#include "stator/model/check/load.h"
#include "stator/model/generate/design_document.h"
#include "stator/model/generate/diagram.h"
#include "stator/model/generate/type_declarations.h"
#include "stator/model/import/import.h"
#include "stator/server/load_model.h"

namespace stator::cli {
namespace {

constexpr std::string_view kModelHelp =
    R"(Work with a model: a single-table design that can be checked and executed.  docs/model-language.md teaches the
language.

Usage: stator model COMMAND FILE [OPTIONS]

Commands:
  check      Prove that the design is sound, or show where it is not, and print what it costs
  docs       Print the design document: entities, keys, attributes, access patterns, actions (Markdown)
  diagram    Print a picture of entities, keys, indexes and patterns (SVG)
  types      Print types for clients of the REST service (TypeScript or C++)
  verify     Compare every row of a table with the model's rules, and repair the differences
  parked     Show the changes that could not be propagated, and propagate them
  migrate    Change a table from one model to another while it is being served
  import     Print a model made from a schema of OneTable or a data model of NoSQL Workbench

`stator model COMMAND --help` tells more about each.
)";
constexpr std::string_view kDocsHelp =
    R"(Print the design document of a model in Markdown: the table, keys per index, attributes, relations, access
patterns, actions, and who may do what.

Usage: stator model docs FILE >DESIGN.md
)";
constexpr std::string_view kDiagramHelp =
    R"(Print a picture of a model as SVG: a card per entity with its keys, children to the right of their parents, and
beside them a card per index with the patterns that read it.

Usage: stator model diagram FILE >model.svg
)";
constexpr std::string_view kTypesHelp =
    R"(Print the types of the requests and answers of a model's REST service.

Usage: stator model types FILE [--language typescript|cpp]

Options:
  --language typescript|cpp
      typescript is the default.
)";
constexpr std::string_view kImportHelp =
    R"(Print a model made from the design of another tool.  Parts that a model cannot express become comments in the
file and are listed on standard error.  Run `stator model check` on the result.

Usage: stator model import FILE [--from onetable|workbench] [--name NAME] [--table TABLE]

Options:
  --from onetable|workbench
      onetable: a schema of DynamoDB OneTable as JSON, node -e 'console.log(JSON.stringify(require("./schema.js").default))'
      workbench: a data model as NoSQL Workbench exports it.  If not given, the content of the file decides.
  --name NAME
      The name of the model and its table; a schema of OneTable has no name.
  --table TABLE
      The table of a data model that has several tables.
)";

constexpr std::size_t kLargestImport = std::size_t{16} << 20;

// Loads a model and hands it to `print`, or tells what is wrong with it.
int with_model(const CLI::App& action, const std::function<std::string(const model::Model&)>& print) {
  const auto file = option(action, "FILE");
  if (!file)
    return fail(kWrongArguments, fmt::format("model {0} needs a file; see stator model {0} --help", action.get_name()));
  const auto loaded = server::load_model(*file);
  for (const auto& d : loaded.diagnostics) {
    fmt::print(stderr, "{}:{}:{}: {}: {}\n", d.file, d.position.line, d.position.column,
               d.severity == model::Severity::Error ? "error" : "warning", d.message);
  }
  if (!loaded.model) return kFailed;
  fmt::print("{}", print(*loaded.model));
  return kDone;
}

int print_types(const CLI::App& action) {
  const auto language = option(action, "--language").value_or("typescript");
  if (language == "typescript") return with_model(action, model::generate::typescript_types);
  if (language == "cpp") return with_model(action, model::generate::cpp_types);
  return fail(kWrongArguments, fmt::format("no types in {}: --language takes typescript or cpp", language));
}

// Prints the errors of an imported model, one line each, and the number of its warnings.
void tell_what_is_wrong(const std::string& yaml) {
  model::Report report("the model");
  if (const auto model = model::load_model(yaml, report)) model::check(*model, report);
  std::size_t warnings = 0;
  for (const auto& each : std::move(report).take()) {
    if (each.severity == model::Severity::Warning) {
      ++warnings;
    } else {
      fmt::print(stderr, "stator: line {} is wrong: {}\n", each.position.line, each.message);
    }
  }
  if (warnings > 0) fmt::print(stderr, "stator: model check warns {} times of this model\n", warnings);
}

int print_import(const CLI::App& action) {
  const auto file = option(action, "FILE");
  if (!file) return fail(kWrongArguments, "model import needs a file; see stator model import --help");
  std::ifstream in(*file, std::ios::binary);
  if (!in) return fail(kFailed, fmt::format("cannot read {}", *file));
  std::string json(kLargestImport + 1, '\0');
  in.read(json.data(), static_cast<std::streamsize>(json.size()));
  json.resize(static_cast<std::size_t>(in.gcount()));
  if (json.size() > kLargestImport) return fail(kFailed, fmt::format("{} is larger than 16 MB", *file));

  const bool looks_like_workbench = json.find("\"DataModel\"") != std::string::npos;
  const auto from = option(action, "--from").value_or(looks_like_workbench ? "workbench" : "onetable");
  if (from != "onetable" && from != "workbench") {
    return fail(kWrongArguments, fmt::format("{} is unknown: --from takes onetable or workbench", from));
  }
  const auto imported = from == "workbench"
                            ? model::import::import_workbench(json, option(action, "--table").value_or(""))
                            : model::import::import_onetable(json, option(action, "--name").value_or("imported"));
  if (!imported) return fail(kFailed, imported.error().message);
  for (const auto& note : imported->notes) fmt::print(stderr, "stator: {}\n", note);
  fmt::print("{}", imported->yaml);
  tell_what_is_wrong(imported->yaml);
  return kDone;
}

}  // namespace

ModelCommand::ModelCommand(CLI::App& app) : app_(add_command(app, "model", std::string(kModelHelp))) {
  app_->require_subcommand(0, 1);
  const auto add = [&](const std::string& name, std::string_view help, const std::vector<std::string>& flags,
                       auto act) {
    auto* action = add_command(*app_, name, std::string(help));
    action->add_option("FILE")->expected(1);
    for (const auto& flag : flags) action->add_option(flag)->expected(1);
    actions_.push_back({action, std::move(act)});
  };
  auto* check = add_command(*app_, "check", std::string(kModelCheckHelp));
  add_model_check_options(*check);
  actions_.push_back({check, check_models});
  const auto add_data = [&](const std::string& name, std::string help, auto add_options, auto act) {
    auto* action = add_command(*app_, name, std::move(help));
    add_options(*action);
    actions_.push_back({action, act});
  };
  add_data("verify", model_verify_help(), add_model_verify_options, verify_model);
  add_data("parked", model_parked_help(), add_model_parked_options, show_parked);
  add_data("migrate", model_migrate_help(), add_model_migrate_options, migrate_model);
  add("docs", kDocsHelp, {},
      [](const CLI::App& action) { return with_model(action, model::generate::design_document); });
  add("diagram", kDiagramHelp, {}, [](const CLI::App& action) { return with_model(action, model::generate::diagram); });
  add("types", kTypesHelp, {"--language"}, print_types);
  add("import", kImportHelp, {"--from", "--name", "--table"}, print_import);
}

int ModelCommand::run() const {
  for (const auto& action : actions_) {
    if (!action.app->parsed()) continue;
    if (const auto wrong = objection_to_rest(*action.app); !wrong.empty()) return fail(kWrongArguments, wrong);
    return action.run(*action.app);
  }
  if (app_->remaining_size() == 0) return fmt::print(stderr, "{}", kModelHelp), kWrongArguments;
  return fail(kWrongArguments, no_such_command(*app_, app_->remaining().front()));
}

}  // namespace stator::cli
