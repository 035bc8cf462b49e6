// lockstep resume: goes on where the newest good checkpoint stands.
#include "base/error.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/context.h"
#include "cli/resolve.h"
#include "cli/train.h"
#include "launch/launch.h"
#include "run/checkpoint_index.h"

#include <unistd.h>

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

// A new run that starts from the other's newest good checkpoint and recipe files.
RunDir copy_run(const RunDir& from, const std::string& into, const RunSetup& setup) {
  const auto checkpoint = newest_good(from.checkpoints(), [](const CheckpointInfo& bad) {
    say(cat("warning: checkpoint ", bad.path.filename().string(), " is damaged (", bad.damage,
            ")"));
  });
  if (!checkpoint) throw Error(cat("run ", from.name(), " has no good checkpoint to go on from"));
  RunDir run = RunDir::create(setup.train->run.root, into, setup.recipe);
  fs::create_directories(run.checkpoints());
  fs::copy(checkpoint->path, run.checkpoints() / checkpoint->path.filename(),
           fs::copy_options::recursive);
  if (fs::exists(from.path() / "recipe"))
    fs::copy(from.path() / "recipe", run.path() / "recipe", fs::copy_options::recursive);
  nlohmann::json record = from.record();
  record["from"] = {{"run", fs::absolute(from.path()).string()}, {"step", checkpoint->step}};
  run.write_record(record);
  return run;
}

void check_writable(const RunDir& run) {
  if (access(run.path().c_str(), W_OK) == 0) return;
  throw Error(cat("run ", run.path().string(), " cannot be written to"),
              cat("go on in a new run: lockstep resume ", run.path().string(), " --into NAME"));
}

int resume_main(const Parsed& parsed) {
  const TrainOptions defaults;
  std::string root = defaults.run.root;
  for (const std::string& word : parsed.assignments)
    if (word.starts_with("run.root=")) root = word.substr(9);
  return resume_run(parsed, RunDir::open(parsed.positionals[0], root), parsed.value("--into"));
}

}  // namespace

int resume_run(const Parsed& parsed, RunDir run, const std::string& into) {
  const std::vector<std::string> then = then_steps(parsed);
  const std::vector<Device> devices = training_devices(parsed);
  RunSetup setup = resolve_resume(run, parsed.all("--config"), parsed.assignments);
  const bool foreign = parsed.has("--world");
  if (into.empty()) {
    check_writable(run);
    if (!foreign) run.lock();
  } else {
    run = copy_run(run, into, setup);
    if (!foreign) run.lock();
  }
  prepare_and_plan(setup, Purpose::train, devices, run.path());
  if (!newest_good(run.checkpoints()))
    say("there is no good checkpoint yet: starting from the beginning");
  say(to_text(setup.plan, false));
  if (foreign) {
    write_start(setup, run, true);
    print(fs::absolute(run.path()).string());
    return exit_finished;
  }
  return train_run(std::move(setup), run, true, then);
}

Command resume_command() {
  Command command{.name = "resume",
                  .operands = "RUN [key=value …]",
                  .summary = "go on with a run, on any number of devices",
                  .details =
                      "RUN is a folder or a name under run.root. What the curve stands on (seed, "
                      "global batch, model, data) cannot change.",
                  .flags = training_flags(),
                  .min_positionals = 1,
                  .max_positionals = 1,
                  .takes_assignments = true,
                  .complete = "run",
                  .run = resume_main};
  command.flags.push_back({"--into", "NAME", "read RUN only, and go on in a new run", ""});
  return command;
}

}  // namespace lockstep::cli
