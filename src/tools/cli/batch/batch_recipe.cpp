// Implements `lockstep batch RECIPE`. It makes a batch from a recipe's options and gathers its
// results.
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/process/program.h"
#include "core/base/text/text.h"
#include "planning/direct_recipe.h"
#include "runtime/launch/launch.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/names.h"
#include "tools/cli/batch/batch.h"
#include "tools/cli/batch/batch_forecast.h"
#include "tools/cli/batch/batch_search.h"
#include "tools/cli/context.h"
#include "tools/cli/direct.h"
#include "tools/jobs/analysis/job_activity.h"
#include "tools/jobs/job_json.h"

namespace lockstep::cli {
namespace fs = std::filesystem;

namespace {

// Writes the job file. An existing file with other jobs is kept, because somebody may have edited
// it.
void write_job_file(const fs::path& file, const std::string& text) {
  std::error_code ignored;
  if (fs::exists(file, ignored)) {
    const std::string earlier = read_file(file, list_bytes);
    if (!have_same_jobs(earlier, text) && !takes_up_left_out(text, earlier))
      throw Error(cat(file.string(), " is there already, with other jobs"),
                  cat("lockstep batch run ", shell_word(file.string()),
                      " runs them; choose another name with --name for a batch of these. Data that "
                      "changed may have changed jobs, where values such as dates follow from it"));
  }
  make_directories(file.parent_path());
  write_file_atomic(file, text);
}

// Runs the job file with the code of `lockstep batch run`.
int run_file(const Parsed& parsed, const fs::path& file, const DirectJobs& jobs) {
  Parsed run = parsed;
  run.values.erase("--config");
  run.values.erase("--measure");
  run.values["--name"] = {jobs.name};
  run.positionals = {file.string()};
  run.assignments = {cat("run.root=", jobs.run_root.string())};
  return run_made_jobs(run, jobs.made_by);
}

void check_flags(const Parsed& parsed) {
  check_search_flags(parsed);
  check_place_flags(parsed);
  for (const char* flag : {"--dry-run", "--devices-like"})
    if (parsed.has("--write") && parsed.has(flag))
      throw Error(cat(flag, " writes nothing, and --write does"), "leave one of them out");
  if (parsed.has("--measure") && !parsed.has("--dry-run"))
    throw Error("--measure is of --dry-run, which says how long the batch takes",
                parsed.has("--devices-like") ? "it measures on the devices that are there"
                                             : "give both, or leave it out");
}

// Checks the GPUs for jobs that run here. A job file that is only written may run elsewhere.
void check_needs(const Parsed& parsed, const DirectJobs& jobs) {
  std::int64_t on_gpus = 0;
  for (const DirectSetting& setting : jobs.settings)
    on_gpus += setting.gpus != "0" ? setting.jobs : 0;
  check_gpus(parsed,
             {.jobs = on_gpus, .any = on_gpus > 0, .on_cpu = jobs.on_cpu, .on_gpu = jobs.on_gpu});
}

int show_only(const DirectRecipe& recipe, const Parsed& parsed, const DirectJobs& jobs) {
  const TemporaryDirectory folder;
  write_job_file(folder.path() / "jobs.toml", jobs.toml);
  const int code = run_file(parsed, folder.path() / "jobs.toml", jobs);
  if (!parsed.has("--devices-like")) print(batch_forecast_text(recipe, parsed, jobs));
  return code;
}

int batch_recipe_main(const DirectRecipe& recipe, const Parsed& parsed) {
  check_flags(parsed);
  const bool only_shows = parsed.has("--dry-run") || parsed.has("--devices-like");
  const DirectJobs jobs = direct_jobs(
      recipe, parsed, (program_folder() / "lockstep").string(), [&](const DirectJobs& made) {
        if (!parsed.has("--write")) check_needs(parsed, made);
        if (parsed.has("--name")) return parsed.value("--name");
        return only_shows || parsed.has("--write")
                   ? name_by_time(recipe.name)
                   : make_folder_by_time(made.run_root, recipe.name);
      });
  for (const std::string& note : jobs.notes) say(note);
  if (only_shows) return show_only(recipe, parsed, jobs);
  if (parsed.has("--write")) {
    const fs::path file = fs::absolute(parsed.value("--write"));
    write_job_file(file, jobs.toml);
    say(cat(jobs.jobs, " jobs in ", file.string(), ": lockstep batch run ",
            shell_word(file.string()), " runs them"));
    return exit_finished;
  }
  const fs::path file = fs::absolute(jobs.run_root / (jobs.name + ".toml"));
  write_job_file(file, jobs.toml);
  say(cat("job file ", file.string(), ": edit it, and run it again with lockstep batch run"));
  return run_file(parsed, file, jobs);
}

bool trains(const Job& job, const DirectRecipe& recipe) {
  return !job.shell && job.command.size() > 2 &&
         fs::path(job.command[0]).filename() == "lockstep" && job.command[1] == "train" &&
         job.command[2] == recipe.name;
}

Command batch_recipe_command(const DirectRecipe& recipe) {
  std::vector<Flag> flags{
      {"--config", "FILE", "options from a TOML file; key=value wins; may be repeated", "file"},
      {"--name", "NAME", "name of the batch, a folder in run.root (default: recipe and time)"},
      {"--write", "FILE", "write the job file there, and run nothing", "file"},
      {"--dry-run", "",
       "print every job, where it would go, and how long all take, as far as an earlier batch "
       "tells; write and run nothing"},
      {"--measure", "", "with --dry-run: train one job of each setting to say how long all take"},
      {"--devices-like", "LIST", "as --dry-run, with devices that need not be there, such as 8xT4",
       "devices"}};
  std::vector<TriedFlag> tried = tried_slots();
  tried.push_back(
      {"--resume", "lockstep batch resume {name} goes on with a batch that was stopped"});
  tried.push_back({"--seeds", cat("lockstep batch ", recipe.name,
                                  " seed=1,2,3 trains every job with each of these seeds, and "
                                  "lockstep compare --groups takes them as repeats")});
  const std::vector<Flag> more = batch_resume_command().flags;
  flags.insert(flags.end(), more.begin(), more.end());
  return {.name = "batch " + recipe.name,
          .operands = "[key=value …]",
          .summary = cat("many jobs of lockstep train ", recipe.name, ", and their joint results"),
          .details = cat("Options are those of lockstep train ", recipe.name,
                         "; one that takes a single value may have several, such as a=1,2, or "
                         "a = [1, 2] in a file: all jobs run with each of them.\nThe job file lies "
                         "beside the batch."),
          .flags = std::move(flags),
          .takes_assignments = true,
          .run = [&recipe](const Parsed& parsed) { return batch_recipe_main(recipe, parsed); },
          .tried_flags = std::move(tried)};
}

// nvidia-smi's index of each GPU, such as "0". The key is the UUID. Valid for the machine of the
// batch's latest start.
std::map<std::string, std::string> gpu_indexes(Ledger& ledger) {
  std::map<std::string, std::string> numbers;
  const nlohmann::json machine = nlohmann::json::parse(ledger.fact("machine"), nullptr, false);
  if (!machine.is_object() || !machine.contains("gpus")) return numbers;
  for (const nlohmann::json& gpu : machine["gpus"])
    if (gpu.is_object() && gpu.contains("index"))
      numbers[text_or(gpu, "uuid", "")] = cat(integer_or(gpu, "index", 0));
  return numbers;
}

// devices: a JSON array of UUIDs.
std::string gpus_text(const std::string& devices,
                      const std::map<std::string, std::string>& numbers) {
  std::vector<std::string> words;
  const nlohmann::json list = nlohmann::json::parse(devices, nullptr, false);
  if (!list.is_array()) return "";
  for (const nlohmann::json& device : list) {
    if (!device.is_string()) continue;
    const auto uuid = device.get<std::string>();
    const auto known = numbers.find(uuid);
    words.push_back(known == numbers.end() ? uuid : known->second);
  }
  return join(words, ",");
}

}  // namespace

std::vector<Command> batch_recipe_commands() {
  std::vector<Command> commands;
  for (const DirectRecipe& recipe : direct_recipes())
    if (recipe.gather) commands.push_back(batch_recipe_command(recipe));
  return commands;
}

DirectBatchEnd jobs_of_recipe(const BatchFolder& batch, Ledger& ledger,
                              const DirectRecipe& recipe) {
  DirectBatchEnd end{.folder = batch.path, .jobs = {}, .left_out = ledger.left_out()};
  Statement rows(ledger.database(),
                 "SELECT name, state, job.reason, spec, last.id, last.devices, last.max_rss_bytes, "
                 "last.gpu_memory_bytes FROM job LEFT JOIN "
                 "attempt AS last ON last.id = (SELECT max(id) FROM attempt WHERE attempt.job = "
                 "job.id) WHERE listed = 1 AND spec LIKE ? AND NOT (state = 'cancelled' AND "
                 "job.reason = ?) ORDER BY job.id");
  rows.bind(1, cat("%lockstep\",\"train\",\"", recipe.name, "\"%"));
  rows.bind(2, std::string(left_out_by_search));
  const std::map<std::string, std::string> numbers = gpu_indexes(ledger);
  while (rows.step()) {
    const Job job = job_from_json(parse_json(rows.text(3)));
    if (!trains(job, recipe)) continue;
    DirectJob one{.name = rows.text(0),
                  .parameters = {job.parameters.begin(), job.parameters.end()},
                  .state = rows.text(1),
                  .reason = rows.text(2)};
    one.folder = one.state == to_string(JobState::done) || rows.is_null(4)
                     ? batch.published(one.name)
                     : batch.attempt(rows.integer(4));
    if (!rows.is_null(5)) one.gpus = gpus_text(rows.text(5), numbers);
    if (!rows.is_null(6) && rows.integer(6) > 0) one.memory_bytes = rows.integer(6);
    if (!rows.is_null(7)) one.gpu_memory_bytes = rows.integer(7);
    end.jobs.push_back(std::move(one));
  }
  end.activity = [activity = std::make_shared<BatchActivity>(batch)](const auto& jobs) {
    const JobActivity of_jobs = activity->of(jobs);
    return DirectActivity{.on_gpus = of_jobs.on_devices,
                          .cpu_percent = of_jobs.cpu_percent,
                          .gpu_percent = of_jobs.gpu_percent};
  };
  return end;
}

std::string cautions_of(const BatchFolder& batch, Ledger& ledger) {
  std::string text;
  for (const DirectRecipe& recipe : direct_recipes()) {
    if (!recipe.caution) continue;
    Statement row(ledger.database(),
                  "SELECT name, spec FROM job WHERE listed = 1 AND state = 'done' AND spec LIKE ? "
                  "ORDER BY id LIMIT 1");
    row.bind(1, cat("%lockstep\",\"train\",\"", recipe.name, "\"%"));
    if (!row.step() || !trains(job_from_json(parse_json(row.text(1))), recipe)) continue;
    if (const std::string line = recipe.caution(batch.published(row.text(0))); !line.empty())
      text += line + "\n";
  }
  return text;
}

std::string gathered(const BatchFolder& batch, Ledger& ledger) {
  std::string text;
  for (const DirectRecipe& recipe : direct_recipes()) {
    if (!recipe.gather) continue;
    const DirectBatchEnd end = jobs_of_recipe(batch, ledger, recipe);
    if (end.jobs.empty()) continue;
    try {
      text += recipe.gather(end);
    } catch (const Error& error) {  // the results of single jobs are still valid
      say(cat("what the jobs wrote cannot be put together: ", error.what()));
    }
  }
  return text;
}

}  // namespace lockstep::cli
