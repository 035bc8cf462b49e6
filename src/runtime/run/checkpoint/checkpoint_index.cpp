// Finds, checks and removes checkpoints.
#include "runtime/run/checkpoint/checkpoint_index.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "core/base/error.h"
#include "core/base/files/beneath.h"
#include "core/base/files/fd.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "runtime/run/checkpoint/checkpoint_names.h"
#include "runtime/run/checkpoint/manifest.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep {
namespace fs = std::filesystem;
namespace {

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    paths.push_back(entry->path());
  return paths;
}

// The folder of each step. A folder that was moved aside is used if its replacement is missing.
std::map<std::int64_t, fs::path> folders_by_step(const fs::path& checkpoints) {
  std::map<std::int64_t, fs::path> folders, aside;
  for (const fs::path& path : entries_of(checkpoints)) {
    const std::string name = path.filename().string();
    if (const auto step = step_of(name)) folders[*step] = path;
    if (name.starts_with(aside_prefix))
      if (const auto step =
              step_of(std::string_view(name).substr(std::string(aside_prefix).size())))
        aside[*step] = path;
  }
  folders.merge(aside);
  return folders;
}

std::uint64_t bytes_in(const fs::path& folder) {
  std::uint64_t bytes = 0;
  for (const fs::path& path : entries_of(folder)) {
    struct stat info = {};
    if (stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode))
      bytes += static_cast<std::uint64_t>(info.st_size);
  }
  return bytes;
}

std::string damage_of_manifest(const fs::path& folder, CheckpointInfo& info, Manifest& manifest) {
  std::error_code error;
  const fs::path path = folder / manifest_name;
  if (!fs::exists(path, error) && !error) return cat(manifest_name, ": missing");
  try {
    manifest = parse_manifest(read_file(path));
  } catch (const Error& problem) {
    return cat(manifest_name, ": ", problem.what());
  }
  info.time = manifest.time;
  info.metrics = manifest.metrics;
  if (manifest.step != info.step) return cat(manifest_name, ": is of step ", manifest.step);
  return "";
}

// Returns nothing if the folder has been removed meanwhile.
std::optional<CheckpointInfo> inspect(const fs::path& folder, std::int64_t step, bool thorough) {
  CheckpointInfo info{.path = folder, .step = step, .metrics = nullptr, .damage = {}};
  struct stat status = {};
  if (stat(folder.c_str(), &status) == 0) info.time = static_cast<double>(status.st_mtime);
  info.size_bytes = bytes_in(folder);
  Manifest manifest;
  info.damage = damage_of_manifest(folder, info, manifest);
  if (info.damage.empty()) info.damage = damage_of_files(folder, manifest, thorough);
  std::error_code error;
  if (!info.damage.empty() && !fs::exists(folder, error)) return std::nullopt;
  return info;
}

// A writer holds a lock on its folder. On NFS, folders cannot be locked. The caller holds the lock
// of the run, so no writer can be alive there.
bool is_being_written(const Beneath& run, const fs::path& folder) {
  const UniqueFd fd = run.open(folder, O_RDONLY | O_DIRECTORY);
  return fd && flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

// The first entry that is not a checkpoint file. Empty if there is none.
std::string foreign_file_in(const Beneath& run, const fs::path& folder) {
  std::vector<std::string> names = run.names_in(folder);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    const auto found = run.status(folder / name);
    if (!is_file_of_checkpoint(name) || (found && S_ISDIR(found->st_mode))) return name;
  }
  return "";
}

}  // namespace

std::vector<CheckpointInfo> list_checkpoints(const fs::path& checkpoints, bool thorough) {
  std::vector<CheckpointInfo> found;
  for (const auto& [step, folder] : folders_by_step(checkpoints))
    if (auto info = inspect(folder, step, thorough)) found.push_back(std::move(*info));
  return found;
}

