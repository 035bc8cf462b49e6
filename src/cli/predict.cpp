// lockstep predict: a recipe's outputs, streamed.
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/context.h"
#include "cli/piped_text.h"
#include "cli/ranks.h"
#include "cli/resolve.h"
#include "cli/run_end.h"
#include "cli/run_root.h"
#include "cli/train.h"

#include <unistd.h>

#include <utility>

namespace lockstep::cli {
namespace {

constexpr const char* prompt_key = "predict.prompt";
constexpr double patience_s = 5;  // for a pipe that may stay silent

// Whether the command line says what to go on from. Else a pipe may.
bool has_prompt(const Parsed& parsed, const RunSetup& setup) {
  const OptionTable& options = setup.options->table;
  if (parsed.positionals.size() > 1 || !options.has(prompt_key)) return true;
  if (options.has("predict.prompt_file") && !options.get("predict.prompt_file").empty())
    return true;
  return option_given(parsed, prompt_key).has_value();
}

int predict_main(const Parsed& parsed) {
  const RunDir run = operand_run(parsed);
  std::vector<std::string> assignments = parsed.assignments;
  if (parsed.positionals.size() > 1) {
    const std::string& prompt = parsed.positionals[1];
    assignments.push_back(
        cat(prompt_key, "=", prompt == "-" ? text_to_the_end(STDIN_FILENO) : prompt));
  }
  std::vector<Device> devices = devices_for(parsed.value("--devices"));
  devices.resize(1);
  RunSetup setup =
      resolve_resume(run, parsed.all("--config"), assignments, parsed.value("--plugin"));
  if (!has_prompt(parsed, setup))
    if (const auto text = piped_text(STDIN_FILENO, patience_s, say))
      setup.options->table.set(prompt_key, *text);
  return predict(run, std::move(setup), devices, parsed.has("--best"), parsed.has("--json"));
}

}  // namespace

int predict(const RunDir& run, RunSetup setup, const std::vector<Device>& devices, bool best,
            bool json) {
  nlohmann::json extra = setup.prepared.extra;
  prepare(setup, Purpose::predict, devices, run.path());
  extra.update(setup.prepared.extra);
  setup.prepared.extra = std::move(extra);
  setup.plan.devices = devices;
  setup.plan.batch.world_size = 1;
  const TemporaryDirectory folder;
  const std::filesystem::path record = folder.path() / "record.json";
  const std::filesystem::path request = folder.path() / "request.json";
  write_file_atomic(record, setup_to_json(setup).dump());
  write_file_atomic(request, setup.prepared.extra.dump());
  std::vector<std::string> arguments{
      "predict",       "--run",         std::filesystem::absolute(run.path()).string(),
      "--record",      record.string(), "--request",
      request.string()};
  if (best) arguments.push_back("--best");
  const std::filesystem::path output = folder.path() / "output";
  if (json) arguments.insert(arguments.end(), {"--output", output.string()});
  const LaunchOutcome outcome = run_ranks(
      {.arguments = arguments, .devices = devices, .log_dir = folder.path(), .pass_stdout = !json});
  const int code = report_reading(outcome);
  if (json && code == exit_finished)
    print(nlohmann::json{{"output", read_file(output)}}.dump(
        2, ' ', false, nlohmann::json::error_handler_t::replace));
  return code;
}

Command predict_command() {
  return {.name = "predict",
          .operands = "RUN [PROMPT] [key=value …]",
          .summary = "outputs of a run's newest good checkpoint, streamed",
          .details = std::string("For text: generated text. Options predict.* say how; PROMPT is "
                                 "predict.prompt.\n"
                                 "Without PROMPT the text of a pipe is it: echo \"It was\" | "
                                 "lockstep predict RUN. PROMPT - waits for one.\n"
                                 "After -- a PROMPT may begin with - or hold =: lockstep predict "
                                 "RUN -- \"a = b\".\n") +
                     run_operand_help,
          .flags = {{"--devices", "LIST", "the first of these is used (default all)", "devices"},
                    {"--best", "", "the best checkpoint instead of the newest"},
                    {"--config", "FILE", "TOML file of options; later files overlay earlier ones",
                     "file"},
                    {"--plugin", "LIB", "the recipe's library, in place of the one in the record",
                     "file"},
                    {"--json", "", "all of it at the end, as JSON: {\"output\": …}"}},
          .min_positionals = 1,
          .max_positionals = 2,
          .takes_assignments = true,
          .complete = "run",
          .run = predict_main,
          .tried_flags = {tried_root(),
                          {"--prompt", "write it after the run: lockstep predict RUN \"It was\""},
                          {"--prompt-file", "write predict.prompt_file=FILE"}}};
}

}  // namespace lockstep::cli
