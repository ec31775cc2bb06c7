#include "stator/storage/postgres/postgres_statements.h"

#include <fmt/format.h>

#include <functional>
#include <string>

#include "stator/storage/postgres/schema.h"

namespace stator::storage::postgres {
namespace {

// The index finds the place by the head alone.
constexpr std::string_view kFrom = "(e.head, e.tail) >= ($2::bytea, $3::bytea)";
constexpr std::string_view kTo = "(e.head, e.tail) < ($4::bytea, $5::bytea)";
// The entries of the keys k, each found by the index.  The limit keeps the planner from joining in another way: without
// statistics, as in a new store, it expects few entries and would read all of the lane.
constexpr std::string_view kOfKeys =
    "CROSS JOIN LATERAL (SELECT e.ctid, e.value, e.changed FROM {}.entries e "
    "WHERE e.lane = k.lane AND e.head = k.head AND e.digest = k.digest LIMIT 1) AS e";

std::string page(std::string_view schema, bool merged, bool forward, bool bounded) {
  const std::string order = forward ? "head, tail" : "head DESC, tail DESC";
  const std::string rows = bounded ? "$6::int8" : "$4::int8";
  auto found = fmt::format(
      "SELECT e.head, e.tail, e.value FROM {}.entries e WHERE e.lane = {} AND {}{} ORDER BY {} LIMIT {}", schema,
      merged ? "l.lane" : "$1::int4", kFrom, bounded ? fmt::format(" AND {}", kTo) : "", order, rows);
  if (merged) {
    found = fmt::format(
        "SELECT f.head, f.tail, f.value FROM unnest($1::int4[]) AS l(lane) CROSS JOIN LATERAL ({}) AS f "
        "ORDER BY {} LIMIT {}",
        found, order, rows);
  }
  return fmt::format(
      "SELECT head, tail, value FROM ("
      "SELECT head, tail, value, sum(octet_length(value)) OVER (ORDER BY {0} ROWS UNBOUNDED PRECEDING) - "
      "octet_length(value) AS bytes_before FROM ({1}) AS page) AS sized WHERE bytes_before < {2} ORDER BY {0}",
      order, found, bounded ? "$7::int8" : "$5::int8");
}

// The loop over the one row of the lane keeps the order of the page.
std::string current_page(std::string_view schema, bool forward, bool bounded) {
  return fmt::format(
      "SELECT p.head, p.tail, p.value, l.fence, l.sequence, l.epoch FROM {}.lanes l LEFT JOIN LATERAL ({}) AS p ON "
      "true "
      "WHERE l.lane = $1::int4",
      schema, page(schema, false, forward, bounded));
}

Statements::Pages all_pages(std::string_view prefix, const std::function<std::string(bool, bool)>& page) {
  const auto statement = [&](std::string_view name, bool forward, bool bounded) {
    return Statement{fmt::format("{}{}", prefix, name), page(forward, bounded)};
  };
  return {.forward = statement("forward", true, true),
          .forward_to_end = statement("forward_to_end", true, false),
          .backward = statement("backward", false, true),
          .backward_from_end = statement("backward_from_end", false, false)};
}

}  // namespace

Statements::Statements(std::string_view s) {
  const auto statement = [s](std::string name, std::string_view sql) {
    return Statement{std::move(name), fmt::format(fmt::runtime(sql), s, kFrom, kTo, fmt::format(kOfKeys, s))};
  };
  get = statement("get",
                  "SELECT l.fence, l.sequence, l.epoch, e.value FROM {0}.lanes l LEFT JOIN {0}.entries e "
                  "ON e.lane = l.lane AND e.head = $2::bytea AND e.digest = $3::bytea WHERE l.lane = $1::int4");
  get_parts = statement("get_parts",
                        "SELECT l.lane, l.fence, l.sequence, l.epoch, e.value FROM {0}.lanes l LEFT JOIN {0}.entries e "
                        "ON e.lane = l.lane AND e.head = $2::bytea AND e.digest = $3::bytea "
                        "WHERE l.lane = ANY($1::int4[])");
  // One statement sees one moment.
  get_all = statement("get_all",
                      "SELECT l.lane, l.fence, l.sequence, l.epoch, 0::int8 AS ordinal, NULL::bytea AS value "
                      "FROM {0}.lanes l WHERE l.lane = ANY($1::int4[]) UNION ALL "
                      "SELECT k.lane, 0, 0, 0, k.ordinal, e.value "
                      "FROM unnest($2::int4[], $3::bytea[], $4::bytea[]) WITH ORDINALITY "
                      "AS k(lane, head, digest, ordinal) {3}");
  get_small = statement("get_small",
                        "SELECT l.fence, l.sequence, l.epoch, "
                        "CASE WHEN octet_length(e.value) <= $4::int4 THEN e.value END, octet_length(e.value) "
                        "FROM {0}.lanes l LEFT JOIN {0}.entries e "
                        "ON e.lane = l.lane AND e.head = $2::bytea AND e.digest = $3::bytea WHERE l.lane = $1::int4");
  get_all_small =
      statement("get_all_small",
                "SELECT l.lane, l.fence, l.sequence, l.epoch, 0::int8 AS ordinal, NULL::bytea AS value, 0 AS size "
                "FROM {0}.lanes l WHERE l.lane = ANY($1::int4[]) UNION ALL "
                "SELECT k.lane, 0, 0, 0, k.ordinal, "
                "CASE WHEN octet_length(e.value) <= $5::int4 THEN e.value END, octet_length(e.value) "
                "FROM unnest($2::int4[], $3::bytea[], $4::bytea[]) WITH ORDINALITY "
                "AS k(lane, head, digest, ordinal) {3}");
  lanes = statement("lanes", "SELECT lane, fence, sequence, epoch FROM {0}.lanes ORDER BY lane");
  writer_number = statement("writer_number",
                            "SELECT number, sequence FROM {0}.writers WHERE lane = ANY($1::int4[]) "
                            "AND writer = $2::bytea ORDER BY number DESC LIMIT 1");
  clock = statement("clock", "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::int8");
  size = statement("size", "SELECT pg_total_relation_size('{0}.entries')");
  format = format_statement(s);

  pages = all_pages("", [s](bool forward, bool bounded) { return page(s, false, forward, bounded); });
  merged_pages = all_pages("merged_", [s](bool forward, bool bounded) { return page(s, true, forward, bounded); });
  current_pages = all_pages("current_", [s](bool forward, bool bounded) { return current_page(s, forward, bounded); });

  begin = statement("begin", "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE");
  begin_snapshot = statement("begin_snapshot", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  commit = statement("commit", "COMMIT");
  rollback = statement("rollback", "ROLLBACK");
  // As Lanes::next(); $3 is the number of lanes.
  next_number =
      statement("next_number",
                "UPDATE {0}.lanes SET sequence = sequence + $3::int8 - (sequence + $3::int8 - lane) % $3::int8 "
                "WHERE lane = $1::int4 AND fence = $2::int8 "
                "RETURNING lane, sequence, erasures_from, epoch, "
                "(extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::int8, "
                "(extract(epoch FROM clock_timestamp()) * 1000000)::int8");
  // All commits lock lanes in their order, so that no two of them wait for each other.  Lanes that are only read are
  // locked in the same mode: PostgreSQL lets new sharers of a row pass a writer that waits for it, for ever.
  lock = statement("lock",
                   "SELECT lane, sequence, erasures_from, epoch, "
                   "(extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::int8, "
                   "(extract(epoch FROM clock_timestamp()) * 1000000)::int8, fence FROM {0}.lanes "
                   "WHERE lane = ANY($1::int4[]) ORDER BY lane FOR NO KEY UPDATE");
  // An advisory lock of eight bytes; see take_lock().
  end_stuck = statement("end_stuck",
                        "SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a WHERE a.pid IN ("
                        "SELECT l.pid FROM pg_locks l WHERE l.locktype = 'advisory' AND l.classid = 1400136050::oid "
                        "AND l.objid = '{0}.lanes'::regclass::oid AND l.objsubid = 1 AND l.granted) "
                        "AND a.pid <> pg_backend_pid() AND a.datname = current_database() AND a.usename = current_user "
                        "AND a.wait_event_type = 'Client' "
                        "AND a.xact_start < clock_timestamp() - $1::int8 * interval '1 millisecond'");
  limit_wait = statement("limit_wait",
                         "SELECT set_config('statement_timeout', greatest(1, $1::int8 - (extract(epoch FROM "
                         "clock_timestamp() - transaction_timestamp()) * 1000)::int8)::text, true)");
  lift_limit = statement("lift_limit", "SET LOCAL statement_timeout = 0");
  set_number = statement("set_number", "UPDATE {0}.lanes SET sequence = $2::int8 WHERE lane = ANY($1::int4[])");
  begin_epoch = statement("begin_epoch", "UPDATE {0}.lanes SET epoch = sequence WHERE lane = ANY($1::int4[])");
  counters = statement("counters",
                       "SELECT k.ordinal, e.value FROM unnest($1::int4[], $2::bytea[], $3::bytea[]) WITH ORDINALITY "
                       "AS k(lane, head, digest, ordinal) {3}");
  keys_changed =
      statement("keys_changed",
                "SELECT EXISTS (SELECT FROM unnest($1::int4[], $2::bytea[], $3::bytea[], $5::int8[]) "
                "AS k(lane, head, digest, read_at) {3} WHERE e.changed > k.read_at) "
                "OR EXISTS (SELECT FROM unnest($1::int4[], $4::bytea[], $5::int8[]) AS k(lane, key, read_at) "
                "JOIN {0}.erasures r ON r.lane = k.lane AND r.sequence > k.read_at "
                "WHERE r.begins <= k.key AND (r.ends = '' OR k.key < r.ends))");
  range_changed = statement(
      "range_changed",
      "SELECT EXISTS (SELECT FROM {0}.entries e WHERE e.lane = $1::int4 AND {1} AND {2} AND e.changed > $6::int8)");
  range_changed_to_end =
      statement("range_changed_to_end",
                "SELECT EXISTS (SELECT FROM {0}.entries e WHERE e.lane = $1::int4 AND {1} AND e.changed > $4::int8)");
  range_erased =
      statement("range_erased",
                "SELECT EXISTS (SELECT FROM {0}.erasures r WHERE r.lane = $1::int4 AND r.sequence > $4::int8 "
                "AND (r.ends = '' OR $2::bytea < r.ends) AND ($3::bytea = '' OR r.begins < $3::bytea))");
  erase_keys =
      statement("erase_keys",
                "DELETE FROM {0}.entries WHERE ctid = ANY (ARRAY("
                "SELECT e.ctid FROM unnest($1::int4[], $2::bytea[], $3::bytea[]) AS k(lane, head, digest) {3}))");
  erase_range = statement("erase_range", "DELETE FROM {0}.entries e WHERE e.lane = ANY($1::int4[]) AND {1} AND {2}");
  erase_range_to_end =
      statement("erase_range_to_end", "DELETE FROM {0}.entries e WHERE e.lane = ANY($1::int4[]) AND {1}");
  put = statement("put",
                  "INSERT INTO {0}.entries (lane, head, digest, tail, value, changed) "
                  "SELECT k.lane, k.head, k.digest, k.tail, k.value, $6::int8 "
                  "FROM unnest($1::int4[], $2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[]) "
                  "AS k(lane, head, digest, tail, value) "
                  "ON CONFLICT (lane, head, digest) DO UPDATE SET value = EXCLUDED.value, changed = EXCLUDED.changed");
  note_erasures = statement("note_erasures",
                            "INSERT INTO {0}.erasures (lane, sequence, begins, ends) "
                            "SELECT k.lane, $2::int8, k.begins, k.ends "
                            "FROM unnest($1::int4[], $3::bytea[], $4::bytea[]) AS k(lane, begins, ends)");
  trim_erasures = statement("trim_erasures", "DELETE FROM {0}.erasures WHERE lane = $1::int4 AND sequence <= $2::int8");
  note_trimmed = statement("note_trimmed", "UPDATE {0}.lanes SET erasures_from = $2::int8 WHERE lane = $1::int4");
  note_writer = statement("note_writer",
                          "INSERT INTO {0}.writers (lane, writer, number, sequence, seen) "
                          "VALUES ($1::int4, $2::bytea, $3::int8, $4::int8, now()) ON CONFLICT (lane, writer) "
                          "DO UPDATE SET number = EXCLUDED.number, sequence = EXCLUDED.sequence, seen = EXCLUDED.seen");
  keep_writer = statement("keep_writer",
                          "INSERT INTO {0}.writers AS w (lane, writer, number, sequence, seen) "
                          "VALUES (0, $1::bytea, $2::int8, 0, now()) ON CONFLICT (lane, writer) "
                          "DO UPDATE SET number = greatest(w.number, EXCLUDED.number), seen = EXCLUDED.seen");
}

}  // namespace stator::storage::postgres