std::optional<CheckpointInfo> newest_good(
    const fs::path& checkpoints, const std::function<void(const CheckpointInfo&)>& skipped) {
  const auto folders = folders_by_step(checkpoints);
  for (auto entry = folders.rbegin(); entry != folders.rend(); ++entry) {
    const auto info = inspect(entry->second, entry->first, true);
    if (info && info->damage.empty()) return info;
    if (info && skipped) skipped(*info);
  }
  return std::nullopt;
}

double elapsed_s(const CheckpointInfo& checkpoint) try {
  const nlohmann::json state = nlohmann::json::parse(read_file(checkpoint.path / "state.json"));
  return number_or(state, "elapsed_s", 0);
} catch (const std::exception&) {
  return 0;
}

bool is_evaluated(const CheckpointInfo& checkpoint) {
  const nlohmann::json& metrics = checkpoint.metrics;
  return metrics.is_object() && metrics.contains("selection") && metrics["selection"].is_number();
}

std::optional<CheckpointInfo> best_good(const fs::path& checkpoints,
                                        std::vector<CheckpointInfo>& damaged) {
  std::optional<CheckpointInfo> best;
  for (CheckpointInfo& info : list_checkpoints(checkpoints, true)) {
    if (!info.damage.empty()) damaged.push_back(info);
    if (!info.damage.empty() || !is_evaluated(info)) continue;
    const double value = info.metrics["selection"];
    if (!best || value < best->metrics["selection"].get<double>()) best = info;
  }
  return best;
}

std::optional<CheckpointInfo> checkpoint_to_read(const fs::path& checkpoints, bool best,
                                                 std::vector<CheckpointInfo>& skipped) {
  if (best)
    if (auto found = best_good(checkpoints, skipped)) return found;
  skipped.clear();
  return newest_good(checkpoints, [&](const CheckpointInfo& bad) { skipped.push_back(bad); });
}

void throw_no_checkpoint(const std::string& run, const std::vector<CheckpointInfo>& skipped) {
  throw Error(skipped.empty() ? cat("run ", run, " has no checkpoint yet")
                              : cat("run ", run, " has damaged checkpoints only; the newest, ",
                                    skipped[0].path.filename().string(), ": ", skipped[0].damage),
              cat("see: lockstep runs ", shell_word(run)));
}

void remove_leftovers(const fs::path& checkpoints) {
  std::error_code ignored;
  if (!fs::exists(checkpoints, ignored)) return;
  const Beneath run(checkpoints.parent_path());
  const fs::path folder = checkpoints.filename();
  for (const std::string& name : run.names_in(folder)) {
    const fs::path path = folder / name;
    if (name.starts_with(temporary_prefix)) {
      if (!is_being_written(run, path)) run.remove_folder(path, is_file_of_checkpoint);
    } else if (name.starts_with(aside_prefix)) {
      const fs::path final_path = folder / name.substr(std::string_view(aside_prefix).size());
      if (run.status(final_path))
        run.remove_folder(path, is_file_of_checkpoint);
      else
        run.rename(path, final_path);
    }
  }
}

void remove_checkpoint(const CheckpointInfo& checkpoint) {
  const fs::path checkpoints = checkpoint.path.parent_path();
  const Beneath run(checkpoints.parent_path());
  const fs::path path = checkpoints.filename() / checkpoint.path.filename();
  const fs::path doomed =
      checkpoints.filename() /
      cat(temporary_prefix, "removed-", checkpoint_name(checkpoint.step), "-", getpid());
  run.remove_folder(doomed, is_file_of_checkpoint);
  if (run.holds_only_files(path, is_file_of_checkpoint) && run.rename(path, doomed) &&
      run.remove_folder(doomed, is_file_of_checkpoint))
    return;
  const int error = errno;
  if (const std::string foreign = foreign_file_in(run, path); !foreign.empty())
    throw Error(cat("cannot remove checkpoint ", checkpoint.path.string(), ": it holds ", foreign,
                    ", which is no file of a checkpoint"),
                "move that elsewhere, or remove the folder yourself");
  run.fail("remove checkpoint", path, error);
}

}  // namespace lockstep
