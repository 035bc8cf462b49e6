#include "tools/cli/train/follow_run.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "runtime/launch/launch.h"
#include "runtime/run/events/train_log.h"
#include "runtime/run/folder/run_files.h"
#include "tools/cli/context.h"
#include "tools/cli/interrupts.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>

namespace lockstep::cli {
namespace {

constexpr double follow_every_s = 0.25;

// Reads whole lines that were added since the last call.
class GrowingLog {
 public:
  explicit GrowingLog(std::filesystem::path run_dir) : run_dir_(std::move(run_dir)) {}

  bool is_there() {
    if (!file_) {
      file_ = open_run_file(run_dir_, train_log_name);
      if (file_) skip_what_is_old();
    }
    return static_cast<bool>(file_);
  }

  // If the run is over, also returns a last line without its newline.
  std::string more(bool is_over) {
    constexpr std::size_t block_bytes = 1 << 20;
    if (!is_there()) return "";
    std::string block(block_bytes, '\0');
    const ssize_t got = ::pread(file_.get(), block.data(), block.size(), at_);
    if (got <= 0) return "";
    block.resize(static_cast<std::size_t>(got));
    const std::size_t newline = block.rfind('\n');
    if (newline != block.npos)
      block.resize(newline + 1);
    else if (!is_over && block.size() < block_bytes)
      return "";
    at_ += static_cast<off_t>(block.size());
    return block;
  }

 private:
  // A long log is shown from near its end, starting at the beginning of a line.
  void skip_what_is_old() {
    constexpr off_t shown_bytes = 64 << 10;
    struct stat info {};
    if (::fstat(file_.get(), &info) != 0 || info.st_size <= shown_bytes) return;
    at_ = info.st_size - shown_bytes;
    std::string block(shown_bytes, '\0');
    const ssize_t got = ::pread(file_.get(), block.data(), block.size(), at_);
    const std::size_t newline = got > 0 ? block.find('\n') : block.npos;
    if (newline != block.npos) at_ += static_cast<off_t>(newline) + 1;
  }

  std::filesystem::path run_dir_;
  UniqueFd file_;
  off_t at_ = 0;
};

// Waits for the log. A run that has just begun creates it within a moment.
void wait_for_log(GrowingLog& log, const RunDir& run, const NotedInterrupts& interrupts) {
  constexpr double longest_s = 3;
  const double begin_s = system_clock().now_s();
  while (!log.is_there() && !interrupts.came()) {
    const bool runs = run.state() == RunState::running;
    if (!runs || system_clock().now_s() - begin_s > longest_s)
      throw Error(cat("run ", run.name(), " has no ", train_log_name),
                  cat("it is there where lockstep started the ranks itself; lockstep runs ",
                      shell_word(run.path().string()), " shows how far the run is"));
    system_clock().sleep_s(follow_every_s);
  }
}

}  // namespace

int follow_run(const RunDir& run) {
  const NotedInterrupts interrupts;
  GrowingLog log(run.path());
  wait_for_log(log, run, interrupts);
  while (!interrupts.came()) {
    // checked before the last lines are read
    const bool is_over = run.state() != RunState::running;
    const std::string lines = log.more(is_over);
    if (!lines.empty()) {
      print(lines);
    } else if (is_over) {
      say(cat("run ", run.name(), ": ", to_string(run.state())));
      return exit_finished;
    } else {
      system_clock().sleep_s(follow_every_s);
    }
  }
  return exit_interrupted;
}

}  // namespace lockstep::cli
