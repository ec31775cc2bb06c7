#include "stator/console/models.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "stator/console/answers.h"
#include "stator/console/identify.h"
#include "stator/console/model_view.h"
#include "stator/model/check/check.h"
#include "stator/model/check/load.h"
#include "stator/runtime/migration/migration.h"
#include "stator/value/json.h"

namespace stator::console {
namespace {

constexpr std::size_t kMostSmallBody = 64 << 10;
constexpr std::size_t kRunOverhead = 64 << 10;  // of what is around the body of the request that is run

constexpr std::uint64_t kCheckSteps = 40'000'000;  // about a second; a tenth of what the command may take

model::CheckLimits limits(const std::stop_source& stop) { return {.steps = kCheckSteps, .stop = stop.get_token()}; }

std::int64_t count_of(const model::Diagnostics& findings, auto&& counts) {
  return std::ranges::count_if(findings, counts);
}

void write_texts(value::JsonWriter& json, std::string_view name, const std::vector<std::string>& texts) {
  json.key(name).begin_array();
  for (const auto& text : texts) json.string(text);
  json.end_array();
}

std::string report_of(const runtime::MigrationPlan& plan) {
  std::string report;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) report += fmt::format("{}. {}\n", i + 1, plan.steps[i].text);
  for (const auto& remark : plan.remarks) report += fmt::format("note: {}\n", remark);
  for (const auto& obstacle : plan.obstacles) report += fmt::format("not possible: {}\n", obstacle);
  return report.empty() ? "nothing to do: both models need the same rows\n" : report;
}

}  // namespace

Models::Models(std::vector<ServedModel> served, client::Client& client, const Clock& clock, ModelRunOptions run)
    : served_(std::move(served)),
      clock_(clock),
      run_(std::move(run)),
      random_(Random::from_system()),
      consistency_(client, clock, random_) {}

std::size_t Models::body_bytes(std::string_view path) {
  if (path.ends_with("/check") || path.ends_with("/plan")) return kMostYamlBytes;
  if (path.ends_with("/identify")) return kMostItemBytes;
  if (path.ends_with("/run")) return 2 * kMostYamlBytes + kRunOverhead;
  return kMostSmallBody;
}

const ServedModel* Models::find(std::string_view name) const {
  const auto found =
      std::ranges::find_if(served_, [&](const ServedModel& served) { return served.model().name == name; });
  return found == served_.end() ? nullptr : &*found;
}

http::Response Models::handle(const http::Request& request, const Rights& rights) {
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (!reads && request.method != "POST") return wrong_method();
  if (request.body.size() > body_bytes(request.path)) {
    return refusal(413, "ValidationException", fmt::format("The body has at most {} bytes.", body_bytes(request.path)));
  }
  auto rest = request.path.substr(kPath.size());
  if (rest.empty()) return reads ? list() : wrong_method();
  rest.remove_prefix(1);
  const auto name = rest.substr(0, rest.find('/'));
  const auto what = name.size() < rest.size() ? rest.substr(name.size() + 1) : std::string_view();
  if (name == "check" && what.empty()) {
    return reads ? wrong_method() : in_turn([&] { return check(request.body); });
  }
  const auto* served = find(name);
  if (served == nullptr) return not_there("No model of that name is served here.");
  if (!reads) return post(*served, what, request.body, rights);
  if (what.empty()) return show(*served);
  if (what == "consistency") return consistency_.show(*served);
  return not_there("There is nothing at this path.");
}

http::Response Models::post(const ServedModel& served, std::string_view what, std::string_view body,
                            const Rights& rights) {
  if (what == "identify") return identify(served, body);
  if (what == "run") return run_request(served, body, rights, clock_, run_);
  if (what == "plan") return in_turn([&] { return plan(served, body); });
  if (what == "consistency/verify") return consistency_.verify(served, body, rights);
  if (what == "consistency/replay") {
    if (!rights.write) return forbidden("The console is read-only, so it replays nothing.");
    return consistency_.replay(served, body);
  }
  return not_there("There is nothing at this path.");
}

http::Response Models::in_turn(const std::function<http::Response()>& work) {
  if (checks_.fetch_add(1) >= kChecksAtOnce) {
    checks_.fetch_sub(1);
    return refusal(429, "ThrottlingException", "Other models are being checked; try again.");
  }
  struct Turn {
    std::atomic<int>& checks;
    ~Turn() { checks.fetch_sub(1); }
  } const turn{checks_};
  return work();
}

