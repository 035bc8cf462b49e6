// lockstep-worker: one rank of a run, started by `lockstep`, torchrun, srun or mpirun.
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/process/memory.h"
#include "core/base/process/spawn.h"
#include "core/base/text/text.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/watch/heartbeat.h"
#include "runtime/run/events/events.h"
#include "runtime/run/events/start_up.h"
#include "training/distributed/rendezvous.h"
#include "training/recipe/plugin.h"
#include "training/trainer/stopping/stop.h"
#include "worker/bench.h"
#include "worker/describe.h"
#include "worker/failure.h"
#include "worker/output_stream.h"
#include "worker/reading.h"
#include "worker/session.h"
#include "worker/words.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>

namespace lockstep {
namespace {

const char* const usage =
    "usage: lockstep-worker train RECIPE [key=value …] [as for `lockstep train`]\n"
    "\n"
    "A rank of a training run, for torchrun, srun and mpirun; `lockstep` starts it by itself.\n"
    "  torchrun --no-python --nproc-per-node 2 lockstep-worker train RECIPE\n";

// Waits for at most a second, so that the launcher sees the rank that failed first end before this
// one. The launcher then reports that rank, and stops this one.
void let_the_cause_be_seen() {
  constexpr double longest_s = 1, look_again_s = 0.01;
  for (double waited_s = 0; waited_s < longest_s && stop_signal().empty(); waited_s += look_again_s)
    system_clock().sleep_s(look_again_s);
}

// Ends this failed rank. It must not wait for the others, because the launcher ends them.
[[noreturn]] void leave_failed(Session& session, const std::exception& error) {
  const RankError failure = describe_failure(error);
  const bool among_ranks = dynamic_cast<const CollectiveFailed*>(&error) != nullptr ||
                           dynamic_cast<const MeetingFailed*>(&error) != nullptr;
  PeerWatch* const peers = session.group ? session.group->peers() : nullptr;
  // This does not return if another rank is the cause.
  if (peers != nullptr && among_ranks) peers->ask(failure.what);
  if (peers == nullptr && among_ranks) let_the_cause_be_seen();
  tell_failure(failure);
  if (peers != nullptr && !among_ranks) peers->tell(failure.what);
  if (session.foreign && session.run && session.run->holds_lock())
    session.run->try_write_state(RunState::failed, failure.what);
  _exit(exit_code_of(failure));
}

TrainEnd open_and_train(std::vector<std::string> arguments, StartUp& start_up, Session& session) {
  const std::string run = take(arguments, "--run");
  if (run.empty())
    open_foreign_session(arguments, session);
  else
    session = open_session(run, "", session.world, RankLimits{});
  TrainEnd end = TrainEnd::finished;
  if (!session.finished) {
    session.start_up = &start_up;
    start_up.done("devices");
    const bool resume =
        run.empty() ? session.run->record().contains("resuming") : take_flag(arguments, "--resume");
    // If the tool started this rank, the tool itself records a second signal.
    if (session.foreign && session.run->holds_lock())
      note_second_signal_in(session.run->path() / "state.json");
    catch_stop_signals();
    TrainerSetup setup = session.trainer(resume);
    constexpr double longest_evaluation_s = 5;
    if (take_flag(arguments, "--trial")) setup.trial_evaluation_s = longest_evaluation_s;
    end = train(setup);
  }
  session.group->shutdown();
  return end;
}

int run_train(std::vector<std::string> arguments, StartUp& start_up) {
  Session session{.world = own_world()};
  try {
    const TrainEnd end = open_and_train(std::move(arguments), start_up, session);
    return end == TrainEnd::finished ? exit_finished : exit_stopped;
  } catch (const std::exception& error) {
    leave_failed(session, error);
  }
}

// Checks a recipe. The rank only tries out the objects that the recipe returns.
int run_check(std::vector<std::string> arguments) {
  const std::string run = take(arguments, "--run");
  Session session = open_session(run, take(arguments, "--record"), own_world());
  nlohmann::json result = check_run(session.trainer(false));
  result["kind"] = "checked";
  if (session.world.rank == 0) EventWriter().write(result);
  session.group->shutdown();
  return exit_finished;
}

int run(std::vector<std::string> arguments) {
  StartUp start_up(system_clock(), std::getenv("LOCKSTEP_START"));
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h") {
    OutputStream().write(usage);
    return arguments.empty() ? exit_usage : exit_finished;
  }
  const std::string command = arguments[0];
  arguments.erase(arguments.begin());
  // A rank that writes to one that has ended gets an error and reports it. `predict` keeps the
  // signal, so that it ends with the reader of its output.
  if (command != "predict") std::signal(SIGPIPE, SIG_IGN);
  // The tool creates the run from these arguments. The run's record names the plugin.
  if (command == "train") return run_train(std::move(arguments), start_up);
  if (const std::string plugin = take(arguments, "--plugin"); !plugin.empty()) load_plugin(plugin);
  if (command == "evaluate") return run_evaluate(std::move(arguments));
  if (command == "check") return run_check(std::move(arguments));
  if (command == "predict") return run_predict(std::move(arguments));
  if (command == "predict-items") return run_predict_items(std::move(arguments));
  if (command == "bench") {
    const std::string run = take(arguments, "--run");
    return measure_run(run, take_flag(arguments, "--longest-first"));
  }
  if (command == "describe") return describe_recipes();
  if (command == "facts") return print_facts(arguments);
  if (command == "items") return print_items(arguments);
  if (command == "score") return print_score(arguments);
  throw Error(cat("unknown command ", command), "see lockstep-worker --help");
}

}  // namespace
}  // namespace lockstep

// The wheel's lockstep-worker loads this file as a part of a library and calls the function.
extern "C" int lockstep_worker_main(int argc, char** argv) {
  lockstep::ignore_file_size_signal();
  lockstep::keep_freed_memory();
  lockstep::open_heartbeat();
  try {
    const int code = lockstep::run({argv + 1, argv + argc});
    // Tells the launcher that the exit code is genuine.
    lockstep::enter_phase(lockstep::Phase::ending);
    return code;
  } catch (const std::exception& error) {
    const lockstep::RankError failure = lockstep::describe_failure(error);
    lockstep::tell_failure(failure);
    // Skips an orderly teardown, because other ranks may be waiting.
    _exit(lockstep::exit_code_of(failure));
  }
}

int main(int argc, char** argv) { return lockstep_worker_main(argc, argv); }
