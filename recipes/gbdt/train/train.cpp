// lockstep train gbdt: trains on one symbol and window.
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "planning/words.h"
#include "recipes/gbdt/lightgbm/gpu.h"
#include "recipes/gbdt/metrics/metric_text.h"
#include "recipes/gbdt/train/job_results.h"
#include "recipes/gbdt/train/kept_data.h"
#include "recipes/gbdt/train/train_window.h"
#include "tools/jobs/files/batch_folder.h"
#include "tools/jobs/job_file/placeholders.h"

namespace lockstep::gbdt {
namespace {

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

// Returns the options among `keys` that the user gave, as words of another command.
std::string given_words(const GbdtOptions& options, const std::vector<const char*>& keys) {
  std::string words;
  for (const char* key : keys)
    if (options.table.is_given(key))
      words += " " + quote_for_shell(cat(key, "=", options.table.get(key)));
  return words;
}

// Options that another command needs for the same data, label and device.
std::string data_words(const GbdtOptions& options) {
  std::vector<const char*> keys = {"data.path",
                                   "data.made_rows",
                                   "data.made_seed",
                                   "features",
                                   "feature_set",
                                   "label",
                                   "group",
                                   "time",
                                   "symbol_column",
                                   "date_order",
                                   "objective",
                                   "horizon",
                                   "threshold",
                                   "test",
                                   "split.valid_share",
                                   "split.test_share",
                                   "split.shuffle",
                                   "params",
                                   "early_stopping",
                                   "subsample",
                                   "subsample_freq",
                                   "gbdt.device",
                                   "gbdt.gpu_platform"};
  if (options.gbdt.device == TrainDevice::cuda)  // CUDA may be refused without these options
    keys.insert(keys.end(), {"max_depth", "is_unbalance", "gbdt.strict"});
  return given_words(options, keys);
}

std::vector<std::string> next_commands(const GbdtOptions& options, const DirectContext& context,
                                       const std::string& symbol) {
  const std::string data = data_words(options);
  std::vector<std::string> commands = {
      cat("lockstep train gbdt preset=experiment ", quote_for_shell(cat("symbol=", symbol)), data,
          given_words(options, {"start", "end"})),
      cat("lockstep batch gbdt", data)};
  if (options.made())
    commands.emplace_back("lockstep train gbdt data.path=DIR symbol=NAME start=2022-01-01");
  else
    commands.push_back(cat("lockstep predict ", shell_word(context.name), " data.path=NEWER.csv"));
  return commands;
}

// The folder to which a batch moves this job's folder after success. Empty if no batch runs the
// job.
std::filesystem::path published_by_a_batch(const DirectContext& context) {
  const std::filesystem::path attempts = context.folder.parent_path();
  const BatchFolder batch{attempts.parent_path()};
  std::error_code failed;
  const bool is_job = !environment("LOCKSTEP_JOB").empty() && attempts.filename() == "attempts" &&
                      std::filesystem::exists(batch.record(), failed);
  return is_job ? batch.published(environment("LOCKSTEP_JOB")) : std::filesystem::path();
}

DirectResult train(const GbdtOptions& options, const DirectContext& context) {
  const auto library =
      kept_library(find_lightgbm(options.gbdt.library, options.table.get("gbdt.device")));
  // reports invalid parameters before any work
  Parameters asked = resolve_parameters(*library, options.parameters());
  choose_gpu(*library, options.gbdt.gpu_platform, asked);
  const std::string symbol = first_symbol(options);
  if (const std::string note = first_symbol_note(options); !note.empty()) context.say(note);
  const WindowTask task{
      .symbol = symbol,
      .load = [&] { return kept_symbol(options, symbol); },
      .loaded_ahead_s = take_seconds_ahead(),
      .folder = context.folder,
      .published = published_by_a_batch(context),
      .batch_id = environment("LOCKSTEP_BATCH"),
      .batch_options = environment("LOCKSTEP_BATCH_OPTIONS"),
      .run_id = context.name,
      .attempt = whole_number<std::int64_t>(environment("LOCKSTEP_TRY")).value_or(1)};
  const WindowResult result = train_window(options, *library, task, context.say);
  if (result.status == DirectResult::Status::success) {
    const auto& model = result.metadata.at("model");
    const int leaves = model.at("most_leaves").get<int>();
    context.say(cat(result.metadata.at("window_label").get<std::string>(), ": ",
                    result.metadata.at("sample_counts").at("train").get<int>(), " rows, ",
                    count_of(model.at("trees").get<int>(), "tree"), " of at most ", leaves,
                    leaves == 1 ? " leaf" : " leaves", ", ended by ",
                    model.at("ended_by").get<std::string>()));
  }
  return {.status = result.status,
          .why = result.skip_reason,
          .record = result.metadata,
          .results = job_results(result.metadata),
          .main_result =
              cat(result.test.rows > 0 ? "test." : "validation.", options.learns().main_metric),
          .table = result.status == DirectResult::Status::success
                       ? cat(metric_lines("validation", result.valid, "test", result.test),
                             options.made() ? made_note(options.data.made_rows > 0) + "\n" : "")
                       : "",
          .next = next_commands(options, context, symbol)};
}

[[maybe_unused]] const bool train_linked = [] {
  trainer.train = train;
  trainer.load_ahead = load_ahead;
  return true;
}();

}  // namespace
}  // namespace lockstep::gbdt
