#include "stator/systems/catalog/demo.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <variant>

#include "stator/app/auth/jwt.h"
#include "stator/app/rest/answer.h"
#include "stator/app/rest/routes/page_token.h"
#include "stator/app/rest/system.h"
#include "stator/base/clock.h"
#include "stator/base/random.h"
#include "stator/client/call.h"
#include "stator/runtime/consistency/consistency_table.h"
#include "stator/runtime/dynamo/dynamo.h"
#include "stator/systems/catalog/catalog.h"
#include "stator/systems/catalog/texts.h"
#include "stator/value/json.h"

namespace stator::systems {
namespace {

constexpr std::chrono::minutes kDeletionTakes{2};
constexpr std::chrono::milliseconds kDeletionPoll{100};
constexpr std::chrono::minutes kOtherLoadTakes{10};
constexpr std::chrono::milliseconds kOtherLoadPoll{100};
constexpr std::chrono::seconds kLease{10};
constexpr std::chrono::seconds kRenewal{2};
constexpr std::string_view kTask = "demo";
constexpr const char* kTag = "stator:demo";
constexpr std::string_view kLoading = "loading";  // values of the table's tag
constexpr std::string_view kLoaded = "loaded";
constexpr std::string_view kMethods[] = {"post", "put", "patch", "delete"};

// The present, moved back.
class PastClock final : public Clock {
 public:
  explicit PastClock(const Clock& present) : present_(present) {}
  WallTime now() const override { return present_.now() - ago; }
  SteadyTime steady_now() const override { return present_.steady_now(); }
  void wait_for(CondVar& changed, Mutex& mutex, std::chrono::nanoseconds duration) const override REQUIRES(mutex) {
    present_.wait_for(changed, mutex, duration);
  }

  std::chrono::microseconds ago{0};

