#include "stator/storage/postgres/postgres_statements.h"

#include <fmt/format.h>

#include <string>

namespace stator::storage::postgres {
namespace {

// The index finds the place by the head alone.
constexpr std::string_view kFrom = "(e.head, e.tail) >= ($2::bytea, $3::bytea)";
constexpr std::string_view kTo = "(e.head, e.tail) < ($4::bytea, $5::bytea)";
// The entries of the keys k, each found by the index.  The limit keeps the planner from joining in another way: without
// statistics, as in a new store, it expects few entries and would read all of the lane.
constexpr std::string_view kOfKeys =
    "CROSS JOIN LATERAL (SELECT e.ctid, e.value, e.changed FROM {}.entries e "
    "WHERE e.lane = $1::int4 AND e.head = k.head AND e.digest = k.digest LIMIT 1) AS e";

std::string page(std::string_view schema, bool forward, bool bounded) {
  const std::string order = forward ? "head, tail" : "head DESC, tail DESC";
  return fmt::format(
      "SELECT head, tail, value FROM ("
      "SELECT head, tail, value, sum(octet_length(value)) OVER (ORDER BY {3} ROWS UNBOUNDED PRECEDING) - "
      "octet_length(value) AS bytes_before FROM ("
      "SELECT e.head, e.tail, e.value FROM {0}.entries e WHERE e.lane = $1::int4 AND {1}{2} ORDER BY {3} LIMIT {4}"
      ") AS page) AS sized WHERE bytes_before < {5} ORDER BY {3}",
      schema, kFrom, bounded ? fmt::format(" AND {}", kTo) : "", order, bounded ? "$6::int8" : "$4::int8",
      bounded ? "$7::int8" : "$5::int8");
}

}  // namespace

Statements::Statements(std::string_view s) {
  const auto statement = [s](std::string name, std::string_view sql) {
    return Statement{std::move(name), fmt::format(fmt::runtime(sql), s, kFrom, kTo, fmt::format(kOfKeys, s))};
  };
  get = statement("get",
                  "SELECT l.fence, l.sequence, l.epoch, e.value FROM {0}.lanes l LEFT JOIN {0}.entries e "
                  "ON e.lane = l.lane AND e.head = $2::bytea AND e.digest = $3::bytea WHERE l.lane = $1::int4");
  get_all = statement("get_all",
                      "SELECT l.fence, l.sequence, l.epoch, found.ordinal, found.value FROM {0}.lanes l LEFT JOIN ("
                      "SELECT k.ordinal, e.value FROM unnest($2::bytea[], $3::bytea[]) WITH ORDINALITY "
                      "AS k(head, digest, ordinal) {3}) AS found ON true WHERE l.lane = $1::int4");
  lane = statement("lane", "SELECT fence, sequence, epoch FROM {0}.lanes WHERE lane = $1::int4");
  lane_locked =
      statement("lane_locked", "SELECT fence, sequence, epoch FROM {0}.lanes WHERE lane = $1::int4 FOR UPDATE");
  writer_number = statement("writer_number",
                            "SELECT number, sequence FROM {0}.writers WHERE lane = $1::int4 AND writer = $2::bytea");

  forward = {"forward", page(s, true, true)};
  forward_to_end = {"forward_to_end", page(s, true, false)};
  backward = {"backward", page(s, false, true)};
  backward_from_end = {"backward_from_end", page(s, false, false)};

  begin = statement("begin", "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE");
  begin_snapshot = statement("begin_snapshot", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  commit = statement("commit", "COMMIT");
  rollback = statement("rollback", "ROLLBACK");
  next_number = statement("next_number",
                          "UPDATE {0}.lanes SET sequence = sequence + 1 WHERE lane = $1::int4 AND fence = $2::int8 "
                          "RETURNING sequence, erasures_from, epoch");
  begin_epoch = statement("begin_epoch", "UPDATE {0}.lanes SET epoch = sequence WHERE lane = $1::int4");
  counters = statement("counters",
                       "SELECT k.ordinal, e.value FROM unnest($2::bytea[], $3::bytea[]) WITH ORDINALITY "
                       "AS k(head, digest, ordinal) {3}");
  keys_changed = statement(
      "keys_changed",
      "SELECT EXISTS (SELECT FROM unnest($2::bytea[], $3::bytea[]) AS k(head, digest) {3} WHERE e.changed > $5::int8) "
      "OR EXISTS (SELECT FROM {0}.erasures r JOIN unnest($4::bytea[]) AS k(key) "
      "ON r.begins <= k.key AND (r.ends = '' OR k.key < r.ends) WHERE r.lane = $1::int4 AND r.sequence > $5::int8)");
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
  erase_keys = statement("erase_keys",
                         "DELETE FROM {0}.entries WHERE lane = $1::int4 AND ctid = ANY (ARRAY("
                         "SELECT e.ctid FROM unnest($2::bytea[], $3::bytea[]) AS k(head, digest) {3}))");
  erase_range = statement("erase_range", "DELETE FROM {0}.entries e WHERE e.lane = $1::int4 AND {1} AND {2}");
  erase_range_to_end = statement("erase_range_to_end", "DELETE FROM {0}.entries e WHERE e.lane = $1::int4 AND {1}");
  put = statement("put",
                  "INSERT INTO {0}.entries (lane, head, digest, tail, value, changed) "
                  "SELECT $1::int4, k.head, k.digest, k.tail, k.value, $6::int8 "
                  "FROM unnest($2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[]) AS k(head, digest, tail, value) "
                  "ON CONFLICT (lane, head, digest) DO UPDATE SET value = EXCLUDED.value, changed = EXCLUDED.changed");
  note_erasures = statement("note_erasures",
                            "INSERT INTO {0}.erasures (lane, sequence, begins, ends) "
                            "SELECT $1::int4, $2::int8, k.begins, k.ends "
                            "FROM unnest($3::bytea[], $4::bytea[]) AS k(begins, ends)");
  trim_erasures = statement("trim_erasures", "DELETE FROM {0}.erasures WHERE lane = $1::int4 AND sequence <= $2::int8");
  note_trimmed = statement("note_trimmed", "UPDATE {0}.lanes SET erasures_from = $2::int8 WHERE lane = $1::int4");
  note_writer = statement("note_writer",
                          "INSERT INTO {0}.writers (lane, writer, number, sequence, seen) "
                          "VALUES ($1::int4, $2::bytea, $3::int8, $4::int8, now()) ON CONFLICT (lane, writer) "
                          "DO UPDATE SET number = EXCLUDED.number, sequence = EXCLUDED.sequence, seen = EXCLUDED.seen");
}

}  // namespace stator::storage::postgres
