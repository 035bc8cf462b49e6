// Implements `lockstep predict`. It writes a recipe's outputs for items, or streams them.
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "tools/cli/commands.h"
#include "tools/cli/compare/run_source.h"
#include "tools/cli/context.h"
#include "tools/cli/direct.h"
#include "tools/cli/output.h"
#include "tools/cli/plan/resolve.h"
#include "tools/cli/predict/further_runs.h"
#include "tools/cli/predict/piped_text.h"
#include "tools/cli/predict/predict_items.h"
#include "tools/cli/predict/training_options.h"
#include "tools/cli/ranks.h"
#include "tools/cli/run_end.h"
#include "tools/cli/run_root.h"
#include "tools/cli/train/train.h"

#include <unistd.h>

#include <limits>
#include <utility>

namespace lockstep::cli {
namespace {

constexpr double patience_s = 5;  // for a pipe that may stay silent

// Whether the command line gives the text to continue. If not, a pipe may give it.
bool has_text(const Parsed& parsed, const RunSetup& setup, const PredictInput& input) {
  const OptionTable& options = setup.options->table;
  if (parsed.positionals.size() > 1 || input.option.empty()) return true;
  for (const std::string& other : input.other_options)
    if (options.has(other) && !options.get(other).empty()) return true;
  return is_asked_for(options, input.option);
}

// Puts the operand or the piped text into the recipe's option.
void take_text(const Parsed& parsed, RunSetup& setup, const PredictInput& input) {
  OptionTable& options = setup.options->table;
  if (parsed.positionals.size() > 2)
    throw Error(cat("unexpected argument ", parsed.positionals[2]),
                "a text of several words stands in quotes");
  if (parsed.positionals.size() == 2) {
    const std::string& text = parsed.positionals[1];
    if (input.option.empty())
      throw Error(cat("the recipe ", setup.recipe, " takes no input, but was given ", text),
                  "leave it out");
    options.set(input.option, text == "-" ? text_to_the_end(STDIN_FILENO) : text,
                {.kind = ValueSource::Kind::argument});
    return;
  }
  if (has_text(parsed, setup, input)) return;
  if (const auto text = piped_text(STDIN_FILENO, patience_s, say)) options.set(input.option, *text);
}

// Removes inputs that the record holds for `--then predict`. These inputs may be paths on another
// machine, and apply only to that step.
void forget_inputs_of_record(OptionTable& options) {
  for (const OptionInfo& option : options.options()) {
    if (option.source.kind != ValueSource::Kind::record || !option.key.starts_with("predict."))
      continue;
    if (option.key != also_key && !option.spec.is_path) continue;
    options.set_json(
        option.key, option.type == OptionType::list ? nlohmann::json::array() : nlohmann::json(""));
  }
}

// The command that resumes a prediction of items. --force is left out, because it would repeat
// finished items.
std::string prediction_again(const Parsed& parsed) {
  std::vector<std::string> words{"lockstep", "predict"};
  for (const auto& [flag, values] : parsed.values)
    for (const std::string& value : values) {
      if (flag == "--force") continue;
      words.push_back(flag);
      if (flag != "--best" && flag != "--json") words.push_back(shell_word(value));
    }
  for (const std::string& word : parsed.assignments) words.push_back(shell_word(word));
  bool needs_dashes = false;
  for (const std::string& word : parsed.positionals)
    needs_dashes |= (word.starts_with('-') && word != "-") || is_assignment(word);
  if (needs_dashes) words.emplace_back("--");
  for (const std::string& word : parsed.positionals) words.push_back(shell_word(word));
  return join(words, " ");
}

int predict_main(const Parsed& parsed) {
  if (const std::optional<int> code = use_direct(parsed, true)) return *code;
  const RunSource source = operand_source(parsed);
  RunSetup setup = resolve_resume(source.run, parsed.all("--config"), parsed.assignments,
                                  parsed.value("--plugin"), {.groups = {"predict"}});
  check_no_training_options(source.run, setup, parsed.assignments, "predict");
  forget_inputs_of_record(setup.options->table);
  const ReadOptions reading{.best = parsed.has("--best"),
                            .json = parsed.has("--json"),
                            .force = may_overwrite(parsed),
                            .weights = source.weights,
                            .outputs = source.outputs,
                            .root = run_root(parsed),
                            .again = prediction_again(parsed)};
  const std::string spec = parsed.value("--devices");
  const PredictInput input = setup.options->predict_input();
  if (input.has_items())
    return predict_items(source.run, std::move(setup), devices_for_items(spec), reading,
                         {parsed.positionals.begin() + 1, parsed.positionals.end()});
  const std::vector<Device> devices = devices_for(spec);
  take_text(parsed, setup, input);
  return predict(source.run, std::move(setup), devices, reading);
}

int stream_text(const RunDir& run, RunSetup setup, Device device, const ReadOptions& reading) {
  const std::vector<Device> devices{std::move(device)};
  prepare_to_predict(setup, devices, run.path());
  setup.plan.devices = devices;
  setup.plan.batch.world_size = 1;
  const TemporaryDirectory folder;
  const std::filesystem::path record = folder.path() / "record.json";
  const std::filesystem::path request = folder.path() / "request";
  write_file_atomic(record, setup_to_json(setup).dump());
  std::string asked;
  nlohmann::json::to_cbor({{"extra", setup.prepared.extra},
                           {"folder", std::filesystem::absolute(reading.outputs).string()}},
                          asked);
  write_file_atomic(request, asked);
  std::vector<std::string> arguments{
      "predict",       "--run",         std::filesystem::absolute(run.path()).string(),
      "--record",      record.string(), "--request",
      request.string()};
  if (reading.best) arguments.push_back("--best");
  if (!reading.weights.empty())
    arguments.insert(arguments.end(), {"--weights", reading.weights.string()});
  const std::filesystem::path output = folder.path() / "output";
  if (reading.json) arguments.insert(arguments.end(), {"--output", output.string()});
  const LaunchOutcome outcome = run_ranks({.arguments = arguments,
                                           .devices = devices,
                                           .log_dir = folder.path(),
                                           .pass_stdout = !reading.json});
  const int code = report_reading(outcome);
  if (reading.json && code == exit_finished)
    print(json_text({{"output", read_file(output, data_bytes)}}));
  return code;
}

}  // namespace

int predict(const RunDir& run, RunSetup setup, const std::vector<Device>& devices,
            const ReadOptions& reading, const std::vector<std::string>& inputs) {
  if (setup.options->predict_input().has_items())
    return predict_items(run, std::move(setup), devices, reading, inputs);
  return stream_text(run, std::move(setup), devices.at(0), reading);
}

Command predict_command() {
  return {
      .name = "predict",
      .operands = "RUN [INPUT …] [key=value …]",
      .summary = "outputs of a run's newest good checkpoint, or of an export",
      .details =
          std::string(
              "A bare KEY means predict.KEY where the recipe has that.\n\n"
              "Recipes that predict items (pictures, lines, …) take files, folders, globs in "
              "quotes, or - for standard input, and share them out over all devices. Outputs go to "
              "RUN/predictions or out=FOLDER, and are the same on any number of devices. An input "
              "that cannot be used is named and skipped; the exit code is 1 then. After an "
              "interruption, the same command does not make finished outputs again. also=RUN,RUN "
              "averages the outputs of further runs or exports, where the recipe can.\n\n"
              "For text: generated text, streamed, on one device. INPUT is predict.prompt.\n"
              "Without INPUT it is the text of a pipe: echo \"It was\" | lockstep predict RUN. - "
              "waits for one.\n"
              "After -- an INPUT may begin with - or hold =: lockstep predict RUN -- \"a = "
              "b\".\n\n") +
          source_operand_help,
      .flags = {{"--devices", "LIST", "all, cpu, cpu:4, 0,1 or UUIDs (default all)", "devices"},
                {"--best", "", "the best checkpoint instead of the newest"},
                {"--config", "FILE",
                 "TOML or .json file of options; later files overlay earlier ones", "file"},
                {"--plugin", "LIB", "the recipe's library, in place of the one in the record",
                 "file"},
                {"--force", "", "make all again, and overwrite outputs that are there already"},
                {"--json", "",
                 "at the end, as JSON: {\"output\": …} of text, {\"out\", \"items\", "
                 "\"predicted\", \"already\", \"skipped\"} of items"}},
      .min_positionals = 1,
      .max_positionals = std::numeric_limits<std::size_t>::max(),
      .takes_assignments = true,
      .complete = "run",
      .run = predict_main,
      .tried_flags = {tried_root(),
                      {"--prompt", "write it after the run: lockstep predict RUN \"It was\""},
                      {"--prompt-file", "write predict.prompt_file=FILE"}},
      .group = "predict",
      .takes_files = true};
}

}  // namespace lockstep::cli
