// Decides when the launcher must stop, end and kill ranks, and what it reports. It uses no process
// and no clock.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/launch/child_group.h"
#include "runtime/launch/launch.h"

namespace lockstep {

enum class Action {
  pass_on_to_leaders,  // sends Command::signal to every rank that runs
  pass_on_to_groups,   // sends Command::signal to every process group
  terminate,           // sends SIGTERM to every process group
  kill                 // sends SIGKILL to every process group
};
struct Command {
  Action action;
  int signal = 0;
};

// A state machine over signals, exits and time. Each call returns the commands that the caller must
// execute now.
class Supervision {
 public:
  // The arguments are LaunchSpec::grace_s, stop_grace_s and knows_hangup.
  Supervision(double grace_s, std::function<double()> stop_grace_s, bool ranks_know_hangup = false);

  std::vector<Command> on_signal(int number, double now_s);
  // The exit of a rank. If several ranks have exited, the caller must pass their exits in one call.
  // So on_exits can report a rank that was killed, instead of a rank that failed as a result.
  struct Exit {
    int rank;
    ExitStatus status;
    // Whether the rank is a worker of Lockstep, for which exit_stopped is never a failure. For any
    // other program, exit_stopped is a failure unless a signal was passed on to it.
    bool is_worker = false;
    // Whether a worker exited with code 0 before its work was done, because something in it called
    // exit().
    bool is_early = false;
  };
  std::vector<Command> on_exits(const std::vector<Exit>& exits, double now_s);
  // Reports that a rank hangs. how: RankFailed::how of the outcome.
  std::vector<Command> on_hang(int rank, const std::string& how, double now_s);
  std::vector<Command> on_time(double now_s);  // call it when deadline_s() has passed
  // Reports that all ranks have ended, but other processes in their groups still run.
  std::vector<Command> on_all_ended(double now_s);
  std::optional<double> deadline_s() const { return deadline_s_; }

  bool given_up() const { return phase_ == Phase::given_up; }  // whether a process survived SIGKILL
  bool interrupted() const { return interrupted_; }
  std::optional<Exit> first_failure() const { return failure_; }
  // Returns the outcome of the run. Call it when all ranks have ended, or when given_up() is true.
  // In a RankFailed, only rank, how and exit_code are set.
  LaunchOutcome outcome() const;

 private:
  enum class Phase { running, stopping, terminating, killing, given_up };
  std::vector<Command> enter(Phase phase, double now_s);
  std::vector<Command> interrupt(int number, double now_s);
  bool by_signal_passed_on(const ExitStatus& status) const;
  bool failed(const Exit& exit) const;
  std::string first_signal() const;  // "SIGINT"

  // The signal that ranks get when the launcher gets `number`.
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
  std::string hang_;          // `how` of on_hang, if a hang is the failure
  bool interrupted_ = false;  // a signal ends the run, whatever the ranks report
  std::string why_interrupted_;
  bool all_ended_ = false;  // all ranks have ended, so the outcome is final
  bool stopped_ = false;    // a rank exited with exit_stopped
};

std::string describe(const ExitStatus& status);  // "exit code 1", "killed by signal 9 (Killed)"

}  // namespace lockstep
