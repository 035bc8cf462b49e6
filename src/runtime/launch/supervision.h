// The launcher's decisions: when to stop, end and kill ranks, and what to report. They are separate
// from processes and clocks.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/launch/child_group.h"
#include "runtime/launch/launch.h"

namespace lockstep {

enum class Action {
  pass_on_to_leaders,  // Command::signal, to every rank that runs
  pass_on_to_groups,
  terminate,  // SIGTERM to every group
  kill        // SIGKILL to every group
};
struct Command {
  Action action;
  int signal = 0;
};

// A state machine over signals, exits and time. Each call returns the commands that the caller must
// execute now.
class Supervision {
 public:
  // stop_grace_s: called at the first interrupt.
  Supervision(double grace_s, std::function<double()> stop_grace_s, bool ranks_know_hangup = false);

  std::vector<Command> on_signal(int number, double now_s);
  // The exit of a rank. The caller passes all exits that it saw at the same time. So on_exits can
  // name a rank that was killed, instead of a rank that failed as a result.
  struct Exit {
    int rank;
    ExitStatus status;
    // Whether the rank is a worker of Lockstep, for which exit_stopped is never a failure. For any
    // other program, it is a failure unless a signal asked it to stop.
    bool is_worker = false;
    // Whether a worker exited with code 0 before its end, because something in it called exit().
    bool is_early = false;
  };
  std::vector<Command> on_exits(const std::vector<Exit>& exits, double now_s);
  // A rank hangs. `how` describes this in the outcome.
  std::vector<Command> on_hang(int rank, const std::string& how, double now_s);
  std::vector<Command> on_time(double now_s);  // call it at deadline_s() or later
  // The ranks have ended, but processes that they started in their groups still run.
  std::vector<Command> on_all_ended(double now_s);
  std::optional<double> deadline_s() const { return deadline_s_; }

  bool given_up() const { return phase_ == Phase::given_up; }  // whether a process survived SIGKILL
  bool interrupted() const { return interrupted_; }
  std::optional<Exit> first_failure() const { return failure_; }
  // Valid once all ranks have ended, or once given_up() is true. A RankFailed has only its rank,
  // how and exit_code set.
  LaunchOutcome outcome() const;

 private:
  enum class Phase { running, stopping, terminating, killing, given_up };
  std::vector<Command> enter(Phase phase, double now_s);
  std::vector<Command> interrupt(int number, double now_s);
  bool by_signal_passed_on(const ExitStatus& status) const;
  bool failed(const Exit& exit) const;
  std::string first_signal() const;  // "SIGINT"

  // The signal that ranks get for a signal to the launcher.
  int passed_as(int number) const;

  double grace_s_;
  std::function<double()> stop_grace_s_;
  double stop_grace_given_s_ = 0;
  bool ranks_know_hangup_;
  Phase phase_ = Phase::running;
  std::optional<double> deadline_s_;
  std::optional<double> interrupted_s_;
  std::vector<int> passed_on_;
  std::optional<Exit> failure_;
  std::string hang_;          // `how`, if a hang is the failure
  bool interrupted_ = false;  // a signal ends the run, whatever the ranks report
  std::string why_interrupted_;
  bool all_ended_ = false;  // all ranks have ended, so the outcome is final
  bool stopped_ = false;    // a rank exited with exit_stopped
};

std::string describe(const ExitStatus& status);  // "exit code 1", "killed by signal 9 (Killed)"

}  // namespace lockstep
