// A run directory: the only contract between training and everything that reads it.
#pragma once

#include "core/base/files/fd.h"
#include "runtime/run/folder/run_lock.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

enum class RunState { running, finished, stopped, failed, interrupted };
//                    locked   all done  resumable       no word of its end and no lock: killed;
//                                                       or at a second interrupt

// RUN/
//   run.json        the record: recipe, plugin, resolved config, facts, plan, versions, devices by
//                   UUID, host, git state of the user's folder, start time
//   state.json      how it ended: {"state": "finished" | "stopped" | "failed" | "interrupted",
//                   "why", "time"}
//   events.jsonl    {"kind": "step" | "eval" | "checkpoint" | "start" | …, "step", …} a line
//   samples.jsonl   with run.record_samples: {"step", "samples": [index, …]} in order of place
//   lock            see run_lock.h
//   logs/rankN.log, checkpoints/, recipe/ (what the recipe keeps for predict)
class RunDir {
 public:
  // Creates ROOT/NAME with the contents that `fill` writes. The folder has a temporary name until
  // it is whole, then it is renamed. If the process is killed before that, nothing looks like a
  // run, and a later `create` removes the remains. An empty name becomes
  // RECIPE-YYYYMMDD-HHMMSS[-2…]. Throws Error if the name is taken (hint: another name, or resume),
  // not writable, or not a plain file name. Also throws whatever `fill` throws; nothing is left
  // then.
  static RunDir create(
      const std::filesystem::path& root, const std::string& name, const std::string& recipe,
      const std::function<void(RunDir&)>& fill = [](RunDir&) {});
  // Throws Error if `create` would throw one because of the name. Creates nothing. An empty name is
  // valid.
  static void check_new(const std::filesystem::path& root, const std::string& name);
  // Opens an existing run given as a path or as a name under `root`. Throws Error naming the
  // nearest if there is no such run.
  static RunDir open(const std::string& run, const std::filesystem::path& root);

  // Takes the lock for the lifetime of this object. Throws Error naming the holder's process id and
  // host if another process holds it. Also throws if the folder is not writable, or if a link
  // replaces a folder that training writes into.
  void lock();
  bool holds_lock() const { return lock_ != nullptr; }
  // Both hand the lock from the tool to the rank for which the tool set up the run. No other
  // process can take the lock in between.
  void pass_lock_on(int socket);
  void adopt_lock(UniqueFd fd);
  bool locked_by_other() const;
  // The process that holds the lock, if it is another one on this machine.
  std::optional<int> holder() const;

  const std::filesystem::path& path() const { return path_; }
  std::string name() const;
  std::filesystem::path checkpoints() const;
  std::filesystem::path events_path() const;
  std::filesystem::path log_path(int rank) const;
  // The folder of the ranks' logs, created if missing. Throws Error, also if a link is in its
  // place.
  std::filesystem::path make_logs() const;

  nlohmann::json record() const;  // run.json; throws Error if absent or damaged
  void write_record(const nlohmann::json& record) const;           // atomic
  void write_state(RunState state, const std::string& why) const;  // throws Error
  // The same for a run that ends: a failure to write must not hide why the run ended. Returns that
  // failure, or "".
  std::string try_write_state(RunState state, const std::string& why) const;
  RunState state() const;
  std::string state_reason() const;

 private:
  friend std::vector<RunDir> list_runs(const std::filesystem::path& root);
  explicit RunDir(std::filesystem::path path) : path_(std::move(path)) {}
  // Renames it to ROOT/BASE, or if that is taken to BASE-2 and so on.
  void take_name(const std::filesystem::path& root, const std::string& base, bool must_be_free);
  bool rename_to(const std::filesystem::path& to);  // false if something with that name exists
  void remove();
  std::filesystem::path path_;
  std::unique_ptr<RunLock> lock_;
};

const char* to_string(RunState state);

// Runs under `root`, newest first. Folders that are not runs are skipped.
std::vector<RunDir> list_runs(const std::filesystem::path& root);

// The commit and branch of the git work tree around `folder`, and whether it is dirty. Null if
// there is none.
nlohmann::json git_state(const std::filesystem::path& folder);

}  // namespace lockstep
