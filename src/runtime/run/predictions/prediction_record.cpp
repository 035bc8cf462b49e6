// Reads and writes prediction records. Each line is the checksum of its CBOR, and then the CBOR in
// base64, because names and outputs may be any bytes.
#include "runtime/run/predictions/prediction_record.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/files/beneath.h"
#include "core/base/files/files.h"
#include "core/base/hash.h"
#include "core/base/json/json.h"
#include "core/base/text/base64.h"
#include "core/base/text/text.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/predictions/prediction_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int record_version = 1;
constexpr const char* held_suffix = ".held";
constexpr std::size_t checksum_size = 32;

std::int64_t mtime_ns_of(const struct stat& info) {
  constexpr std::int64_t ns_per_s = 1'000'000'000;
  return info.st_mtim.tv_sec * ns_per_s + info.st_mtim.tv_nsec;
}

std::string hash_of_file(int fd) {
  Hasher hasher;
  char buffer[1 << 16];
  for (ssize_t got; (got = read(fd, buffer, sizeof buffer)) != 0;) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return "";
    hasher.update(buffer, static_cast<std::size_t>(got));
  }
  return hasher.hex();
}

std::string line_of(const json& value) {
  std::string bytes;
  json::to_cbor(value, bytes);
  return hash128_hex(bytes) + to_base64(bytes);
}

// Returns a discarded value if the line is damaged.
json value_of(std::string_view line) {
  json none(json::value_t::discarded);
  if (line.size() < checksum_size) return none;
  const auto bytes = from_base64(line.substr(checksum_size));
  if (!bytes || hash128_hex(*bytes) != line.substr(0, checksum_size)) return none;
  return parse_cbor(*bytes);
}

json packed_files(const std::vector<OutputStamp>& files) {
  json all = json::array();
  for (const OutputStamp& file : files)
    all.push_back({file.name, file.held, file.bytes, file.mtime_ns, file.hash});
  return all;
}

std::vector<OutputStamp> unpacked_files(const json& all) {
  std::vector<OutputStamp> files;
  for (const json& file : all)
    files.push_back({.name = file.at(0),
                     .held = file.at(1),
                     .bytes = file.at(2),
                     .mtime_ns = file.at(3),
                     .hash = file.at(4)});
  return files;
}

json packed_part(const RecordedPart& part) {
  json items = json::array();
  for (const RecordedItem& item : part)
    items.push_back({item.key, item.id, packed_files(item.files), item.bytes, item.in_file,
                     item.fault, item.warning});
  return items;
}

RecordedPart unpacked_part(const json& items, bool with_bytes) {
  RecordedPart part;
  for (const json& item : items)
    part.push_back({.key = item.at(0),
                    .id = item.at(1),
                    .files = unpacked_files(item.at(2)),
                    .bytes = with_bytes ? item.at(3).get<std::string>() : "",
                    .in_file = item.at(4),
                    .fault = item.at(5),
                    .warning = item.at(6)});
  return part;
}

json packed_head(const RecordHead& head) {
  return {{"version", record_version},
          {"identity", head.identity},
          {"list", head.list},
          {"device", head.device},
          {"replaces", head.replaces}};
}

RecordHead unpacked_head(const json& head) {
  return {.identity = head.at("identity"),
          .list = head.at("list"),
          .device = head.at("device"),
          .replaces = head.at("replaces")};
}

// Throws nlohmann::json::exception if the line has another form.
void take_entry(const json& line, const RecordPlace& place, PredictionRecord& record) {
  if (line.contains("part"))
    record.parts.push_back({.items = unpacked_part(line["part"], false), .place = place});
  if (line.contains("joint")) record.joint = unpacked_files(line["joint"]);
  if (line.contains("partial")) record.partial = unpacked_files(line["partial"]);
}

std::optional<PredictionRecord> read_record(const fs::path& file) {
  PredictionRecord record{.file = file};
  std::int64_t offset = 0;
  bool is_known = false;
  const auto take = [&](const std::string& text) {
    const RecordPlace place{.offset = offset, .bytes = std::ssize(text)};
    offset += place.bytes + 1;
    const json line = value_of(text);
    if (!line.is_object()) return;
    try {
      if (place.offset == 0) {
        is_known = line.at("version") == record_version;
        if (is_known) record.head = unpacked_head(line);
      } else if (is_known) {
        take_entry(line, place, record);
      }
      // The checksum fits, but not the content, so the line is ignored.
    } catch (const json::exception&) {
    }
  };
  try {
    for_each_line(file, take, list_bytes);
  } catch (const Error&) {
    return std::nullopt;
  }
  if (!is_known) return std::nullopt;
  return record;
}

// Returns false for a file that cannot be opened or locked.
bool is_in_use(const Beneath& folder, const fs::path& below) {
  const UniqueFd fd = folder.open(below, O_RDWR);
  return fd && flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

[[noreturn]] void fail_to_write(const fs::path& path, int error) {
  throw Error(cat("cannot write ", path.string(), ": ", errno_text(error)),
              error == ENOSPC || error == EDQUOT
                  ? "free some space, or name a folder on another disk with out="
                  : "name a folder that you can write to with out=");
}

std::string stamp_of_input(const fs::path& path) {
  struct stat info {};
  if (path.empty() || stat(path.c_str(), &info) != 0) return "";
  if (!S_ISDIR(info.st_mode)) return cat(info.st_size, " ", mtime_ns_of(info));
  std::vector<std::string> files;  // for an item that is a folder, such as one of slices
  std::error_code error;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error))
    if (stat(entry->path().c_str(), &info) == 0 && S_ISREG(info.st_mode))
      files.push_back(
          cat(entry->path().filename().string(), " ", info.st_size, " ", mtime_ns_of(info)));
  std::sort(files.begin(), files.end());
  return join(files, "\n");
}

}  // namespace

