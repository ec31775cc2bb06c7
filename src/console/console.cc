#include "stator/console/console.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <memory>

#include "stator/app/rest/request/target.h"
#include "stator/base/log.h"
#include "stator/base/log_limit.h"
#include "stator/console/answers.h"
#include "stator/console/assets.h"
#include "stator/console/live_json.h"
#include "stator/console/model_view.h"
#include "stator/console/read_only.h"
#include "stator/value/json.h"

namespace stator::console {
namespace {

constexpr std::string_view kApiPrefix = "/api/";
constexpr std::string_view kSession = "/session";
constexpr std::string_view kConsole = "/console/";
constexpr std::string_view kSaved = "/console/saved";
constexpr std::string_view kHistory = "/console/history";
constexpr std::string_view kJson = "application/json";
constexpr std::string_view kCookie = "stator_session";
constexpr std::size_t kMaxSignInBytes = 4096;
constexpr std::size_t kWorkers = 4;
constexpr std::size_t kWaiting = 64;      // requests that wait for one of them; more are throttled
constexpr std::size_t kMostHottest = 20;  // partitions that are told

// The session's token in `Cookie: a=b; stator_session=...`; empty when there is none.
std::string_view session_token(const http::Request& request) {
  auto rest = request.header("Cookie");
  while (!rest.empty()) {
    auto pair = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    while (pair.starts_with(' ')) pair.remove_prefix(1);
    if (pair.size() > kCookie.size() && pair.starts_with(kCookie) && pair[kCookie.size()] == '=') {
      return pair.substr(kCookie.size() + 1);
    }
  }
  return {};
}

struct Credentials {
  std::string id, secret;
};

std::optional<Credentials> read_credentials(std::string_view body) {
  if (body.size() > kMaxSignInBytes) return std::nullopt;
  value::JsonParser parser;
  const auto json = parser.parse(body);
  if (!json) return std::nullopt;
  const auto id = json->object().get<std::string_view>("accessKeyId");
  const auto secret = json->object().get<std::string_view>("secretAccessKey");
  if (!id || !secret) return std::nullopt;
  return Credentials{.id = std::string(*id), .secret = std::string(*secret)};
}

void log_refused(const http::Request& request) {
  static log::Limit limit(5, std::chrono::seconds(1));
  if (const auto left_out = limit.admit()) {
    log::warning(
        "sign_in_refused",
        {{"reason", "no such access key, or another secret"}, {"client", request.client}, {"left_out", *left_out}});
  }
}

bool is_at_or_below(std::string_view path, std::string_view place) {
  return path.starts_with(place) && (path.size() == place.size() || path[place.size()] == '/');
}

// Whether it is for the page alone, and not the page itself.
bool is_call(const http::Request& request) {
  return request.path == kSession || request.path.starts_with(kApiPrefix) || request.path.starts_with(kConsole);
}

std::size_t body_limit(std::string_view path) {
  if (path == kSession) return kMaxSignInBytes;
  if (path.starts_with(kApiPrefix)) return SIZE_MAX;  // the server's own limit
  if (is_at_or_below(path, Models::kPath)) return Models::body_bytes(path);
  if (is_at_or_below(path, Elsewhere::kPath)) return Elsewhere::kMostBodyBytes;
  return SavedQueries::kMostEntryBytes;
}

http::Response too_large(std::size_t limit) {
  return refusal(413, "ValidationException", fmt::format("The body has at most {} bytes.", limit));
}

// The answer to a change of what is saved.
http::Response told(const Result<void>& done) {
  if (done) return empty_answer();
  switch (done.error().code) {
    case ErrorCode::ResourceNotFound: return not_there(done.error().message);
    case ErrorCode::Validation: return bad_request(done.error().message);
    case ErrorCode::LimitExceeded: return refusal(400, "LimitExceededException", done.error().message);
    default: return refusal(500, "InternalServerError", done.error().message);
  }
}

http::Response no_store() { return refusal(503, "InternalServerError", "The database does not answer; try again."); }

http::Response listed(Result<std::string> list) {
  return list ? json_answer(std::move(*list)) : told(std::move(list).error());
}

}  // namespace

Console::Console(client::Client& client, Sessions& sessions, SavedQueries& saved, Models& models, LiveRequests* live,
                 const Clock& clock, ConsoleOptions options)
    : client_(client),
      sessions_(sessions),
      saved_(saved),
      models_(models),
      live_(live),
      clock_(clock),
      options_(std::move(options)),
      workers_(kWorkers, kWaiting) {}

std::optional<http::Response> Console::objection(const http::Request& request) {
  if (request.header("X-Stator-Console").empty()) {
    return text_answer(403, "Only the console's own page may call this.\n");
  }
  return request.path == kSession ? std::nullopt : session_refusal(request);
}

// Only what the page sends has a body.
http::Admission Console::admit(const http::Request& head) {
  const bool has_body = head.method == "POST" || head.method == "PUT";
  if (!has_body || !is_call(head)) return {.refusal = wrong_method()};
  const auto limit = body_limit(head.path);
  auto wrong = objection(head);
  if (const auto declared = head.header("Content-Length"); !wrong && !declared.empty()) {
    std::size_t bytes = 0;
    std::from_chars(declared.data(), declared.data() + declared.size(), bytes);
    if (bytes > limit) wrong = too_large(limit);
  }
  return {.refusal = std::move(wrong), .body_bytes = limit};
}

void Console::handle(const http::Request& request, http::Responder responder) {
  const bool reads = request.method == "GET" || request.method == "HEAD";
  const bool about_session = request.path == kSession;
  if (about_session && reads) return responder.send(describe_session(request));
  if (is_call(request)) {
    if (auto wrong = objection(request)) return responder.send(std::move(*wrong));
    if (request.body.size() > body_limit(request.path)) return responder.send(too_large(body_limit(request.path)));
    if (request.path.starts_with(kConsole)) return answer(request, std::move(responder));
    if (request.method == "DELETE" && about_session) return change_session(request, std::move(responder));
    if (request.method != "POST") return responder.send(wrong_method());
    if (about_session) return change_session(request, std::move(responder));
    return call(request, std::move(responder));
  }
  if (!reads) return responder.send(wrong_method());
  if (request.path == "/health") return responder.send(options_.health());
  if (request.path == "/metrics") {
    auto wrong = session_refusal(request);
    return responder.send(wrong ? std::move(*wrong) : options_.metrics());
  }
  auto page = page_answer(assets(), request);
  responder.send(page ? std::move(*page) : text_answer(404, "Not found\n"));
}

void Console::call(const http::Request& request, http::Responder responder) {
  const auto operation = request.path.substr(kApiPrefix.size());
  if (options_.read_only && !reads_only(operation, request.body)) {
    return responder.send(forbidden(fmt::format("The console is read-only, so {} is refused.", operation)));
  }
  client_.call(operation, request.body, [responder = std::move(responder)](api::Reply reply) mutable {
    if (reply.ok()) {
      return responder.send({.status = 200,
                             .content_type = kJson,
                             .headers = {},
                             .body = std::move(*reply.outcome),
                             .memory = std::move(reply.memory)});
    }
    const auto& fault = reply.outcome.error();
    responder.send(
        {.status = fault.server_side ? 500 : 400, .content_type = kJson, .headers = {}, .body = fault.body()});
  });
}

void Console::change_session(const http::Request& request, http::Responder responder) {
  const auto change = [this](const http::Request& asked) {
    return asked.method == "DELETE" ? sign_out(asked) : sign_in(asked);
  };
  if (!sessions_.is_shared()) return responder.send(change(request));
  run_later(request, std::move(responder), change);
}

void Console::run_later(const http::Request& request, http::Responder responder,
                        std::function<http::Response(const http::Request&)> work) {
  auto shared = std::make_shared<http::Responder>(std::move(responder));
  app::WorkerPool::Job job = [request, shared, work = std::move(work)] { shared->send(work(request)); };
  if (!workers_.submit(job)) {
    shared->send(refusal(503, "ThrottlingException", "Too many requests of the console wait already; try again."));
  }
}

// Requests that may wait for the database or for a disk are answered by a worker.
void Console::answer(const http::Request& request, http::Responder responder) {
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (request.path == "/console/info") return responder.send(reads ? info(request) : wrong_method());
  if (request.path == "/console/live") return responder.send(reads ? live(request) : wrong_method());
  if (request.path == "/console/metrics") return responder.send(reads ? numbers() : wrong_method());
  run_later(request, std::move(responder), [this](const http::Request& asked) {
    if (is_at_or_below(asked.path, kSaved)) return saved(asked);
    if (asked.path == kHistory) return history(asked);
    if (is_at_or_below(asked.path, Elsewhere::kPath)) {
      return rights_of(asked).elsewhere ? elsewhere_.read(asked)
                                        : forbidden(
                                              "This console does not read other endpoints: it is read-only, or "
                                              "other machines reach it without a key.");
    }
    if (is_at_or_below(asked.path, Models::kPath)) return models_.handle(asked, rights_of(asked));
    return not_there("There is nothing at this path.");
  });
}

Rights Console::rights_of(const http::Request& request) {
  const bool is_known = sessions_.required() ? sessions_.key_of(session_token(request)).has_value() : options_.local;
  return {.write = !options_.read_only,
          .impersonate = is_known && options_.users_are_ours,
          .elsewhere = is_known && !options_.read_only};
}

http::Response Console::info(const http::Request& request) {
  std::string out;
  value::JsonWriter json(out);
  json.begin_object().key("version").string(options_.version).key("readOnly").boolean(options_.read_only);
  json.key("endpoint");
  if (options_.endpoint.empty()) {
    json.null().key("api").begin_object().key("secure").boolean(options_.api.secure);
    json.key("host").string(options_.api.host).key("port").integer(options_.api.port).end_object();
  } else {
    json.string(options_.endpoint).key("api").null();
  }
  json.key("region").string(options_.region).key("inMemory").boolean(options_.in_memory);
  json.key("features").begin_object().key("models").boolean(!models_.empty());
  json.key("live").boolean(live_ != nullptr).key("saved").boolean(true);
  json.key("impersonate")
      .boolean(!models_.empty() && rights_of(request).impersonate)
      .key("remote")
      .boolean(rights_of(request).elsewhere)
      .end_object()
      .key("systems")
      .begin_array();
  for (const auto& served : models_.served()) {
    const auto& model = served.model();
    json.begin_object().key("name").string(model.name).key("title").string(title_of(model.name));
    json.key("prefix").string(served.system->prefix()).key("table").string(model.table.name).end_object();
  }
  json.end_array().end_object();
  return json_answer(std::move(out));
}

http::Response Console::live(const http::Request& request) {
  if (live_ == nullptr) return not_there("This console does not see the requests of its endpoint.");
  const auto query = app::QueryParameters::parse(request.query);
  if (!query) return bad_request(query.error().message);
  const auto* after = query->find("after");
  std::uint64_t cursor = 0;
  if (after != nullptr) {
    const auto [end, wrong] = std::from_chars(after->data(), after->data() + after->size(), cursor);
    if (wrong != std::errc() || end != after->data() + after->size()) return bad_request("after must be a cursor.");
  }
  const auto* bodies = query->find("bodies");
  live_->look();
  return json_answer(live_json(live_->after(cursor), bodies != nullptr && *bodies == "1" && rights_of(request).write));
}

http::Response Console::numbers() {
  if (!options_.numbers) return not_there("This console does not see the numbers of its endpoint.");
  if (live_ != nullptr) live_->look();
  return json_answer(metrics_json(options_.numbers(),
                                  live_ != nullptr ? live_->hottest(kMostHottest) : std::vector<HotPartitions::Entry>(),
                                  clock_.now()));
}

http::Response Console::saved(const http::Request& request) {
  if (request.path == kSaved) return request.method == "GET" ? listed(saved_.saved()) : wrong_method();
  const auto id = request.path.substr(kSaved.size() + 1);
  if (request.method == "PUT") return told(saved_.save(id, request.body));
  if (request.method == "DELETE") return told(saved_.remove(id));
  return wrong_method();
}

http::Response Console::history(const http::Request& request) {
  if (request.method == "GET") return listed(saved_.history());
  if (request.method == "POST") return told(saved_.append_history(request.body));
  if (request.method == "DELETE") return told(saved_.clear_history());
  return wrong_method();
}

std::optional<http::Response> Console::session_refusal(const http::Request& request) {
  if (!sessions_.required() || sessions_.key_of(session_token(request))) return std::nullopt;
  return refusal(
      401, "MissingAuthenticationTokenException",
      sessions_.has_keys()
          ? "Sign in with an access key."
          : "This database has been used with access keys and has none now, so nobody can sign in. Make one with "
            "`stator key add`, or start the server with --allow-unsigned.");
}

http::Response Console::describe_session(const http::Request& request) {
  const auto key = sessions_.key_of(session_token(request));
  std::string body;
  value::JsonWriter json(body);
  json.begin_object().key("required").boolean(sessions_.required()).key("accessKeyId");
  if (key) {
    json.string(*key);
  } else {
    json.null();
  }
  json.end_object();
  return {.status = 200, .content_type = kJson, .headers = "Cache-Control: no-store\r\n", .body = std::move(body)};
}

http::Response Console::sign_in(const http::Request& request) {
  const auto credentials = read_credentials(request.body);
  if (!credentials) {
    return refusal(400, "SerializationException",
                   "To sign in, send {\"accessKeyId\": \"...\", \"secretAccessKey\": \"...\"}.");
  }
  const auto answer = sessions_.sign_in(credentials->id, credentials->secret);
  if (!answer) {
    if (answer.error() == Sessions::Refusal::TooMany) {
      auto response = refusal(429, "ThrottlingException", "There were too many attempts; try again in a second.");
      response.headers = "Retry-After: 1\r\n";
      return response;
    }
    if (answer.error() == Sessions::Refusal::NoStore) return no_store();
    log_refused(request);
    return refusal(401, "UnrecognizedClientException", "There is no such access key, or its secret is another.");
  }
  if (!sessions_.sign_out(session_token(request))) return no_store();  // the one that this replaces
  return {.status = 204, .content_type = {}, .headers = cookie(*answer, Sessions::kLifetime), .body = {}};
}

http::Response Console::sign_out(const http::Request& request) {
  if (!sessions_.sign_out(session_token(request))) return no_store();
  return {.status = 204, .content_type = {}, .headers = cookie("", std::chrono::seconds(0)), .body = {}};
}

std::string Console::cookie(std::string_view token, std::chrono::seconds lifetime) const {
  return fmt::format(
      "Set-Cookie: {}={}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict{}\r\nCache-Control: no-store\r\n", kCookie,
      token, lifetime.count(), options_.secure ? "; Secure" : "");
}

}  // namespace stator::console
