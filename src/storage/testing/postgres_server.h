#pragma once

#include <sys/types.h>

#include <string>

#include "stator/storage/testing/temporary_folder.h"

namespace stator::storage::testing {

// A PostgreSQL of the test's own, in a temporary folder, reached by a socket there.  It runs as an unprivileged user,
// because it refuses root, does not sync, and ends with the test.
class PostgresServer {
 public:
  PostgresServer();  // starts it; stops the test program when that is impossible
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  void start();
  void stop();  // connections are cut

  std::string url() const { return url_at(folder_.path()); }
  // The same database at a socket in another folder.
  static std::string url_at(const std::string& folder) { return "postgres://stator@/postgres?host=" + folder; }
  std::string socket_path() const { return folder_.path() + "/.s.PGSQL.5432"; }

  // The one of this program, made when it is first asked for: making one takes seconds.
  static PostgresServer& shared();

 private:
  std::string data() const { return folder_.path() + "/data"; }

  TemporaryFolder folder_;
  pid_t process_ = 0;
};

}  // namespace stator::storage::testing
