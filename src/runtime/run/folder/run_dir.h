// A run directory. It is the only interface between training and the code that reads runs.
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
// - running: a process holds the run's lock
// - finished: training reached its end
// - stopped: it ended early and can be resumed
// - failed: it ended with an error, and state.json has the reason
// - interrupted: killed without a final state, or ended by a second interrupt
//
// The files of a run:
//
// RUN/
//   run.json        the record: recipe, plugin, resolved config, facts about model and data, plan,
//                   versions, devices by UUID, host, git state of the user's folder, start time
//   state.json      how it ended: {"state": "finished" | "stopped" | "failed" | "interrupted",
//                   "why", "time"}
//   events.jsonl    one {"kind": "step" | "eval" | "checkpoint" | "start" | …, "step", …} per line
//   samples.jsonl   with run.record_samples: {"step", "samples": [index, …]} in batch order
//   lock            see run_lock.h
//   logs/rankN.log, checkpoints/, recipe/ (files that the recipe needs for predict)

class RunDir {
 public:
  // Creates ROOT/NAME and calls `fill`, which writes its contents. The folder has a temporary name
  // until it is complete, and then it is renamed. So a killed process leaves only a temporary
  // folder, which a later `create` removes. An empty name becomes RECIPE-YYYYMMDD-HHMMSS, with -2
  // and so on if that name is taken. Throws Error if the name is taken or is not a plain file name,
  // or if the folder cannot be written. Also throws whatever `fill` throws. After an exception, no
  // folder is left.
  static RunDir create(
      const std::filesystem::path& root, const std::string& name, const std::string& recipe,
      const std::function<void(RunDir&)>& fill = [](RunDir&) {});
  // Throws Error if `create` would throw because of this name. An empty name is valid. Creates
  // nothing.
  static void check_new(const std::filesystem::path& root, const std::string& name);
  // Opens an existing run. run: its path, or its name in `root`. Throws Error with the most similar
  // name if there is no such run.
  static RunDir open(const std::string& run, const std::filesystem::path& root);

  // Takes the lock of the run for the lifetime of this object. Throws Error if another process
  // holds the lock; the message names that process and its host. Also throws Error if the run
  // directory is not writable, or if a folder that training writes into is a link.
  void lock();
  bool holds_lock() const { return lock_ != nullptr; }
  // These two functions pass the lock from the tool (`lockstep`), which created the run, to a rank.
  // No other process can take the lock in between. pass_lock_on sends the lock's descriptor through
  // a socket. adopt_lock takes the lock with the descriptor that arrived.
  void pass_lock_on(int socket);
  void adopt_lock(UniqueFd fd);
  bool locked_by_other() const;
  // The id of the process that holds the lock. Nothing if nobody or this process holds it, or if
  // the holder is on another machine.
  std::optional<int> holder() const;

  const std::filesystem::path& path() const { return path_; }
  std::string name() const;
  std::filesystem::path checkpoints() const;
  std::filesystem::path events_path() const;
  std::filesystem::path log_path(int rank) const;
  // Returns the folder of the ranks' logs, and creates it if needed. Throws Error if it cannot be
  // created, or if it is a link.
  std::filesystem::path make_logs() const;

  // the object in run.json; throws Error if it is missing or damaged
  nlohmann::json record() const;
  void write_record(const nlohmann::json& record) const;           // atomic
  void write_state(RunState state, const std::string& why) const;  // throws Error
  // Like write_state, for a run that is ending. An Error here would hide the reason why the run
  // ended. So this function returns the error message instead; it is empty on success.
  std::string try_write_state(RunState state, const std::string& why) const;
  RunState state() const;
  std::string state_reason() const;

 private:
  friend std::vector<RunDir> list_runs(const std::filesystem::path& root);
  explicit RunDir(std::filesystem::path path) : path_(std::move(path)) {}
  // Renames the folder to ROOT/BASE. If that name is taken, tries BASE-2 and so on, or throws Error
  // if must_be_free is true.
  void take_name(const std::filesystem::path& root, const std::string& base, bool must_be_free);
  bool rename_to(const std::filesystem::path& to);  // false if the name is taken
  void remove();
  std::filesystem::path path_;
  std::unique_ptr<RunLock> lock_;
};

const char* to_string(RunState state);

// The runs in `root`, newest first. Folders that are not runs are skipped.
std::vector<RunDir> list_runs(const std::filesystem::path& root);

// Returns {"commit", "branch", "dirty"} of the git work tree that contains `folder`. A member is
// null if it is unknown. Returns null if there is no such work tree, or if it has no commit.
nlohmann::json git_state(const std::filesystem::path& folder);

}  // namespace lockstep
