#pragma once

#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "stator/base/mutex.h"
#include "stator/storage/postgres/commit_session.h"
#include "stator/storage/postgres/connection_pool.h"
#include "stator/storage/postgres/connector.h"
#include "stator/storage/postgres/postgres_store.h"

namespace stator::storage::postgres {

class PostgresStore final : public Store {
 public:
  PostgresStore(std::shared_ptr<const Libpq> libpq, PostgresOptions options);
  ~PostgresStore() override;
  PostgresStore(const PostgresStore&) = delete;
  PostgresStore& operator=(const PostgresStore&) = delete;

  // Once, before anything else.  Errors: as open_postgres_store().
  Result<void> open();

  Result<std::optional<Bytes>> get(BytesView key) const override;
  Result<ValuesRead> get_all(const std::vector<BytesView>& keys) const override;
  std::unique_ptr<Snapshot> snapshot() const override;
  std::unique_ptr<LoopReader> reader_on(EventLoop& loop) override;
  CommitSequence epoch() const override { return parts_.epoch_entered(); }
  void enter_epoch(CommitSequence epoch) override { parts_.epoch.store(epoch.value, std::memory_order_release); }
  Result<SnapshotOfEpoch> snapshot_of_epoch() const override;
  Result<CommitSequence> commit(Batch batch) override;
  CommitSequence last_commit() const override { return parts_.known.newest(); }
  CommitSequence last_commit_of(BytesView key) const override;
  Result<void> advance_to(CommitSequence least) override;
  ReadPoint read_point() const override { return ReadPoint(parts_.known.all()); }
  Result<void> sync() override;
  Result<void> recover() override;
  void shorten_waits() override { parts_.haste->begin(); }
  StoreHealth health() const override { return parts_.condition.health(); }
  const Clock* clock() const override { return &parts_.clock; }
  Capabilities capabilities() const override {
    return {.shared = parts_.is_shared(), .durable = true, .erases_key_by_key = true, .lanes = parts_.lanes.count()};
  }
  StoreStatistics statistics() const override;
  std::optional<StoreServer> server() const override;

 private:
  // A session, or all of them, for as long as this lives.
  class SessionLease {
   public:
    SessionLease(PostgresStore& store, std::vector<std::size_t> sessions)
        : store_(&store), sessions_(std::move(sessions)) {}
    ~SessionLease() { store_->give_back(sessions_); }
    SessionLease(const SessionLease&) = delete;
    SessionLease& operator=(const SessionLease&) = delete;
    CommitSession* operator->() const { return store_->sessions_[sessions_.front()].get(); }
    std::size_t number() const { return sessions_.front(); }

   private:
    PostgresStore* store_;
    std::vector<std::size_t> sessions_;
  };

  SessionLease take_session();
  // A session that the server does not refuse as one too many.
  std::unique_ptr<SessionLease> take_connected_session();
  void use_sessions(std::size_t count);
  SessionLease take_all_sessions();
  // For the watcher.  nullopt: it is in use, and stays so for a while.
  std::optional<std::size_t> take_first_session();
  void give_back(const std::vector<std::size_t>& sessions);

  // The server has gone or changed: idle connections are closed.
  void forget_connections() const;

  template <typename Read>
  auto with_connection(ConnectionPool::Use use, Read read) const
      -> decltype(read(std::declval<ConnectionPool::Lease&>()));

  void watch(const std::stop_token& stop);
  // Looks at the server with a reader's connection, and now and then at the size of the store.
  void look(bool at_size);
  // Asks all servers of the address which of them counts.
  void look_for_newest();
  void note_size(const Rows& rows);
  void ping(CommitSession& session);

  mutable StoreParts parts_;
  mutable ConnectionPool pool_;
  Connector connector_;
  // The size of the store when the watcher looked, and the bytes written then.
  std::atomic<std::uint64_t> size_bytes_{0}, written_at_size_{0};
  std::atomic<std::int64_t> round_trip_microseconds_{0};

  // Constant after open().  A session is used by the thread that has taken it.
  std::vector<std::unique_ptr<CommitSession>> sessions_;
  Mutex recovering_;  // before sessions are taken
  Mutex sessions_mutex_;
  CondVar session_returned_;
  std::vector<bool> taken_ GUARDED_BY(sessions_mutex_);
  std::size_t used_sessions_ GUARDED_BY(sessions_mutex_) = 1;  // the others find no connection
  bool first_wanted_ GUARDED_BY(sessions_mutex_) = false;      // by the watcher: commits leave it to them

  std::jthread watcher_;  // last: it ends before the parts that it uses
};

}  // namespace stator::storage::postgres
