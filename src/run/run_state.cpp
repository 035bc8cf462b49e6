// What a run says of itself: its lock, its record and how it ended.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "base/host_name.h"
#include "base/text.h"
#include "run/lines.h"
#include "run/run_dir.h"

namespace lockstep {
namespace {

constexpr std::array<const char*, 5> state_names = {"running", "finished", "stopped", "failed",
                                                    "interrupted"};

// Takes the lock without waiting, but for the moment that a reader of the state may hold it.
bool take_lock(int fd, const std::string& path) {
  for (int attempt = 0;; ++attempt) {
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK)
      throw Error(cat("cannot lock ", path, ": ", errno_text(errno)),
                  "set run.root to a folder on a file system with locks");
    if (attempt == 20) return false;
    system_clock().sleep_s(0.01);
  }
}

std::string holder_of(const std::filesystem::path& path) {
  try {
    const nlohmann::json holder = parse_object(read_file(path));
    if (holder.is_object())
      return cat("process ", integer_or(holder, "pid", 0), " on ",
                 text_or(holder, "host", "unknown host"));
  } catch (const Error&) {
  }
  return "a process that left no name";
}

nlohmann::json read_state(const std::filesystem::path& run) {
  try {
    return parse_object(read_file(run / "state.json"));
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace

const char* to_string(RunState state) { return state_names[static_cast<std::size_t>(state)]; }

void RunDir::lock() {
  if (lock_) return;
  const std::filesystem::path path = path_ / "lock";
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!fd)
    throw Error(cat("cannot write to run ", path_.string(), ": ", errno_text(errno)),
                "`lockstep resume RUN --into NAME` goes on in a new run");
  if (!take_lock(fd.get(), path.string()))
    throw Error(cat("run \"", name(), "\" is in use by ", holder_of(path)),
                "wait until it ends, or stop it");
  const std::string holder = to_line({{"pid", getpid()}, {"host", host_name()}}) + "\n";
  if (ftruncate(fd.get(), 0) != 0 ||
      pwrite(fd.get(), holder.data(), holder.size(), 0) != static_cast<ssize_t>(holder.size()))
    throw Error(cat("cannot write ", path.string(), ": ", errno_text(errno)), "free some space");
  lock_ = std::move(fd);
}

bool RunDir::locked_by_other() const {
  if (lock_) return false;
  UniqueFd fd(::open((path_ / "lock").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  return fd && flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

std::optional<int> RunDir::holder() const {
  if (!locked_by_other()) return std::nullopt;
  try {
    const nlohmann::json holder = parse_object(read_file(path_ / "lock"));
    const std::int64_t pid = holder.is_object() ? integer_or(holder, "pid", 0) : 0;
    if (pid > 0 && text_or(holder, "host", "") == host_name()) return static_cast<int>(pid);
  } catch (const Error&) {
  }
  return std::nullopt;
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
  write_file_atomic(path_ / "run.json",
                    record.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void RunDir::write_state(RunState state, const std::string& why) const {
  const nlohmann::json value = {
      {"state", to_string(state)}, {"why", why}, {"time", system_clock().wall_s()}};
  write_file_atomic(path_ / "state.json", to_line(value) + "\n");
}

RunState RunDir::state() const {
  if (lock_ || locked_by_other()) return RunState::running;
  const std::string word = text_or(read_state(path_), "state", "");
  for (const RunState state : {RunState::finished, RunState::stopped, RunState::failed})
    if (word == to_string(state)) return state;
  return RunState::interrupted;  // "running" too: no word came after it
}

std::string RunDir::state_reason() const {
  switch (state()) {
    case RunState::running:
      return "";
    case RunState::interrupted:
      return "it ended without a word: killed, or the machine went down";
    default:
      return text_or(read_state(path_), "why", "");
  }
}

}  // namespace lockstep