 private:
  const Clock& present_;
};

// "3d".  The samples come with the program, so any other text is a mistake in a sample.
Result<std::chrono::microseconds> read_ago(const std::string& text) {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const auto unit = std::string_view(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (error == std::errc()) {
    if (unit == "m") return std::chrono::minutes(count);
    if (unit == "h") return std::chrono::hours(count);
    if (unit == "d") return std::chrono::days(count);
  }
  return usage_error(fmt::format("`ago` is a time such as 5m, 5h or 5d, not {}", text));
}

// The right to load the sample data of a system: a lease in the consistency table, which a thread renews.
class LoadRight {
 public:
  // Waits until no other program has it.  Errors: Storage.
  static Result<std::unique_ptr<LoadRight>> take(const model::Model& model, const DemoParts& parts) {
    std::unique_ptr<LoadRight> right(new LoadRight(model, parts));
    if (const auto opened = right->table_.open(parts.stop); !opened) return as_error(opened.error());
    const auto patience = parts.clock.steady_now() + kOtherLoadTakes;
    for (;;) {
      const auto taken = right->table_.take_task(kTask, right->owner_, kLease);
      if (!taken) return as_error(taken.error());
      if (*taken) break;
      if (parts.clock.steady_now() > patience || !parts.clock.wait(kOtherLoadPoll, parts.stop)) {
        return Error{ErrorCode::Storage, fmt::format("another program is loading the sample data of {}", model.name)};
      }
    }
    right->renewer_ = std::jthread([&self = *right](const std::stop_token& stop) { self.renew_until_stopped(stop); });
    return right;
  }

  ~LoadRight() {
    if (!renewer_.joinable()) return;
    renewer_.request_stop();
    renewer_.join();
    ignore_error(table_.end_task(kTask, owner_), "it ends by itself");
  }
  LoadRight(const LoadRight&) = delete;
  LoadRight& operator=(const LoadRight&) = delete;

  // Errors: Storage, if another program may have it by now.
  Result<void> check() const {
    if (clock_.steady_now() < valid_until_.load()) return {};
    return Error{ErrorCode::Storage,
                 "the database did not answer for too long; another program may load the sample data"};
  }

 private:
  LoadRight(const model::Model& model, const DemoParts& parts)
      : clock_(parts.clock),
        random_(Random::from_system()),
        dynamo_(parts.client, random_, parts.clock),
        table_(dynamo_, parts.clock, model),
        owner_(random_.uuid()),
        valid_until_(parts.clock.steady_now() + kLease) {}

  static Error as_error(const runtime::Problem& problem) { return {ErrorCode::Storage, problem.message}; }

  void renew_until_stopped(const std::stop_token& stop) {
    while (clock_.wait(kRenewal, stop)) {
      const auto asked = clock_.steady_now();
      const auto renewed = table_.renew_task(kTask, owner_, kLease);
      if (renewed && *renewed) valid_until_ = asked + kLease;
    }
  }

  const Clock& clock_;
  Random random_;
  runtime::Dynamo dynamo_;
  runtime::ConsistencyTable table_;
  const std::string owner_;
  std::atomic<SteadyTime> valid_until_;
  std::jthread renewer_;
};

// Replays one sample against one system.
class Replay {
 public:
  // `right`: null if there is no other program.
  Replay(app::System& system, PastClock& clock, const LoadRight* right)
      : system_(system), clock_(clock), right_(right) {}

  Result<void> run(const YAML::Node& sample, const DemoProgress& progress) {
    for (const auto& user : sample["users"]) {
      app::TokenUser identity;
      identity.caller.subject = user.second["subject"].as<std::string>();
      for (const auto& role : user.second["roles"]) identity.caller.roles.push_back(role.as<std::string>());
      if (const auto name = user.second["name"]) identity.name = name.as<std::string>();
      if (const auto email = user.second["email"]) identity.email = email.as<std::string>();
      users_.emplace(user.first.as<std::string>(), std::move(identity));
    }
    const auto steps = sample["steps"];
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (right_ != nullptr) TRY(right_->check());
      TRY(send(steps[i]));
      if (progress) progress(i + 1, steps.size());
    }
    return {};
  }

 private:
  Result<void> send(const YAML::Node& step) {
    const auto method =
        std::ranges::find_if(kMethods, [&](std::string_view one) { return step[std::string(one)].IsDefined(); });
    if (method == std::end(kMethods)) return usage_error("a step of a sample has no method");
    const auto path = TRY(filled(step[std::string(*method)].as<std::string>()));
    std::string body;
    if (const auto value = step["body"]) {
      value::JsonWriter json(body);
      TRY(write(value, json));
    }
    const auto length = body.size();
    body.append(http::kBodyPadding, '\0');
    clock_.ago = step["ago"] ? TRY(read_ago(step["ago"].as<std::string>())) : std::chrono::microseconds(0);
    const auto answer = TRY(ask(*method, path, std::string_view(body).substr(0, length), step["as"].as<std::string>()));
    if (answer.status >= 300) {
      return usage_error(
          fmt::format("the sample's {} {} was answered {}: {}", *method, path, answer.status, answer.body));
    }
    if (const auto keep = step["keep"]) kept_.insert_or_assign(keep.as<std::string>(), YAML::Load(answer.body));
    return {};
  }

  Result<http::Response> ask(std::string_view method, std::string_view target, std::string_view body,
                             const std::string& user) const {
    std::string upper(method);
    std::ranges::transform(upper, upper.begin(), [](char c) { return static_cast<char>(c - 32); });
    const auto question = std::min(target.find('?'), target.size());
    const http::Header headers[] = {{"Content-Type", "application/json"}};
    const http::Request request{.method = upper,
                                .target = target,
                                .path = target.substr(0, question),
                                .query = target.substr(std::min(question + 1, target.size())),
                                .headers = headers,
                                .body = body};
    const auto query = TRY(app::QueryParameters::parse(request.query));
    const auto found = system_.router().find(request.method, request.path, query);
    if (!found) return usage_error(fmt::format("the sample asks for {} {}: {}", upper, target, found.error().message));
    const auto identity = users_.find(user);
    auto outcome = system_.run(*found, {.request = request,
                                        .path = request.path,
                                        .query = query,
                                        .body = body,
                                        .user = identity == users_.end() ? nullptr : &identity->second});
    return outcome ? std::move(*outcome) : app::problem_answer(outcome.error());
  }

  // The text with each {name.Attribute} replaced by the value from the answer kept as `name`.
  Result<std::string> filled(const std::string& text) const {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const auto open = text.find('{', at);
      const auto close = open == std::string::npos ? open : text.find('}', open);
      const auto dot = open == std::string::npos ? open : text.find('.', open);
      if (close == std::string::npos || dot == std::string::npos || dot > close) return out + text.substr(at);
      const auto name = text.substr(open + 1, dot - open - 1);
      const auto attribute = text.substr(dot + 1, close - dot - 1);
      const auto answer = kept_.find(name);
      if (answer == kept_.end() || !answer->second[attribute]) {
        return usage_error(fmt::format("the sample uses {}.{}, which no answer has", name, attribute));
      }
      out += text.substr(at, open - at) + answer->second[attribute].as<std::string>();
      at = close + 1;
    }
    return out;
  }

  // YAML as JSON.  A scalar without quotes that looks like a number, true, false or null is one.
  Result<void> write(const YAML::Node& node, value::JsonWriter& json) const {
    if (node.IsSequence()) {
      json.begin_array();
      for (const auto& member : node) TRY(write(member, json));
      json.end_array();
      return {};
    }
    if (node.IsMap()) {
      json.begin_object();
      for (const auto& member : node) {
        json.key(member.first.as<std::string>());
        TRY(write(member.second, json));
      }
      json.end_object();
      return {};
    }
    const auto text = node.IsNull() ? std::string("null") : node.as<std::string>();
    const bool quoted = node.Tag() == "!";
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    if (!quoted && (is_number || text == "true" || text == "false" || text == "null")) {
      json.raw(text);
    } else {
      json.string(TRY(filled(text)));
    }
    return {};
  }

