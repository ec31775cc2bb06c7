#include "stator/storage/testing/postgres_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <vector>

#include "stator/base/assert.h"
#include "stator/base/clock.h"

namespace stator::storage::testing {
namespace {

// Where Debian has the programs of its newest PostgreSQL.
std::string postgres_programs() {
  std::vector<std::string> found;
  std::error_code code;
  for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql", code)) {
    const auto programs = version.path() / "bin";
    if (std::filesystem::exists(programs / "initdb", code)) found.push_back(programs.string());
  }
  STATOR_ASSERT(!found.empty(), "the package postgresql-15 is installed");
  return *std::ranges::max_element(found);
}

// PostgreSQL refuses to run as root.
const passwd* unprivileged_user() {
  if (::geteuid() != 0) return nullptr;
  const auto* user = ::getpwnam("postgres");
  if (user == nullptr) user = ::getpwnam("nobody");
  STATOR_ASSERT(user != nullptr, "there is a user without privileges");
  return user;
}

pid_t start_program(const std::vector<std::string>& command, const std::string& log) {
  const auto* user = unprivileged_user();
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  STATOR_ASSERT(child >= 0, "a process can be started");
  if (child > 0) return child;
  const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  if (user != nullptr && (::setgroups(0, nullptr) != 0 || ::setgid(user->pw_gid) != 0 || ::setuid(user->pw_uid) != 0)) {
    ::_exit(126);
  }
  ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
  if (::getppid() != parent || ::chdir("/") != 0) ::_exit(126);
  std::vector<char*> arguments;
  for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

PostgresServer::PostgresServer() {
  if (const auto* user = unprivileged_user()) {
    STATOR_ASSERT(::chown(folder_.path().c_str(), user->pw_uid, user->pw_gid) == 0, "root can give a folder away");
  }
  const auto log = folder_.path() + "/initdb.log";
  const auto made = start_program({postgres_programs() + "/initdb", "-D", data(), "-U", "stator", "-A", "trust", "-E",
                                   "UTF8", "--locale=C.UTF-8", "--no-sync", "--no-instructions"},
                                  log);
  int status = 0;
  ::waitpid(made, &status, 0);
  if (status != 0) fmt::print(stderr, "{}", text_of(log));
  STATOR_ASSERT(status == 0, "initdb makes a database");
  start();
}

PostgresServer::~PostgresServer() { stop(); }

void PostgresServer::start() {
  const auto log = folder_.path() + "/postgres.log";
  process_ = start_program(
      {postgres_programs() + "/postgres", "-D", data(), "-k", folder_.path(), "-c", "listen_addresses=", "-c",
       "fsync=off", "-c", "max_connections=100", "-c", "shared_buffers=32MB", "-c", "dynamic_shared_memory_type=posix"},
      log);
  const SystemClock clock;
  const auto deadline = clock.steady_now() + std::chrono::seconds(60);
  // Its last line says so.
  while (text_of(data() + "/postmaster.pid").find("ready") == std::string::npos) {
    int status = 0;
    if (::waitpid(process_, &status, WNOHANG) != 0 || clock.steady_now() > deadline) {
      fmt::print(stderr, "{}", text_of(log));
      STATOR_ASSERT(false, "PostgreSQL starts");
    }
    clock.wait(std::chrono::milliseconds(10));
  }
}

void PostgresServer::stop() {
  if (process_ == 0) return;
  ::kill(process_, SIGINT);  // "fast": sessions are ended
  ::waitpid(process_, nullptr, 0);
  process_ = 0;
}

PostgresServer& PostgresServer::shared() {
  static PostgresServer server;
  return server;
}

}  // namespace stator::storage::testing
