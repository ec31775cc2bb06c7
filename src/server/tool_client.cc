#include "stator/server/tool_client.h"

#include <fmt/format.h>

#include <chrono>
#include <future>
#include <utility>

#include "stator/backup/checksum.h"
#include "stator/base/clock.h"
#include "stator/client/remote.h"
#include "stator/http/client/client.h"
#include "stator/http/signature/signer.h"
#include "stator/server/tools.h"
#include "stator/value/json.h"

namespace stator::server {
namespace {

constexpr int kCallAttempts = 5;
constexpr std::chrono::milliseconds kFirstWait{200};
// Freezing a store waits for its changes to be written.
constexpr std::chrono::minutes kTimeout{5};
constexpr std::size_t kQuotedBytes = 300;

Error unexpected(std::string_view what) {
  return {ErrorCode::Usage, fmt::format("the answer of the server is not understood: {}", what)};
}

std::uint64_t number_of(const value::JsonObject& object, std::string_view name) {
  return object.get<std::uint64_t>(name).value_or(0);
}

std::string text_of(const value::JsonObject& object, std::string_view name) {
  return std::string(object.get<std::string_view>(name).value_or(""));
}

// The message of a refusal.
std::string message_of(const http::ClientResponse& response) {
  value::JsonParser parser;
  const auto json = parser.parse(response.body);
  value::JsonObject object;
  if (json && json->get(object)) {
    for (const auto* name : {"message", "Message"}) {
      if (auto text = text_of(object, name); !text.empty()) return text;
    }
  }
  return response.body.substr(0, kQuotedBytes);
}

// The advice for a person; begins with "; ".
std::string_view advice(const http::ClientFailure& failure, const http::Origin& origin) {
  using Kind = http::ClientFailure::Kind;
  if (failure.kind == Kind::Untrusted) return "; name the CA of its certificate in AWS_CA_BUNDLE";
  const bool no_http = failure.kind == Kind::Broken || failure.kind == Kind::Malformed;
  if (no_http && !origin.tls) return "; does the server speak https?";
  return {};
}

std::string_view advice(const http::ClientResponse& response, bool has_key) {
  const auto says = [&](std::string_view text) { return response.body.find(text) != std::string::npos; };
  if (says("MissingAuthenticationToken") || says("UnrecognizedClient") || says("InvalidSignature")) {
    return has_key ? "; is the access key in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY one of this server's?"
                   : "; this server asks for an access key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
  }
  if (response.status == 404 && says("nothing at this path")) {
    return "; this is stator app, which has no DynamoDB API; stop it and use --data with its folder, or serve the "
           "model with "
           "stator up --models, which can be backed up while it runs";
  }
  return {};
}

engine::CheckReport decode_report(const value::JsonObject& object) {
  engine::CheckReport report;
  report.tables = number_of(object, "tables");
  report.items = number_of(object, "items");
  report.index_entries = number_of(object, "index_entries");
  report.records = number_of(object, "records");
  report.file_bytes = number_of(object, "file_bytes");
  for (const auto json : object["findings"].array()) {
    const auto finding = json.object();
    const auto kind = engine::finding_kind(text_of(finding, "kind"));
    report.findings.push_back({.kind = kind.value_or(engine::FindingKind::BadRecord),
                               .table = text_of(finding, "table"),
                               .index = text_of(finding, "index"),
                               .key = text_of(finding, "key"),
                               .what = text_of(finding, "what")});
  }
  for (const auto& [name, json] : object["totals"].object()) {
    std::uint64_t number = 0;
    if (!json.get(number)) continue;
    // A kind that a newer server knows counts all the same.
    const auto kind = engine::finding_kind(name).value_or(engine::FindingKind::BadRecord);
    report.totals[static_cast<std::size_t>(kind)] += number;
  }
  return report;
}

}  // namespace

struct ToolClient::Impl {
  http::Origin origin;
  http::Signer signer;
  bool has_key = false;  // the environment has named one
  SystemClock clock;
  std::unique_ptr<http::Client> transport;

  http::Exchange exchange(const std::string& method, const std::string& target) {
    http::ClientRequest request{.method = method,
                                .target = target,
                                .headers = {{std::string(Tools::kHeader), "1"}},
                                .body = {},
                                .idempotent = method == "GET"};
    signer.sign(request, origin.authority(), clock.now());
    std::promise<http::Exchange> promise;
    auto answer = promise.get_future();
    transport->send(origin, std::move(request),
                    [&](http::Exchange exchange) { promise.set_value(std::move(exchange)); });
    return answer.get();
  }

  // Tries again what may succeed then, where that does no harm.
  Result<http::ClientResponse> call(const std::string& method, const std::string& target) {
    auto wait = kFirstWait;
    for (int attempt = 1;; ++attempt, wait *= 2) {
      auto exchanged = exchange(method, target);
      if (exchanged && exchanged->status == 200) return std::move(*exchanged);
      const bool may_pass = !exchanged || exchanged->status == 503 || exchanged->status == 429;
      if (method == "GET" && may_pass && attempt < kCallAttempts) {
        clock.wait(wait);
        continue;
      }
      if (!exchanged) {
        const auto& failure = exchanged.error();
        return Error{ErrorCode::Usage, fmt::format("{}{}", failure.message, advice(failure, origin))};
      }
      if (exchanged->status == 404 && message_of(*exchanged).find("UnknownOperation") != std::string::npos) {
        return Error{ErrorCode::Usage,
                     fmt::format("{} is not a Stator server, or one that is too old for this", origin.url())};
      }
      // 500: the store of the server has failed.
      return Error{exchanged->status == 500 ? ErrorCode::Corruption : ErrorCode::Usage,
                   fmt::format("{} answers {}: {}{}", origin.url(), exchanged->status, message_of(*exchanged),
                               advice(*exchanged, has_key))};
    }
  }

