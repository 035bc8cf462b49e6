// A recipe that trains in the tool's own process. It uses no LibTorch, no ranks, and neither the
// engine nor its options. It is meant for trainings that are small, or that do not consist of steps
// on devices.
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

// Where one training writes, and how it reports progress.
struct DirectContext {
  std::filesystem::path folder;                 // a folder for this training alone, empty at first
  std::string name;                             // name of the run
  std::function<void(const std::string&)> say;  // prints progress; one line, without newline
};

struct DirectResult {
  enum class Status { success, skipped } status = Status::success;
  std::string why;          // the reason, if the training was skipped
  nlohmann::json record{};  // the training's record: versions, parameters, rows, metrics
  // The results by which runs are compared: an object of numbers and texts. A job of a batch
  // reports results in the same form (docs/guide/batch.md).
  nlohmann::json results = nlohmann::json::object();
  std::string main_result{};        // the key of the result that lists of runs show; may be empty
  std::string table{};              // the results as text, for the terminal
  std::vector<std::string> next{};  // commands to suggest to the user
};

// A batch of jobs. Each job is one `lockstep train`. Jobs differ in the values of some options.
struct DirectBatch {
  std::vector<std::string> keys;               // names of the options in which jobs differ
  std::vector<std::vector<std::string>> rows;  // for each job, a value for each key
  std::string job_name;                   // a pattern; {key} stands for the value of that option
  std::vector<std::string> only_batch{};  // options that are not passed on to jobs
  // The options of only_batch that jobs still record if the user gives them. A job reads them as
  // "key=value …" from the variable LOCKSTEP_BATCH_OPTIONS. They do not change the key by which a
  // job is identified.
  std::vector<std::string> recorded{};
  std::vector<std::string> outputs{};  // files that a job must write to count as successful
  // Further options "key=value" of each job. An entry applies if the user did not give its option,
  // or if its option is one of only_batch. An entry may contain {slot} and {gpu}. Pass text with
  // literal braces through job_literal.
  std::vector<std::string> more_options{};
  std::int64_t cpus = 1;   // cores per job
  std::string cpus_key{};  // the option that holds `cpus`; `lockstep batch --search` sets it
  std::string gpus = "0";  // GPUs per job, in the syntax of a job file
  std::int64_t retries = 2;
  double retry_delay_s = 5, timeout_s = 600;
  double max_failure_rate = 0.15;
  std::vector<std::string> notes{};  // printed for the user, one line each
  // "NAME: WHY" for each part of the data that has no job. These lines are printed again when the
  // batch ends.
  std::vector<std::string> left_out{};
  // The number of jobs that will be skipped, as far as this is known before they run. why_skipped:
  // the first such job, and the reason.
  std::size_t skipped = 0;
  std::string why_skipped{};
  // The option "key=value" that makes jobs use the CPU (on_cpu) or GPUs (on_gpu). Messages suggest
  // it. Empty if the recipe has no such option.
  std::string on_cpu{}, on_gpu{};
  // Returns whether a job of an earlier batch wrote `folder`, and was of the same kind as the jobs
  // of this batch. The time of that job is then used to forecast this batch. An empty function
  // means that this is unknown.
  std::function<bool(const std::filesystem::path& folder)> is_alike{};
};

// Escapes each {, so that a job file takes the text literally.
std::string job_literal(std::string_view text);

// Base class of the options of a direct recipe. The derived class holds the fields, and binds them
// to `table` in its constructor.
class DirectOptions {
 public:
  DirectOptions() = default;
  virtual ~DirectOptions();
  DirectOptions(const DirectOptions&) = delete;
  DirectOptions& operator=(const DirectOptions&) = delete;

