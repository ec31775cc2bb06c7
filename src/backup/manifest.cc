#include "stator/backup/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "stator/backup/checksum.h"
#include "stator/value/json.h"

namespace stator::backup {
namespace {

// On disk: a line with the format and the checksum of all that follows, then JSON.
constexpr std::string_view kHead = "stator-backup 1 ";
constexpr std::size_t kMaxNameBytes = 100;
constexpr std::size_t kMaxContentIdBytes = 64;
constexpr std::string_view kNoContentId = "none";

Error corrupt(std::string_view what) { return {ErrorCode::Corruption, fmt::format("the manifest {}", what)}; }

bool is_hex(std::string_view text) { return text.find_first_not_of("0123456789abcdef") == std::string_view::npos; }

bool is_name(std::string_view name, std::string_view more) {
  if (name.empty() || name.size() > kMaxNameBytes || name.front() == '.') return false;
  return std::all_of(name.begin(), name.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || more.find(c) != more.npos;
  });
}

Result<std::string> text_of(const value::JsonObject& object, std::string_view name) {
  const auto text = object.get<std::string_view>(name);
  if (!text) return corrupt(fmt::format("has no text {}", name));
  return std::string(*text);
}

Result<std::uint64_t> number_of(const value::JsonObject& object, std::string_view name) {
  const auto number = object.get<std::uint64_t>(name);
  if (!number) return corrupt(fmt::format("has no number {}", name));
  return *number;
}

Result<BackupFile> decode_file(const value::JsonElement& json) {
  value::JsonObject object;
  if (!json.get(object)) return corrupt("has a file that is no object");
  BackupFile file;
  file.name = TRY(text_of(object, "name"));
  file.size_bytes = TRY(number_of(object, "size"));
  file.checksum = TRY(text_of(object, "checksum"));
  file.content_id = TRY(text_of(object, "content_id"));
  if (!is_file_name(file.name)) return corrupt("names a file that no data folder has");
  if (!is_hex(file.checksum) || file.checksum.size() != kChecksumDigits) return corrupt("has a bad checksum");
  if (!is_content_id(file.content_id)) return corrupt("has a bad content id");
  return file;
}

}  // namespace

bool is_file_name(std::string_view name) { return is_name(name, "._-"); }
bool is_content_id(std::string_view id) { return id.size() <= kMaxContentIdBytes && is_hex(id); }
bool is_backup_id(std::string_view id) { return is_name(id, "-"); }

std::string BackupFile::object_name() const {
  return fmt::format("{}-{}-{}", content_id.empty() ? kNoContentId : std::string_view(content_id), checksum,
                     size_bytes);
}

Result<BackupFile> parse_object_name(std::string_view name) {
  const auto first = name.find('-');
  const auto second = name.find('-', first == name.npos ? first : first + 1);
  BackupFile file;
  if (first != name.npos && second != name.npos) {
    file.content_id = name.substr(0, first);
    if (file.content_id == kNoContentId) file.content_id.clear();
    file.checksum = name.substr(first + 1, second - first - 1);
    const auto digits = name.substr(second + 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), file.size_bytes);
  }
  const bool valid = is_content_id(file.content_id) && is_hex(file.checksum) && file.object_name() == name;
  if (!valid) return Error{ErrorCode::Corruption, fmt::format("{} is not the name of a file of a backup", name)};
  return file;
}

std::uint64_t Backup::size_bytes() const {
  std::uint64_t total = 0;
  for (const auto& file : files) total += file.size_bytes;
  return total;
}

Bytes encode_manifest(const Backup& backup) {
  std::string json;
  value::JsonWriter writer(json);
  writer.begin_object().key("id").string(backup.id).key("source").string(backup.source);
  writer.key("last_commit").integer(static_cast<std::int64_t>(backup.last_commit.value)).key("files").begin_array();
  for (const auto& file : backup.files) {
    writer.begin_object().key("name").string(file.name).key("size").integer(static_cast<std::int64_t>(file.size_bytes));
    writer.key("checksum").string(file.checksum).key("content_id").string(file.content_id).end_object();
  }
  writer.end_array().end_object();
  json += '\n';
  return fmt::format("{}{}\n{}", kHead, checksum_of(json), json);
}

Result<Backup> decode_manifest(BytesView bytes) {
  if (!bytes.starts_with(kHead)) return corrupt("has an unknown format; a newer stator may have made it");
  bytes.remove_prefix(kHead.size());
  const auto end = bytes.find('\n');
  if (end == bytes.npos || checksum_of(bytes.substr(end + 1)) != bytes.substr(0, end)) {
    return corrupt("does not have its checksum");
  }
  value::JsonParser parser;
  const auto json = TRY(parser.parse(bytes.substr(end + 1)));
  value::JsonObject object;
  if (!json.get(object)) return corrupt("is no object");
  Backup backup;
  backup.id = TRY(text_of(object, "id"));
  backup.source = TRY(text_of(object, "source"));
  backup.last_commit = {TRY(number_of(object, "last_commit"))};
  if (!is_backup_id(backup.id)) return corrupt("has a bad id");
  const auto files = object.get<value::JsonArray>("files");
  if (!files) return corrupt("has no files");
  for (const auto file : *files) backup.files.push_back(TRY(decode_file(file)));
  return backup;
}

}  // namespace stator::backup