OutputStamp stamp_output(const fs::path& file, const std::string& name) {
  const UniqueFd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat info {};
  if (!fd || fsync(fd.get()) != 0 || fstat(fd.get(), &info) != 0) fail_to_write(file, errno);
  OutputStamp stamp{.name = name,
                    .held = {},
                    .bytes = static_cast<std::uint64_t>(info.st_size),
                    .mtime_ns = mtime_ns_of(info),
                    .hash = hash_of_file(fd.get())};
  if (stamp.hash.empty()) fail_to_write(file, errno);
  return stamp;
}

bool is_unchanged(const Beneath& folder, const std::string& file, const OutputStamp& output) {
  if (!fault_of_output_name(file).empty()) return false;
  const auto info = folder.status(file);
  if (!info || !S_ISREG(info->st_mode) || static_cast<std::uint64_t>(info->st_size) != output.bytes)
    return false;
  if (mtime_ns_of(*info) == output.mtime_ns) return true;
  const UniqueFd fd = folder.open(file, O_RDONLY);
  return fd && hash_of_file(fd.get()) == output.hash;
}

std::string item_key(const PredictItem& item) {
  std::string bytes, stamps = stamp_of_input(item.path);
  for (const std::string& file : item.further) stamps += cat("\n", stamp_of_input(file));
  json::to_cbor({item.id, item.text, item.output, stamps}, bytes);
  return hash128_hex(bytes);
}

std::string list_key(const std::vector<std::string>& item_keys) {
  Hasher hasher;
  for (const std::string& key : item_keys) hasher.update(key);
  return hasher.hex();
}

RecordWriter::RecordWriter(fs::path path, UniqueFd fd)
    : path_(std::move(path)), fd_(std::move(fd)) {
  // A process that checks the lock holds it for a moment. If locks are not supported, others cannot
  // see that the file is in use.
  while (flock(fd_.get(), LOCK_SH) != 0 && errno == EINTR) {
  }
}

RecordWriter RecordWriter::create(const fs::path& folder, const RecordHead& head) {
  const Beneath outputs(folder);
  if (!outputs.make_folder(records_name)) outputs.fail("create folder", records_name, errno);
  constexpr double ns_per_s = 1e9;
  for (auto number = static_cast<std::int64_t>(system_clock().wall_s() * ns_per_s);; ++number) {
    const fs::path name = fs::path(records_name) / cat(number);  // the name sorts by age
    UniqueFd fd = outputs.open(name, O_RDWR | O_CREAT | O_EXCL | O_APPEND);
    if (!fd && errno == EEXIST) continue;
    if (!fd) fail_to_write(folder / name, errno);
    RecordWriter record(folder / name, std::move(fd));
    record.append(packed_head(head));
    outputs.sync(records_name);
    return record;
  }
}

RecordWriter RecordWriter::open(const fs::path& file) { return {file, open_lines(file)}; }

RecordPlace RecordWriter::append(const json& value) {
  const std::string line = line_of(value);
  const off_t begin = lseek(fd_.get(), 0, SEEK_END);
  if (begin < 0 || !append_line(fd_.get(), line) || fdatasync(fd_.get()) != 0)
    fail_to_write(path_, errno);
  return {.offset = begin, .bytes = std::ssize(line)};
}

RecordPlace RecordWriter::add(const RecordedPart& part) {
  return append({{"part", packed_part(part)}});
}

void RecordWriter::add_joint(const std::vector<OutputStamp>& files) {
  append({{"joint", packed_files(files)}});
}

void RecordWriter::add_partial(const std::vector<OutputStamp>& files) {
  append({{"partial", packed_files(files)}});
}

std::vector<PredictionRecord> read_records(const fs::path& folder) {
  std::vector<PredictionRecord> records;
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return records;
  const Beneath outputs(folder);
  if (outputs.link_to(records_name)) return records;
  std::vector<std::string> names = outputs.names_in(records_name);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    const fs::path below = fs::path(records_name) / name;
    const auto info = outputs.status(below);
    if (!info || !S_ISREG(info->st_mode)) continue;
    auto record = read_record(folder / below);
    if (!record) continue;
    record->in_use = is_in_use(outputs, below);
    records.push_back(std::move(*record));
  }
  return records;
}

RecordedPart read_part(const fs::path& file, const RecordPlace& place) try {
  const UniqueFd fd = open_regular_file(file);
  std::string line(static_cast<std::size_t>(place.bytes), '\0');
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t got = pread(fd.get(), line.data() + done, line.size() - done,
                              static_cast<off_t>(place.offset) + static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw Error(cat("cannot read ", file.string(), ": it is shorter than it was"));
    done += static_cast<std::size_t>(got);
  }
  return unpacked_part(value_of(line).at("part"), true);
} catch (const json::exception&) {
  throw Error(cat("cannot read ", file.string(), ": it has changed meanwhile"),
              "remove it: what it names is predicted again then");
}

fs::path make_held_folder(const fs::path& record) {
  const fs::path folder = record.string() + held_suffix;
  std::error_code error;
  fs::create_directory(folder, error);
  if (error) fail_to_write(folder, error.value());
  return folder;
}

void remove_held_folder(const fs::path& record) {
  std::error_code ignored;
  fs::remove_all(record.string() + held_suffix, ignored);
}

void remove_record(const fs::path& record) {
  std::error_code ignored;
  fs::remove(record, ignored);
  remove_held_folder(record);
}

}  // namespace lockstep
