// The state of a run: its lock, its record and how it ended.
#include <array>
#include <cerrno>

#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/files/beneath.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/folder/run_dir.h"

namespace lockstep {
namespace {

constexpr std::array<const char*, 5> state_names = {"running", "finished", "stopped", "failed",
                                                    "interrupted"};

// Returns null if there is no file. For an unreadable file, the state is "interrupted" and the
// reason is the error.
nlohmann::json read_state(const std::filesystem::path& run) {
  const std::filesystem::path file = run / "state.json";
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return nullptr;
  try {
    return parse_object(read_file(file));
  } catch (const Error& error) {
    return {{"state", to_string(RunState::interrupted)}, {"why", error.what()}};
  }
}

}  // namespace

const char* to_string(RunState state) { return state_names[static_cast<std::size_t>(state)]; }

void RunDir::lock() {
  const Beneath run(path_);  // a fault shows before training and not at the first save
  for (const char* folder : {"checkpoints", "logs", "tensorboard", "evaluations", "media"})
    if (const auto found = run.status(folder); found && !S_ISDIR(found->st_mode))
      run.fail("write into", folder, ENOTDIR);
  if (!lock_) lock_ = RunLock::take(path_ / "lock", lock_rules(path_));
}

void RunDir::pass_lock_on(int socket) {
  LOCKSTEP_CHECK(lock_);
  lock_->pass_on(socket);
}

void RunDir::adopt_lock(UniqueFd fd) { lock_ = RunLock::adopt(std::move(fd), lock_rules(path_)); }

bool RunDir::locked_by_other() const {
  return !lock_ && lock_holder(path_ / "lock", lock_rules(path_)).has_value();
}

std::optional<int> RunDir::holder() const {
  if (lock_) return std::nullopt;
  const LockRules rules = lock_rules(path_);
  const std::optional<LockHolder> holder = lock_holder(path_ / "lock", rules);
  if (!holder || holder->pid <= 0 || holder->machine != rules.machine) return std::nullopt;
  return static_cast<int>(holder->pid);
}

nlohmann::json RunDir::record() const {
  const std::filesystem::path path = path_ / "run.json";
  nlohmann::json record = parse_object(read_file(path));
  if (record.is_discarded())
    throw Error(cat(path.string(), " is damaged: it is not a JSON object"),
                "start a new run; the checkpoints of this one are safetensors files that can be "
                "read without it");
  return record;
}

void RunDir::write_record(const nlohmann::json& record) const {
  const std::string text =
      record.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (text.size() > record_bytes)  // a longer record could not be read
    throw Error(
        cat("the record of the run would have ", format_bytes(static_cast<double>(text.size())),
            ", more than the limit of ", format_bytes(static_cast<double>(record_bytes))),
        "the recipe should keep what is that large in a file of the run's folder recipe");
  write_file_atomic(path_ / "run.json", text);
}

void RunDir::write_state(RunState state, const std::string& why) const {
  const nlohmann::json value = {
      {"state", to_string(state)}, {"why", why}, {"time", system_clock().wall_s()}};
  write_file_atomic(path_ / "state.json", to_line(value) + "\n");
}

std::string RunDir::try_write_state(RunState state, const std::string& why) const {
  try {
    write_state(state, why);
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

RunState RunDir::state() const {
  if (lock_ || locked_by_other()) return RunState::running;
  const std::string word = text_or(read_state(path_), "state", "");
  for (const RunState state : {RunState::finished, RunState::stopped, RunState::failed})
    if (word == to_string(state)) return state;
  // "running" is included, because the run ended without a later state.
  return RunState::interrupted;
}

std::string RunDir::state_reason() const {
  const RunState now = state();
  if (now == RunState::running) return "";
  const nlohmann::json last = read_state(path_);
  if (now == RunState::interrupted && text_or(last, "state", "") != to_string(now))
    return "it ended without a word: killed, or the machine went down";
  return text_or(last, "why", "");
}

}  // namespace lockstep
