#include "stator/server/tools.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

#include "stator/backup/checksum.h"
#include "stator/base/log.h"
#include "stator/base/priority.h"
#include "stator/value/json.h"

namespace stator::server {
namespace {

constexpr int kLowPriority = 10;  // requests go first

http::Response json_answer(int status, std::string body) {
  body += '\n';
  return {.status = status, .content_type = "application/json", .headers = {}, .body = std::move(body)};
}

http::Response refusal(int status, std::string_view message) {
  std::string body;
  value::JsonWriter(body).begin_object().key("message").string(message).end_object();
  return json_answer(status, std::move(body));
}

http::Response refusal(const Error& error) { return refusal(error.code == ErrorCode::Busy ? 503 : 500, error.message); }

http::Response not_found() { return refusal(404, "the server has no such tool, or the files have been let go"); }

std::int64_t integer(std::uint64_t number) { return static_cast<std::int64_t>(number); }

void write_report(value::JsonWriter& writer, const engine::CheckReport& report) {
  writer.begin_object().key("tables").integer(integer(report.tables)).key("items").integer(integer(report.items));
  writer.key("index_entries").integer(integer(report.index_entries)).key("records").integer(integer(report.records));
  writer.key("file_bytes").integer(integer(report.file_bytes)).key("findings").begin_array();
  for (const auto& finding : report.findings) {
    writer.begin_object().key("kind").string(engine::finding_name(finding.kind)).key("table").string(finding.table);
    writer.key("index").string(finding.index).key("key").string(finding.key).key("what").string(finding.what);
    writer.end_object();
  }
  writer.end_array().key("totals").begin_object();
  for (std::size_t kind = 0; kind < engine::kFindingKinds; ++kind) {
    if (report.totals[kind] == 0) continue;
    writer.key(engine::finding_name(static_cast<engine::FindingKind>(kind))).integer(integer(report.totals[kind]));
  }
  writer.end_object().end_object();
}

template <typename Number>
bool parse(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

std::string_view take_part(std::string_view& path) {
  const auto slash = path.find('/');
  const auto part = path.substr(0, slash);
  path.remove_prefix(slash == path.npos ? path.size() : slash + 1);
  return part;
}

}  // namespace

Tools::Tools(library::Instance& instance) : instance_(instance), clock_(instance.engine().clock()) {}

Tools::~Tools() { stop(); }

void Tools::stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (check_thread_.joinable()) check_thread_.join();
  if (worker_.joinable()) worker_.join();
  const MutexLock lock(mutex_);
  queue_.clear();
  frozen_.clear();
}

void Tools::handle(const http::Request& request, http::Responder responder) {
  if (request.header(kHeader).empty()) {
    return responder.send(refusal(403, fmt::format("this is for stator's own tools, which send {}", kHeader)));
  }
  auto path = request.path;
  path.remove_prefix(std::min(kPrefix.size(), path.size()));
  const auto tool = take_part(path);
  if (tool == "check" && path.empty()) {
    if (request.method == "POST") return start_check(std::move(responder));
    if (request.method == "GET") return responder.send(check_answer());
  }
  if (tool == "backups") {
    if (request.method == "POST" && path.empty()) {
      return on_worker(std::move(responder), [this] { return freeze(); });
    }
    if (request.method == "GET") {
      return on_worker(std::move(responder), [this, rest = std::string(path)] { return read(rest); });
    }
    if (request.method == "DELETE") {
      return on_worker(std::move(responder), [this, id = std::string(path)] { return release(id); });
    }
  }
  responder.send(not_found());
}

// -- check

void Tools::start_check(http::Responder responder) {
  try {
    const MutexLock lock(mutex_);
    if (!stopping_ && check_.state != CheckState::State::Running) {
      // The one before is done with everything but returning.
      if (check_thread_.joinable()) check_thread_.join();
      const auto number = check_.number + 1;
      check_thread_ = std::thread([this, number] { run_check(number); });  // may throw; it waits for the lock
      check_ = {.state = CheckState::State::Running, .number = number, .progress = {}, .report = {}, .error = {}};
    }
  } catch (const std::system_error& error) {
    return responder.send(
        refusal(503, fmt::format("the server cannot start a thread for the check: {}", error.what())));
  }
  responder.send(check_answer());
}

void Tools::run_check(std::uint64_t number) {
  lower_priority(kLowPriority);
  try {
    check_now(number);
  } catch (const std::exception& exception) {
    const MutexLock lock(mutex_);
    check_.state = CheckState::State::Failed;
    check_.error = exception.what();
  }
}

void Tools::check_now(std::uint64_t number) {
  log::info("check_started", {{"number", number}});
  // A database server that does not answer is no damage.
  if (const auto current = instance_.engine().catch_up(); !current) {
    const MutexLock lock(mutex_);
    check_.state = CheckState::State::Failed;
    check_.error = current.error().message;
    return;
  }
  // A store that has failed can recover only while no snapshot is open, so the check ends then.  A damaged store cannot
  // recover, so the check goes on; it may have been read-only before.
  const auto can_recover = [this] {
    const auto health = instance_.engine().health();
    return health.read_only && health.trouble != storage::StoreTrouble::Damaged;
  };
  const bool was_read_only = can_recover();
  bool yielded_to_recovery = false;
  auto report = engine::check(instance_.store(), {.progress = [&](const engine::CheckProgress& progress) {
                                yielded_to_recovery = !was_read_only && can_recover();
                                const MutexLock lock(mutex_);
                                check_.progress = progress;
                                return !stopping_ && !yielded_to_recovery;
                              }});
  if (report && report->clean()) {
    log::info("check_done", {{"number", number}, {"findings", report->total()}});
  } else if (report) {
    log::warning("check_done", {{"number", number}, {"findings", report->total()}});
  } else {
    log::warning("check_failed", {{"number", number}, {"cause", report.error().message}});
  }
  const MutexLock lock(mutex_);
  check_.state = report ? CheckState::State::Done : CheckState::State::Failed;
  if (report) {
    check_.report = std::move(*report);
  } else {
    check_.error =
        yielded_to_recovery
            ? "the database has become read-only, and the check has ended so that it can recover; see its log, then "
              "check again"
            : report.error().message;
  }
}

http::Response Tools::check_answer() const {
  static constexpr std::array<std::string_view, 4> kStates = {"none", "running", "done", "failed"};
  const MutexLock lock(mutex_);
  std::string body;
  value::JsonWriter writer(body);
  writer.begin_object().key("number").integer(integer(check_.number));
  writer.key("state").string(kStates[static_cast<std::size_t>(check_.state)]);
  writer.key("stage").string(check_.progress.stage == engine::CheckProgress::Stage::Files ? "files" : "records");
  writer.key("done").integer(integer(check_.progress.done)).key("total").integer(integer(check_.progress.total));
  writer.key("error").string(check_.error).key("report");
  write_report(writer, check_.report);
  writer.end_object();
  return json_answer(200, std::move(body));
}

// -- backups

void Tools::on_worker(http::Responder responder, UniqueFunction<http::Response()> work) {
  {
    const MutexLock lock(mutex_);
    if (!stopping_ && queue_.size() < kMaxWaiting) {
      if (!worker_.joinable()) worker_ = std::thread([this] { run_worker(); });
      queue_.emplace_back([responder = std::move(responder), work = std::move(work)]() mutable {
        try {
          responder.send(work());
        } catch (const std::exception& exception) {
          responder.send(refusal(500, exception.what()));
        }
      });
      wake_.notify_all();
      return;
    }
  }
  responder.send(refusal(503, "too many requests of backups wait already"));
}

void Tools::run_worker() {
  lower_priority(kLowPriority);
  for (;;) {
    UniqueFunction<void()> work;
    {
      const auto until = clock_.steady_now() + kLookForForgotten;
      const MutexLock lock(mutex_);
      while (!stopping_ && queue_.empty()) {
        const auto left = until - clock_.steady_now();
        if (left <= left.zero()) break;
        clock_.wait_for(wake_, mutex_, left);
      }
      if (stopping_) return;
      if (!queue_.empty()) {
        work = std::move(queue_.front());
        queue_.pop_front();
      }
    }
    forget_frozen();
    if (work) work();
  }
}

void Tools::forget_frozen() {
  std::map<std::string, Frozen, std::less<>> forgotten;  // removes files, so not under the lock
  const auto now = clock_.steady_now();
  const MutexLock lock(mutex_);
  for (auto frozen = frozen_.begin(); frozen != frozen_.end();) {
    const auto next = std::next(frozen);
    if (now - frozen->second.last_used > kForgetFrozen) {
      log::warning("backup_abandoned", {{"id", frozen->first}, {"message", "no client asked for its files"}});
      forgotten.insert(frozen_.extract(frozen));
    }
    frozen = next;
  }
}

bool Tools::make_room() {
  Frozen oldest;  // removes files, so not under the lock
  const MutexLock lock(mutex_);
  if (frozen_.size() < kMaxFrozen) return true;
  const auto found = std::min_element(frozen_.begin(), frozen_.end(), [](const auto& a, const auto& b) {
    return a.second.last_used < b.second.last_used;
  });
  if (clock_.steady_now() - found->second.last_used < kIdleFrozen) return false;
  oldest = std::move(found->second);
  frozen_.erase(found);
  return true;
}

http::Response Tools::freeze() {
  auto* files = instance_.store().files();
  if (files == nullptr) {
    return refusal(
        400,
        "this database is in memory (in_memory) or in a database server (store) and has no files to back up; a server "
        "with a data folder has. Tables can be copied with Scan and BatchWriteItem");
  }
  if (!make_room()) return refusal(503, "too many backups are being made at the same time; try again in a minute");
  auto frozen = files->freeze();
  if (!frozen) return refusal(frozen.error());
  const std::shared_ptr<const storage::FrozenFiles> shared(std::move(*frozen));
  const auto id = random_.uuid();
  std::string body;
  value::JsonWriter writer(body);
  writer.begin_object().key("id").string(id).key("last_commit").integer(integer(shared->last_commit().value));
  writer.key("files").begin_array();
  for (const auto& file : shared->files()) {
    writer.begin_object().key("name").string(file.name).key("size").integer(integer(file.size_bytes));
    writer.key("content_id").string(file.content_id).end_object();
  }
  writer.end_array().end_object();
  log::info("backup_started", {{"id", id}, {"commit", shared->last_commit().value}, {"files", shared->files().size()}});
  const MutexLock lock(mutex_);
  frozen_.emplace(id, Frozen{shared, clock_.steady_now()});
  return json_answer(200, std::move(body));
}

http::Response Tools::read(std::string_view path) {
  std::shared_ptr<const storage::FrozenFiles> files;
  {
    const MutexLock lock(mutex_);
    const auto frozen = frozen_.find(take_part(path));
    if (frozen == frozen_.end()) return not_found();
    frozen->second.last_used = clock_.steady_now();
    files = frozen->second.files;
  }
  std::size_t file = 0;
  std::uint64_t offset = 0;
  std::size_t length = 0;
  if (!parse(take_part(path), file) || !parse(take_part(path), offset) || !parse(path, length) ||
      file >= files->files().size() || offset > files->files()[file].size_bytes || length > kMaxChunkBytes) {
    return refusal(400, "there is no such part of a file");
  }
  auto bytes = files->read(file, offset, length);
  if (!bytes) return refusal(bytes.error());
  http::Response response{.status = 200, .content_type = "application/octet-stream", .headers = {}, .body = {}};
  response.headers = fmt::format("{}: {}\r\n", kChecksumHeader, backup::checksum_of(*bytes));
  response.body = std::move(*bytes);
  return response;
}

http::Response Tools::release(std::string_view id) {
  Frozen frozen;
  {
    const MutexLock lock(mutex_);
    const auto found = frozen_.find(id);
    if (found == frozen_.end()) return not_found();
    frozen = std::move(found->second);
    frozen_.erase(found);
  }
  log::info("backup_done", {{"id", id}});
  return json_answer(200, "{}");
}

}  // namespace stator::server