  Result<RemoteCheck> check(const std::string& method) {
    const auto response = TRY(call(method, "/stator/check"));
    value::JsonParser parser;
    const auto json = TRY(parser.parse(response.body));
    value::JsonObject object;
    if (!json.get(object)) return unexpected(response.body.substr(0, kQuotedBytes));
    RemoteCheck check;
    const auto state = text_of(object, "state");
    using State = RemoteCheck::State;
    check.state = state == "running" ? State::Running
                  : state == "done"  ? State::Done
                  : state == "none"  ? State::None
                                     : State::Failed;
    check.number = number_of(object, "number");
    check.progress = {.stage = text_of(object, "stage") == "files" ? engine::CheckProgress::Stage::Files
                                                                   : engine::CheckProgress::Stage::Records,
                      .done = number_of(object, "done"),
                      .total = number_of(object, "total")};
    check.error = text_of(object, "error");
    if (const auto report = object.get<value::JsonObject>("report")) check.report = decode_report(*report);
    return check;
  }
};

// Files that a server keeps frozen.
class ToolClient::RemoteFiles final : public storage::FrozenFiles {
 public:
  RemoteFiles(Impl& impl, std::string id, storage::CommitSequence last_commit, std::vector<storage::StoreFile> files)
      : impl_(impl), id_(std::move(id)), last_commit_(last_commit), files_(std::move(files)) {}
  ~RemoteFiles() override {
    ignore_error(impl_.call("DELETE", "/stator/backups/" + id_), "the server lets them go by itself in a while");
  }

  storage::CommitSequence last_commit() const override { return last_commit_; }
  const std::vector<storage::StoreFile>& files() const override { return files_; }
  Result<Bytes> read(std::size_t file, std::uint64_t offset, std::size_t limit) const override {
    for (int attempt = 1;; ++attempt) {
      auto response = TRY(impl_.call("GET", fmt::format("/stator/backups/{}/{}/{}/{}", id_, file, offset,
                                                        std::min(limit, Tools::kMaxChunkBytes))));
      if (backup::checksum_of(response.body) == response.header(Tools::kChecksumHeader))
        return std::move(response.body);
      if (attempt == kCallAttempts) {
        return Error{ErrorCode::Storage, fmt::format("{} arrives damaged again and again", files_[file].name)};
      }
    }
  }

 private:
  Impl& impl_;
  const std::string id_;
  const storage::CommitSequence last_commit_;
  const std::vector<storage::StoreFile> files_;
};

ToolClient::ToolClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ToolClient::~ToolClient() = default;

Result<std::unique_ptr<ToolClient>> ToolClient::connect(const std::string& endpoint,
                                                        const client::Environment& environment) {
  const auto options = TRY(client::RemoteOptions::from_environment(endpoint, environment));
  auto transport = TRY(http::Client::start({.ca_file = options.ca_file, .timeout = kTimeout}));
  return std::unique_ptr<ToolClient>(new ToolClient(std::unique_ptr<Impl>(
      new Impl{.origin = TRY(http::Origin::parse(endpoint)),
               .signer = http::Signer(
                   {.key = {.id = options.credentials.access_key_id, .secret = options.credentials.secret_access_key},
                    .session_token = options.credentials.session_token,
                    .region = options.region,
                    .service = "dynamodb"}),
               .has_key = options.credentials.access_key_id != "local",
               .clock = {},
               .transport = std::move(transport)})));
}

Result<RemoteCheck> ToolClient::start_check() { return impl_->check("POST"); }
Result<RemoteCheck> ToolClient::look_at_check() { return impl_->check("GET"); }

Result<std::unique_ptr<storage::FrozenFiles>> ToolClient::freeze() {
  const auto response = TRY(impl_->call("POST", "/stator/backups"));
  value::JsonParser parser;
  const auto json = TRY(parser.parse(response.body));
  value::JsonObject object;
  value::JsonArray listed;
  if (!json.get(object) || !object["files"].get(listed)) {
    return unexpected(response.body.substr(0, kQuotedBytes));
  }
  std::vector<storage::StoreFile> files;
  for (const auto entry : listed) {
    value::JsonObject file;
    if (!entry.get(file)) return unexpected("a file that is no object");
    files.push_back({.name = text_of(file, "name"),
                     .size_bytes = number_of(file, "size"),
                     .content_id = text_of(file, "content_id")});
  }
  return std::unique_ptr<storage::FrozenFiles>(std::make_unique<RemoteFiles>(
      *impl_, text_of(object, "id"), storage::CommitSequence{number_of(object, "last_commit")}, std::move(files)));
}

}  // namespace stator::server
