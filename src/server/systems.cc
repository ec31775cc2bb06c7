#include "stator/server/systems.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "stator/app/auth/jwks_source.h"
#include "stator/base/log.h"
#include "stator/model/check/check_shared.h"
#include "stator/server/load_model.h"
#include "stator/server/secrets/secret_file.h"
#include "stator/systems/catalog/catalog.h"
#include "stator/systems/catalog/demo.h"

namespace stator::server {
namespace {

Result<std::unique_ptr<app::TokenVerifier>> make_verifier(const Config& config, const std::string& secret,
                                                          const Clock& clock) {
  app::TokenKeys keys{.secret = secret, .jwks = nullptr};
  if (!config.jwks.empty()) keys.jwks = TRY(app::jwks_reader(config.jwks));
  app::TokenRules rules{.issuer = config.jwt_issuer,
                        .audience = config.jwt_audience,
                        .roles_claim = config.jwt_roles_claim,
                        .clock_skew = std::chrono::seconds(config.jwt_clock_skew_seconds)};
  auto verifier = std::make_unique<app::TokenVerifier>(std::move(keys), std::move(rules), clock);
  if (const auto read = verifier->load(); !read) return usage_error(read.error().message);
  return verifier;
}

// Loads the sample data of systems that are new to the database.  Sample data that was loaded once and deleted stays
// deleted.
Result<void> load_demos(const systems::DemoParts& parts) {
  for (const auto& name : systems::names()) {
    const auto model = TRY(load_model_to_serve(name));
    const auto state = TRY(systems::demo_state(*model, parts));
    if (state != systems::DemoState::New && state != systems::DemoState::CutOff) continue;
    const auto outcome = TRY(systems::load_demo(model, parts));
    if (outcome == systems::DemoOutcome::Loaded) log::info("demo_loaded", {{"system", name}});
  }
  return {};
}

using ModelPtr = std::shared_ptr<const model::Model>;

// A model with what it was called in the settings.
struct NamedModel {
  ModelPtr model;
  std::string name_or_file;
};

// The models to serve: those of the settings, and the systems of the demo, unless a model has the same name.
Result<std::vector<NamedModel>> load_models(const Config& config) {
  std::vector<NamedModel> models;
  const auto is_there = [&](const std::string& name) {
    return std::any_of(models.begin(), models.end(), [&](const NamedModel& each) { return each.model->name == name; });
  };
  for (const auto& file : config.models) {
    auto model = TRY(load_model_to_serve(file));
    if (is_there(model->name)) return usage_error(fmt::format("two models are called {}", model->name));
    models.push_back({.model = std::move(model), .name_or_file = file});
  }
  for (const auto& name : config.demo ? systems::names() : std::vector<std::string>()) {
    if (is_there(name)) continue;
    auto model = TRY(load_model_to_serve(name));
    models.push_back({.model = std::move(model), .name_or_file = name});
  }
  return models;
}

// The C++ that comes with Stator for a model of that name; null: there is none.
Result<app::Extension> extension_of(const model::Model& model) {
  if (!systems::is_built_in(model.name)) return app::Extension();
  return systems::extension_of(model, *TRY(load_model_to_serve(model.name)));
}

// Checks that models with the same table can share it.
Result<void> check_together(const model::Model& first, const model::Model& second) {
  const auto findings = model::check_shared(first, second);
  if (findings.empty()) return {};
  return usage_error(
      fmt::format("{} and {} cannot share a table: {}", first.name, second.name, findings.front().message));
}

}  // namespace

Result<TokenSecrets> token_secrets(const Config& config, PrivateFiles& files) {
  auto secret = config.jwt_secret.empty() ? TRY(load_or_make_secret(files)) : config.jwt_secret;
  const bool hs256 = !config.jwt_secret.empty() || config.jwks.empty();
  return TokenSecrets{.signing = hs256 ? secret : std::string(), .page_tokens = secret};
}

Systems::Systems(const TokenSecrets& secrets, std::unique_ptr<app::TokenVerifier> tokens, client::Client& client,
                 const Clock& clock, client::CallWatcher* watcher)
    : client_(client, clock, watcher),
      random_(Random::from_system()),
      page_tokens_(secrets.page_tokens),
      tokens_(std::move(tokens)) {}

Result<std::unique_ptr<Systems>> Systems::open(const Config& config, client::Client& client, const Clock& clock,
                                               Listener listener, const std::stop_token& stop) {
  const bool is_shared = !config.endpoint.empty() || !config.store.empty();
  if (config.demo) TRY(load_demos({.client = client, .clock = clock, .stop = stop, .is_shared = is_shared}));
  const auto in_folder = files_in_folder(config.data);
  const auto secrets = TRY(token_secrets(config, listener.files != nullptr ? *listener.files : *in_folder));
  std::unique_ptr<Systems> systems(
      new Systems(secrets, TRY(make_verifier(config, secrets.signing, clock)), client, clock, listener.watcher));
  const std::stop_callback stop_opening(stop, [&] { systems->stop_.request_stop(); });
  std::vector<app::System*> served;
  auto models = TRY(load_models(config));
  for (auto& [model, name_or_file] : models) {
    for (const auto* other : served) TRY(check_together(other->model(), *model));
    const auto extension = TRY(extension_of(*model));
    systems->sources_.push_back(
        {.text = TRY(model_source(name_or_file)), .built_in = systems::is_built_in(name_or_file)});
    systems->systems_.push_back(TRY(app::System::open(std::move(model),
                                                      {.client = systems->client_,
                                                       .clock = clock,
                                                       .random = systems->random_,
                                                       .page_tokens = systems->page_tokens_,
                                                       .stop = systems->stop_.get_token()},
                                                      extension)));
    served.push_back(systems->systems_.back().get());
    TRY(systems->manage(config, *served.back(), client, clock, listener.traffic));
  }
  const bool answers_at_once = config.in_memory && config.endpoint.empty() && config.jwks.empty();
  systems->service_ = std::make_unique<app::RestService>(
      std::move(served), *systems->tokens_, clock,
      app::RestServiceOptions{
          .cors_origins = config.cors_origins,
          .max_body_bytes = config.max_body_bytes,
          .max_rest_body_bytes = config.max_rest_body_bytes,
          .workers = config.app_workers,
          .at_once = answers_at_once,
          .access_log = config.access_log,
          .public_info = listener.local || config.public_info,
          .memory = listener.memory,
          .traffic = listener.traffic,
          .more_metrics = [self = systems.get()](std::string& out) { self->print_consistency(out); },
          .health = std::move(listener.health)});
  return systems;
}

Systems::~Systems() { stop_.request_stop(); }

Result<void> Systems::manage(const Config& config, const app::System& system, client::Client& client,
                             const Clock& clock, const Traffic* traffic) {
  if (!runtime::ConsistencyManager::needed(system.model())) return {};
  runtime::ConsistencyOptions options;
  // A data folder is open in one process at a time: after a crash no other process holds the leases of this one, and
  // all requests come through this one.  Other servers may use an endpoint or a store at the same time.
  if (config.endpoint.empty() && config.store.empty()) {
    options.owner = "embedded";
    options.traffic = traffic;
  }
  auto manager = std::make_unique<runtime::ConsistencyManager>(system.shared_model(), client, clock, random_, options);
  if (const auto started = manager->start(stop_.get_token()); !started) {
    return usage_error(fmt::format("{}: {}", system.model().name, started.error().message));
  }
  managers_.emplace_back(system.model().name, std::move(manager));
  return {};
}

std::vector<console::ServedModel> Systems::served() const {
  std::vector<console::ServedModel> served;
  for (std::size_t i = 0; i < systems_.size(); ++i) {
    const auto& name = systems_[i]->model().name;
    const auto managed = std::ranges::find_if(managers_, [&](const auto& each) { return each.first == name; });
    served.push_back({.system = systems_[i].get(),
                      .manager = managed != managers_.end() ? managed->second.get() : nullptr,
                      .source = sources_[i].text,
                      .built_in = sources_[i].built_in});
  }
  return served;
}

void Systems::print_consistency(std::string& out) const {
  const auto print = [&](std::string_view name, std::string_view type, std::string_view help, auto&& value_of) {
    fmt::format_to(std::back_inserter(out), "# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
    for (const auto& [system, manager] : managers_) {
      fmt::format_to(std::back_inserter(out), "{}{{system=\"{}\"}} {}\n", name, system, value_of(manager->status()));
    }
  };
  using Status = runtime::ConsistencyStatus;
  if (managers_.empty()) return;
  print("stator_consistency_lag_seconds", "gauge",
        "Age of the oldest change that has not been propagated to dependent rows.",
        [](const Status& status) { return std::chrono::duration<double>(status.lag).count(); });
  print("stator_consistency_held", "gauge", "1 while changes wait because a migration to another model moves rows.",
        [](const Status& status) { return status.held ? 1 : 0; });
  print("stator_consistency_propagated_total", "counter", "Changes that were propagated to dependent rows.",
        [](const Status& status) { return status.propagated; });
  print("stator_consistency_parked_total", "counter", "Changes that could not be propagated and were parked.",
        [](const Status& status) { return status.parked; });
}

}  // namespace stator::server
