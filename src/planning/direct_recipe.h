// A recipe that trains in the tool itself, without LibTorch, ranks and the engine, and without the
// engine's options. It is for trainings that are so small, or so unlike steps on devices, that a
// process of their own is all that they need.
#pragma once

#include "core/config/options.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace lockstep {

// One training: the folder that it writes to, and the way it reports progress.
struct DirectContext {
  std::filesystem::path folder;  // a folder of its own, empty at first; outputs go there
  std::string name;              // name of the run
  std::function<void(const std::string&)> say;  // progress for people, one line, no newline
};

struct DirectResult {
  enum class Status { success, skipped } status = Status::success;
  std::string why;          // why the training was skipped
  nlohmann::json record{};  // what really ran: versions, parameters, rows, metrics
  // The results for comparisons, as a job of a batch reports them (docs/guide/batch.md): an object
  // of numbers and texts.
  nlohmann::json results = nlohmann::json::object();
  std::string main_result{};        // the result that lists of runs show; "": none
  std::string table{};              // for people: the results, in lines
  std::vector<std::string> next{};  // commands to try next
};

// Jobs that `lockstep train` does one by one and that differ in the values of some options.
struct DirectBatch {
  std::vector<std::string> keys;               // names of those options
  std::vector<std::vector<std::string>> rows;  // a value for each option, job by job
  std::string job_name;                        // contains {key} for the value of an option
  std::vector<std::string> only_batch{};       // options that a job does not need
  // Options of only_batch that jobs nevertheless record, if they are given. Jobs find them as
  // "key=value …" in the variable LOCKSTEP_BATCH_OPTIONS, which is no part of a job's identity.
  std::vector<std::string> recorded{};
  std::vector<std::string> outputs{};  // files without which a job has not succeeded
  // "key=value" for each job, if the option is not given, or is one of only_batch. May contain
  // {slot} and {gpu}. Text that must not be filled in goes through job_literal.
  std::vector<std::string> more_options{};
  std::int64_t cpus = 1;   // cores of a job
  std::string cpus_key{};  // the option that holds this number; a search for the best sets it
  std::string gpus = "0";  // GPUs of a job, in the form of a job file
  std::int64_t retries = 2;
  double retry_delay_s = 5, timeout_s = 600;
  double max_failure_rate = 0.15;
  std::vector<std::string> notes{};  // for people, one line each
  // Lines about parts without a job, and why: "NAME: WHY". The end of the batch repeats them.
  std::vector<std::string> left_out{};
  // The number of jobs that will be skipped, as known before they run. why_skipped: the first, and
  // why.
  std::size_t skipped = 0;
  std::string why_skipped{};
  // "key=value" that puts the jobs onto the CPU, or onto GPUs, for hints. "": there is none.
  std::string on_cpu{}, on_gpu{};
  // Whether the job of an earlier batch that wrote this folder was of the same kind as these jobs,
  // so that its time forecasts theirs. Empty: this is not known.
  std::function<bool(const std::filesystem::path& folder)> is_alike{};
};

// The text in the form in which a job file means it literally: placeholders begin with {.
std::string job_literal(std::string_view text);

// Base of such a recipe's options. Fields live in the derived struct, bound to `table` in its
// constructor.
class DirectOptions {
 public:
  DirectOptions() = default;
  virtual ~DirectOptions();
  DirectOptions(const DirectOptions&) = delete;
  DirectOptions& operator=(const DirectOptions&) = delete;

  virtual void check() const;  // rules between options; throws Error
  // Loads what later trainings will need again, in this process or in one that is forked from it,
  // such as libraries and data. Starts no threads and touches no GPU. Called before a run is made
  // for `train`, and in jobs that others may follow. Throws Error. A job ignores that error, since
  // `train` will meet the fault.
  virtual void load_ahead() const {}
  // Whether a successful training leaves its process as a new process would be, except for what it
  // keeps in memory: no threads, no GPU, no children, nothing open. Then jobs of a batch may follow
  // one another in one process. Other jobs begin in a copy made after load_ahead.
  virtual bool leaves_process_clean() const { return false; }
  // Throws Error; the run has then failed.
  virtual DirectResult train(const DirectContext& context) const = 0;
  // Throws Error, also if the recipe has no batches.
  virtual DirectBatch plan_batch() const;

  OptionTable table;
  std::string preset;             // the option `preset`
  std::string run_root = "runs";  // the option `run.root`
  // A list option of the form name=value,… Each pair may also be given as KEY.name=value. Empty:
  // there is none.
  std::string pairs;

 protected:
  // Adds the options `preset` and `run.root`; to be called by the constructor of the derived
  // struct.
  void add_common_options();
};

// One job of a batch, when the batch ends.
struct DirectJob {
  std::string name;
  std::map<std::string, std::string> parameters;  // options in which jobs differ
  std::string state;             // "done", "skipped", "failed", "cancelled", "waiting" or "running"
  std::string reason{};          // why it is not done
  std::filesystem::path folder;  // what its last try wrote; may be absent
  // The GPUs of its last try: "0" or "0,1" as nvidia-smi counts, or the UUID if the number is not
  // known; "": none.
  std::string gpus{};
  // Peaks of its last try: memory, as the ledger records it, and memory on one GPU. Nothing: not
  // known.
  std::optional<std::int64_t> memory_bytes{}, gpu_memory_bytes{};
};

// How busy cores and GPUs were while some jobs ran, in percent; nothing: not measured.
struct DirectActivity {
  bool on_gpus = false;
  std::optional<double> cpu_percent, gpu_percent;
};

struct DirectBatchEnd {
  std::filesystem::path folder;         // of the batch
  std::vector<DirectJob> jobs;          // those of this recipe, in the order of the job file
  std::vector<std::string> left_out{};  // as in DirectBatch
  // The activity of the jobs with these names. Empty: nothing is known.
  std::function<DirectActivity(const std::set<std::string>& jobs)> activity{};
};

// The input of `evaluate` and `predict`, which use finished trainings.
struct DirectUse {
  bool predicts = false;                       // else it evaluates
  std::vector<std::filesystem::path> folders;  // what each of them wrote
  std::vector<std::string> assignments;        // "key=value", in place of the options of each
  std::filesystem::path out{};                 // for predictions: a file, which may be overwritten
};

struct DirectRecipe {
  std::string name;
  std::string summary;  // one line for help
  std::function<std::unique_ptr<DirectOptions>()> make_options;
  // Combines what the jobs of a batch wrote: writes files into the batch's folder and returns the
  // text to show. Throws Error. Empty: the recipe has no `lockstep batch NAME`.
  std::function<std::string(const DirectBatchEnd& end)> gather{};
  // Returns the text to show. Throws Error. Empty: the recipe can neither evaluate nor predict.
  std::function<std::string(const DirectUse& use)> use{};
  // A one-line warning for people who trust the results of the training that wrote this folder,
  // such as that its data are synthetic. "": no warning, also if the folder cannot be read. Empty:
  // there are never warnings.
  std::function<std::string(const std::filesystem::path& folder)> caution{};
};

// Adds a recipe to those that this program knows.
void register_direct_recipe(DirectRecipe recipe);
const std::vector<DirectRecipe>& direct_recipes();
const DirectRecipe* find_direct_recipe(const std::string& name);  // null: unknown

}  // namespace lockstep