  app::System& system_;
  PastClock& clock_;
  const LoadRight* right_;
  std::map<std::string, app::TokenUser> users_;
  std::map<std::string, YAML::Node> kept_;  // answers
};

// Errors: Storage.
template <typename Request>
Result<typename Request::Answer> ask_table(client::Client& client, Request request) {
  const auto operation = api::operation_name(request);
  auto answer = client::ask(client, std::move(request));
  if (answer) return std::move(*answer);
  return Error{ErrorCode::Storage, fmt::format("{}: {}: {}", operation, answer.error().name(), answer.error().message)};
}

// Nothing when there is no such table.
Result<std::optional<std::string>> table_arn(const model::Model& model, const DemoParts& parts) {
  auto random = Random::from_system();
  runtime::Dynamo dynamo(parts.client, random, parts.clock);
  const auto state = dynamo.describe_table(model.table.name);
  if (!state) return Error{ErrorCode::Storage, state.error().message};
  return *state ? std::optional((*state)->arn) : std::nullopt;
}

Result<void> mark(const model::Model& model, const DemoParts& parts, std::string_view value) {
  const auto arn = TRY(table_arn(model, parts));
  if (!arn) return Error{ErrorCode::Storage, fmt::format("the table {} is gone", model.table.name)};
  TRY(ask_table(parts.client,
                api::TagResourceRequest{.arn = *arn, .tags = {{{.key = kTag, .value = std::string(value)}}}}));
  return {};
}

Result<void> remove_table(const model::Model& model, const DemoParts& parts) {
  TRY(ask_table(parts.client, api::DeleteTableRequest{.table = model.table.name}));
  const auto patience = parts.clock.steady_now() + kDeletionTakes;
  while (TRY(table_arn(model, parts))) {
    if (parts.clock.steady_now() > patience) {
      return Error{ErrorCode::Storage, fmt::format("the table {} does not go away; try again later", model.table.name)};
    }
    if (!parts.clock.wait(kDeletionPoll, parts.stop)) {
      return Error{ErrorCode::Storage, fmt::format("stopped while table {} was being deleted", model.table.name)};
    }
  }
  return {};
}

}  // namespace

Result<DemoState> demo_state(const model::Model& model, const DemoParts& parts) {
  const auto arn = TRY(table_arn(model, parts));
  if (!arn) return DemoState::New;
  const auto tags = TRY(ask_table(parts.client, api::ListTagsOfResourceRequest{.arn = *arn})).tags;
  const auto tag = std::ranges::find(tags, kTag, &api::Tag::key);
  if (tag != tags.end() && tag->value == kLoading) return DemoState::CutOff;
  if (tag != tags.end() && tag->value == kLoaded) return DemoState::Loaded;
  const auto first = TRY(ask_table(parts.client, api::ScanRequest{.page = {.table = model.table.name, .limit = 1}}));
  return first.count == 0 ? DemoState::New : DemoState::Used;
}

Result<DemoOutcome> load_demo(const std::shared_ptr<const model::Model>& model, const DemoParts& parts,
                              const DemoProgress& progress) {
  const auto text = std::ranges::find(kSystemTexts, model->name, &SystemText::name);
  if (text == kSystemTexts.end()) return usage_error(fmt::format("there is no system called {}", model->name));
  auto state = TRY(demo_state(*model, parts));
  std::unique_ptr<LoadRight> right;
  if (parts.is_shared && (state == DemoState::New || state == DemoState::CutOff)) {
    right = TRY(LoadRight::take(*model, parts));
    state = TRY(demo_state(*model, parts));
    if (state == DemoState::Loaded) return DemoOutcome::LoadedByAnother;
  }
  if (state == DemoState::Used || state == DemoState::Loaded) return DemoOutcome::LeftAlone;
  if (state == DemoState::CutOff) TRY(remove_table(*model, parts));
  PastClock clock(parts.clock);
  auto random = Random::from_system();
  const app::PageTokens page_tokens(random.uuid());
  const auto served = TRY(app::System::open(
      model, {.client = parts.client, .clock = clock, .random = random, .page_tokens = page_tokens, .stop = parts.stop},
      extension_of(*model, *model)));
  TRY(mark(*model, parts, kLoading));
  try {
    TRY(Replay(*served, clock, right.get()).run(YAML::Load(std::string(text->sample)), progress));
    TRY(mark(*model, parts, kLoaded));
    return DemoOutcome::Loaded;
  } catch (const YAML::Exception& exception) {
    return usage_error(fmt::format("the sample of {} is not right: {}", model->name, exception.what()));
  }
}

}  // namespace stator::systems
