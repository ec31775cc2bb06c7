#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <vector>

#include "stator/storage/loop_reader.h"
#include "stator/storage/postgres/commit_session.h"
#include "stator/storage/postgres/connector.h"

namespace stator::storage::postgres {

// Reads on the thread of an event loop, on a connection of its own.
//
// One group of statements is under way at a time.  Reads that come meanwhile wait for its answer and are the next
// group: all keys in one statement, and a statement for each range.  So the more wait, the less a read costs.  In each
// statement, the rows of its lanes tell whether the answer is current.
//
// Everything out of the ordinary is left to the threads that may wait: without a connection, and for large values, a
// read is answered Busy.  Connections are opened by another thread.  Confined to the loop's thread.
class LoopReads final : public LoopReader {
 public:
  LoopReads(StoreParts& parts, Connector& connector, EventLoop& loop);  // all outlive it
  ~LoopReads() override;
  LoopReads(const LoopReads&) = delete;
  LoopReads& operator=(const LoopReads&) = delete;

  void read(ReadWish wish, Done done) override;
  void on_tick() override;

 private:
  struct Read {
    ReadWish wish;
    Done done;
  };
  using Reads = std::deque<Read>;

  SteadyTime now() const { return parts_.options.clock->steady_now(); }
  bool is_under_way() const { return !asked_.empty(); }
  // Makes sure that there is a connection.  False: not now.
  bool connect();
  void drop_connection();
  // Sends the waiting reads.
  void ask();
  void add_statements();
  void on_ready(EventLoop::Ready what);
  void follow(Connection::Step step);
  // The answers have come, or the connection broke.
  void finish();
  // `known_before`: the commits that were known when it was asked.
  void answer(Reads reads, const Result<std::vector<Rows>>& rows, const std::vector<CommitSequence>& known_before);
  // Checks that the answer is current.
  Result<void> check_lane(const Rows& rows, int row, std::int32_t lane, int fence_column,
                          const std::vector<CommitSequence>& known_before) const;
  Result<void> take_values(const Reads& reads, const Rows& rows, const std::vector<CommitSequence>& known_before,
                           std::vector<Result<ReadAhead>>& found) const;
  Result<ReadAhead> take_entries(const ReadWish& wish, const Rows& rows,
                                 const std::vector<CommitSequence>& known_before) const;
  static void fail(Reads reads, const Error& error);
  static void finish(Read& read, Result<ReadAhead> found);

  StoreParts& parts_;
  Connector& connector_;
  EventLoop& loop_;

  std::shared_ptr<Connector::Order> order_;
  SteadyTime next_order_{};
  std::uint64_t generation_ = 0;  // of the connection
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<EventLoop::Watch> watch_;  // of the connection
  bool waits_to_read_ = false, waits_to_write_ = false;

  Reads asked_;
  std::vector<CommitSequence> known_before_;  // they were asked
  SteadyTime asked_at_{};
  Reads waiting_;
  std::size_t keys_waiting_ = 0;
  bool will_ask_ = false;          // when the loop has handled its events
  bool others_come_along_ = true;  // the last group had more than one read
  const std::shared_ptr<LoopReads*> self_ = std::make_shared<LoopReads*>(this);  // for callbacks that come too late
};

}  // namespace stator::storage::postgres
