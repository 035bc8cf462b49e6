// Stores stamps and hashes of source files.
#include "recipes/volume/prepare/find/source_index.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/base/error.h"
#include "core/base/files/fd.h"
#include "core/base/files/files.h"
#include "core/base/hash.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "recipes/volume/prepare/find/find_volumes.h"

namespace lockstep::volume {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::time_t still_changing_s = 2;

[[noreturn]] void fail_to_read(const fs::path& path, int error) {
  throw Error(cat("cannot read ", path.string(), ": ", errno_text(error)),
              "check the path and the permissions of the file");
}

struct stat status_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) fail_to_read(path, errno);
  return status;
}

std::vector<fs::path> slices_of(const fs::path& folder) {
  std::vector<fs::path> slices;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (!entry->path().filename().string().starts_with('.') && is_slice(entry->path()))
      slices.push_back(entry->path());
  if (error) fail_to_read(folder, error.value());
  std::sort(slices.begin(), slices.end());
  return slices;
}

std::string file_stamp(const struct stat& status) {
  return cat(status.st_size, " ", status.st_mtim.tv_sec, ".", status.st_mtim.tv_nsec, " ",
             status.st_ino);
}

void add_content(Hasher& hasher, const fs::path& path) {
  const UniqueFd fd = open_regular_file(path);
  std::vector<char> buffer(std::size_t{1} << 20);
  for (;;) {
    const ssize_t count = ::read(fd.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_to_read(path, errno);
    if (count == 0) return;
    hasher.update(buffer.data(), static_cast<std::size_t>(count));
  }
}

bool changed_just_now(const fs::path& source) {
  const std::time_t now = std::time(nullptr);
  const auto just_now = [&](const fs::path& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) != 0 || status.st_mtim.tv_sec + still_changing_s >= now;
  };
  std::error_code ignored;
  if (!fs::is_directory(source, ignored)) return just_now(source);
  const std::vector<fs::path> slices = slices_of(source);
  return std::any_of(slices.begin(), slices.end(), just_now);
}

}  // namespace

std::string stamp_of(const fs::path& source) {
  const struct stat status = status_of(source);
  if (!S_ISDIR(status.st_mode)) return file_stamp(status);
  Hasher hasher;
  for (const fs::path& slice : slices_of(source))
    hasher.update(cat(slice.filename().string(), "\n", file_stamp(status_of(slice)), "\n"));
  return hasher.hex();
}

std::string content_hash(const fs::path& source) {
  Hasher hasher;
  std::error_code ignored;
  if (!fs::is_directory(source, ignored)) {
    add_content(hasher, source);
    return hasher.hex();
  }
  for (const fs::path& slice : slices_of(source)) {
    hasher.update(cat(slice.filename().string(), "\n", status_of(slice).st_size, "\n"));
    add_content(hasher, slice);
  }
  return hasher.hex();
}

SourceIndex::SourceIndex(fs::path path) : path_(std::move(path)), entries_(load(path_)) {}

std::map<std::string, SourceIndex::Entry> SourceIndex::load(const fs::path& path) try {
  std::map<std::string, Entry> entries;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return entries;
  const json whole = parse_json(read_file(path, list_bytes));
  if (!whole.is_object()) return entries;
  for (const auto& [source, entry] : whole.items())
    entries[source] = {.stamp = entry.at("stamp"), .hash = entry.at("hash")};
  return entries;
} catch (const json::exception&) {
  return {};
} catch (const Error&) {
  return {};
}

std::optional<std::string> SourceIndex::hash_of(const fs::path& source,
                                                const std::string& stamp) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(source.string());
  if (found == entries_.end() || found->second.stamp != stamp) return std::nullopt;
  return found->second.hash;
}

void SourceIndex::remember(const fs::path& source, const std::string& stamp,
                           const std::string& hash) {
  if (changed_just_now(source)) return;
  const std::lock_guard lock(mutex_);
  entries_[source.string()] = added_[source.string()] = {stamp, hash};
}

void SourceIndex::save() {
  const std::lock_guard lock(mutex_);
  if (added_.empty()) return;
  std::map<std::string, Entry> all = load(path_);
  for (const auto& [source, entry] : added_) all[source] = entry;
  json whole = json::object();
  std::error_code ignored;
  for (const auto& [source, entry] : all)
    if (fs::exists(source, ignored)) whole[source] = {{"stamp", entry.stamp}, {"hash", entry.hash}};
  write_file_atomic(path_, whole.dump(0, ' ', false, json::error_handler_t::replace) + "\n");
  added_.clear();
}

}  // namespace lockstep::volume