const model::Diagnostics& Models::findings_of(const ServedModel& served) {
  MutexLock lock(mutex_);
  const auto& model = served.model();
  const auto found = findings_.find(model.name);
  return found != findings_.end() ? found->second
                                  : findings_.emplace(model.name, model::check(model, limits(stop_))).first->second;
}

http::Response Models::list() {
  std::string out;
  value::JsonWriter json(out);
  const auto size = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
  json.begin_object().key("models").begin_array();
  for (const auto& served : served_) {
    const auto& model = served.model();
    const auto& findings = findings_of(served);
    json.begin_object().key("name").string(model.name).key("title").string(title_of(model.name));
    json.key("description").string(model.description).key("table").string(model.table.name);
    json.key("prefix").string(served.system->prefix()).key("builtin").boolean(served.built_in);
    json.key("entities").integer(size(model.entities)).key("patterns").integer(size(model.patterns));
    json.key("actions").integer(size(model.actions)).key("findings").begin_object();
    json.key("error").integer(count_of(findings, [](const model::Diagnostic& each) {
      return each.accepted.empty() && each.severity == model::Severity::Error;
    }));
    json.key("warning").integer(count_of(findings, [](const model::Diagnostic& each) {
      return each.accepted.empty() && each.severity == model::Severity::Warning;
    }));
    json.key("accepted").integer(count_of(findings, [](const model::Diagnostic& each) {
      return !each.accepted.empty();
    }));
    json.end_object().end_object();
  }
  json.end_array().end_object();
  return json_answer(std::move(out));
}

http::Response Models::show(const ServedModel& served) {
  std::string out;
  value::JsonWriter json(out);
  json.begin_object().key("prefix").string(served.system->prefix()).key("builtin").boolean(served.built_in);
  json.key("source").string(served.source);
  write_checked(json, &served.model(), findings_of(served));
  json.end_object();
  return json_answer(std::move(out));
}

http::Response Models::check(std::string_view yaml) {
  const auto loaded = model::load_model(yaml, "model.yaml");
  const auto findings = all_findings(loaded, limits(stop_));
  if (stop_.stop_requested()) return refusal(503, "ServiceUnavailable", "The server is stopping.");
  std::string out;
  value::JsonWriter json(out);
  json.begin_object();
  write_checked(json, loaded.model ? &*loaded.model : nullptr, findings);
  json.end_object();
  return json_answer(std::move(out));
}

http::Response Models::identify(const ServedModel& served, std::string_view body) {
  value::JsonParser parser;
  const auto parsed = parser.parse(body);
  if (!parsed || !(*parsed)["items"].is_array()) return bad_request("The body must be {\"items\": [...]}.");
  const auto items = (*parsed)["items"].array();
  if (items.size() > kMostItems) return bad_request(fmt::format("There are at most {} items.", kMostItems));
  std::string out;
  value::JsonWriter json(out);
  json.begin_object().key("items").begin_array();
  for (const auto each : items) {
    const auto item = each.is_object() ? value::decode_item(each) : validation_error("it is no object");
    if (!item) return bad_request(fmt::format("One of the items is none: {}", item.error().message));
    write_identity(json, served.model(), *item);
  }
  json.end_array().end_object();
  return json_answer(std::move(out));
}

http::Response Models::plan(const ServedModel& served, std::string_view yaml) {
  const auto loaded = model::load_model(yaml, "model.yaml");
  if (!loaded.model) {
    const auto& first = loaded.diagnostics.front();
    return bad_request(
        fmt::format("The model has errors; the first is in line {}: {}", first.position.line, first.message));
  }
  const auto plan = runtime::plan_migration(served.model(), *loaded.model);
  std::string out;
  value::JsonWriter json(out);
  json.begin_object().key("steps").begin_array();
  for (const auto& step : plan.steps) json.string(step.text);
  json.end_array();
  write_texts(json, "warnings", plan.remarks);
  write_texts(json, "obstacles", plan.obstacles);
  json.key("report").string(report_of(plan)).end_object();
  return json_answer(std::move(out));
}

}  // namespace stator::console
