// Implements `lockstep train RECIPE` for a recipe that trains in the tool.
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/process/host_name.h"
#include "core/base/text/text.h"
#include "core/base/version.h"
#include "core/devices/cpu_model.h"
#include "core/devices/gpus/gpu_probe.h"
#include "runtime/launch/launch.h"
#include "runtime/run/folder/run_dir.h"
#include "tools/cli/commands.h"
#include "tools/cli/context.h"
#include "tools/cli/direct.h"
#include "tools/cli/train/end_at_interrupt.h"
#include "tools/cli/train/run_transcript.h"
#include "tools/cli/train/train.h"
#include "tools/jobs/process/next_job.h"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>

namespace lockstep::cli {
namespace {

nlohmann::json record_of(const DirectRecipe& recipe, const DirectOptions& options) {
  return {{"recipe", recipe.name},
          {"config", options.table.to_json()},
          {"lockstep", version()},
          {"host", host_name()},
          {"cpu", cpu_model()},
          {"cores", host_info().cores},
          {"git", git_state(std::filesystem::current_path())},
          {"started", system_clock().wall_s()}};
}

// The words after `lockstep train RECIPE` with which this program was started. Nothing if another
// command started it.
std::optional<std::vector<std::string>> own_arguments(const std::string& recipe) {
  std::vector<std::string> words = split(read_input("/proc/self/cmdline"), '\0');
  if (!words.empty()) words.pop_back();  // the text ends with a zero byte
  if (words.size() < 3 || words[1] != "train" || words[2] != recipe) return std::nullopt;
  words.erase(words.begin(), words.begin() + 3);
  return words;
}

int code_of(const DirectResult& result) {
  if (result.status == DirectResult::Status::success) return exit_finished;
  say(cat("skipped: ", result.why));
  return exit_skipped;
}

// Trains as a job of a batch. The job has its own folder, and the batch records everything else.
int train_into(const std::string& folder, const DirectOptions& options) {
  make_directories(folder);
  const char* const name = std::getenv("LOCKSTEP_JOB");
  const DirectResult result =
      options.train({.folder = std::filesystem::absolute(folder),
                     .name = name != nullptr && *name != '\0' ? name : "job",
                     .say = say});
  if (!result.table.empty()) say(result.table);
  return code_of(result);
}

void try_to_load_ahead(const DirectOptions& options) {
  try {
    options.load_ahead();
  } catch (const Error&) {
    // The training itself will fail and report the problem.
  }
}

// Makes the allocator keep freed memory, because the next job needs it. Without this, the kernel
// would clear each page again.
void keep_memory() {
#ifdef __GLIBC__
  constexpr int most_bytes = 64 << 20, largest_block_bytes = 16 << 20, step_bytes = 1 << 20;
  ::mallopt(M_TRIM_THRESHOLD, most_bytes);
  ::mallopt(M_MMAP_THRESHOLD, largest_block_bytes);
  ::mallopt(M_TOP_PAD, step_bytes);
#endif
}

// Loads data that jobs share, and then leaves a copy of this process if another job may follow.
std::optional<std::vector<std::string>> leave_copy(NextJob& next, const DirectOptions& options,
                                                   const std::string& recipe,
                                                   const std::vector<std::string>& arguments) {
  if (next.stayed()) {
    std::vector<std::string> words{"lockstep", "train", recipe};
    words.insert(words.end(), arguments.begin(), arguments.end());
    next.begin_anew(words);
  }
  try_to_load_ahead(options);
  return next.leave_copy(arguments);
}

// Runs the job for which this process was started. Later jobs run in this process or in copies of
// it.
int train_as_jobs(const DirectRecipe& recipe, const Parsed& parsed) {
  NextJob next;
  const auto arguments = own_arguments(recipe.name);
  if (!arguments || !next.possible())
    return train_into(std::getenv("LOCKSTEP_OUT"), *resolve_direct(recipe, parsed));
  keep_memory();
  Parsed now = parsed;
  for (std::vector<std::string> own = *arguments;;) {
    const std::unique_ptr<DirectOptions> options = resolve_direct(recipe, now);
    std::optional<std::vector<std::string>> following;
    if (!options->leaves_process_clean()) following = leave_copy(next, *options, recipe.name, own);
    if (!following) {
      const int code = train_into(std::getenv("LOCKSTEP_OUT"), *options);
      if (options->leaves_process_clean()) following = next.stay(own, code);
      if (!following) return code;
    }
    own = *following;
    std::vector<std::string> words{recipe.name};
    words.insert(words.end(), own.begin(), own.end());
    now = parse(train_command(), words);
  }
}

void tell_interrupted(const DirectRecipe& recipe, const RunDir& run, const std::string& signal) {
  say(cat("interrupted: ", signal, "; nothing was saved: ", train_again_hint(recipe)));
  if (const std::string fault = run.try_write_state(RunState::interrupted, signal); !fault.empty())
    say(cat("warning: the run's state could not be written: ", fault));
}

int train_as_run(const DirectRecipe& recipe, const DirectOptions& options, const Parsed& parsed) {
  nlohmann::json record = record_of(recipe, options);
  RunDir run = make_run(options.run_root, parsed.value("--name"), recipe.name,
                        [&](RunDir& fresh, const std::function<void()>&) {
                          fresh.lock();
                          fresh.write_record(record);
                          fresh.write_state(RunState::running, "");
                        });
  RunTranscript transcript(run, "started", "");
  try {
    const DirectResult result = [&] {
      const EndAtInterrupt end(
          [&](const std::string& signal) { tell_interrupted(recipe, run, signal); });
      return options.train({.folder = run.path(), .name = run.name(), .say = say});
    }();
    record["result"] = result.record;
    record["results"] = result.results;
    if (!result.main_result.empty()) record["main_result"] = result.main_result;
    record["seconds"] = system_clock().wall_s() - record.at("started").get<double>();
    run.write_record(record);
    run.write_state(RunState::finished, result.why.empty() ? "" : "skipped: " + result.why);
    if (!result.table.empty()) print_result_of_run(result.table);
    say(cat("run ", run.path().string()));
    if (!result.next.empty()) say(cat("try next:\n  ", join(result.next, "\n  ")));
    return code_of(result);
  } catch (const Error& error) {
    run.try_write_state(RunState::failed, error.what());
    transcript.add(error);
    throw;
  }
}

}  // namespace

int train_direct(const DirectRecipe& recipe, const Parsed& parsed) {
  const char* const folder = std::getenv("LOCKSTEP_OUT");
  if (folder != nullptr && *folder != '\0') return train_as_jobs(recipe, parsed);
  const std::unique_ptr<DirectOptions> options = resolve_direct(recipe, parsed);
  options->load_ahead();  // a wrong path is reported before a run exists
  return train_as_run(recipe, *options, parsed);
}

}  // namespace lockstep::cli