  virtual void check() const;  // throws Error if options contradict each other
  // Loads what several trainings need, such as libraries and data. The trainings may run in this
  // process or in a process that is forked from it. So this must not start threads and must not use
  // a GPU. It is called before `lockstep train` creates a run. It is also called in a job whose
  // process may run further jobs. Throws Error if something cannot be loaded. A job ignores that
  // error, because `train` will report it.
  virtual void load_ahead() const {}
  // Whether a successful training leaves the process as clean as a new one, apart from its memory.
  // So it must leave no threads, no child processes and no open files, and must not have used a
  // GPU. If true, jobs of a batch may follow one another in one process. If false, each job runs in
  // a copy of the process that is forked after load_ahead.
  virtual bool leaves_process_clean() const { return false; }
  // Throws Error if the training fails.
  virtual DirectResult train(const DirectContext& context) const = 0;
  // Returns the batch that `lockstep batch NAME` runs. Throws Error if the options allow no batch.
  // The default always throws Error, because the recipe then has no batches.
  virtual DirectBatch plan_batch() const;

  OptionTable table;
  std::string preset;             // the option `preset`
  std::string run_root = "runs";  // the option `run.root`
  // The key of a list option with entries name=value. Each entry can also be given as
  // KEY.name=value. Empty if the recipe has no such option.
  std::string pairs;

 protected:
  // Adds the options `preset` and `run.root`. The constructor of the derived class must call it.
  void add_common_options();
};

// The state of one job at the end of a batch.
struct DirectJob {
  std::string name;
  std::map<std::string, std::string> parameters;  // the options in which jobs differ
  std::string state;             // "done", "skipped", "failed", "cancelled", "waiting" or "running"
  std::string reason{};          // why the state is not "done"
  std::filesystem::path folder;  // the folder of its last attempt; it may not exist
  // The GPUs of its last attempt: "0" or "0,1" in the order of nvidia-smi, or a UUID if the number
  // is unknown. Empty if the attempt had no GPU.
  std::string gpus{};
  // The peak memory of its last attempt: host memory, as the batch records it, and memory of one
  // GPU. Nothing if unknown.
  std::optional<std::int64_t> memory_bytes{}, gpu_memory_bytes{};
};

// The mean utilisation of cores and GPUs while some jobs ran, in percent. Nothing if it was not
// measured.
struct DirectActivity {
  bool on_gpus = false;
  std::optional<double> cpu_percent, gpu_percent;
};

struct DirectBatchEnd {
  std::filesystem::path folder;         // the folder of the batch
  std::vector<DirectJob> jobs;          // the jobs of this recipe, in the order of the job file
  std::vector<std::string> left_out{};  // see DirectBatch::left_out
  // Returns the activity while the jobs with these names ran. An empty function means that nothing
  // is known.
  std::function<DirectActivity(const std::set<std::string>& jobs)> activity{};
};

// The input of `evaluate` and `predict`, which use finished trainings.
struct DirectUse {
  bool predicts = false;                       // true: predict; false: evaluate
  std::vector<std::filesystem::path> folders;  // the folders of the trainings
  std::vector<std::string> assignments;  // "key=value", which override the options of each training
  std::filesystem::path out{};           // the file for predictions; it may be overwritten
};

struct DirectRecipe {
  std::string name;
  std::string summary;  // one line for help
  std::function<std::unique_ptr<DirectOptions>()> make_options;
  // Combines the outputs of a batch: writes files into the batch's folder and returns the text to
  // print. Throws Error if that fails. If empty, the recipe has no `lockstep batch NAME`.
  std::function<std::string(const DirectBatchEnd& end)> gather{};
  // Evaluates or predicts, and returns the text to print. Throws Error if that fails. If empty, the
  // recipe can neither evaluate nor predict.
  std::function<std::string(const DirectUse& use)> use{};
  // Returns a one-line warning about the results in this folder, such as that the data is
  // synthetic. Returns an empty text if there is no warning, or if the folder cannot be read. If
  // the function is empty, there are never warnings.
  std::function<std::string(const std::filesystem::path& folder)> caution{};
};

// Registers a recipe in this program.
void register_direct_recipe(DirectRecipe recipe);
const std::vector<DirectRecipe>& direct_recipes();
const DirectRecipe* find_direct_recipe(const std::string& name);  // null if there is none

}  // namespace lockstep
