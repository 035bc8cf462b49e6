#include "cli/then.h"

#include "base/error.h"
#include "base/text.h"
#include "cli/context.h"
#include "cli/predict_items.h"
#include "cli/report.h"
#include "cli/resolve.h"
#include "cli/run_end.h"
#include "cli/train.h"
#include "launch/launch.h"

#include <algorithm>
#include <cmath>

namespace lockstep::cli {
namespace {

constexpr const char* evaluate_step = "evaluate";
constexpr const char* predict_step = "predict";
constexpr const char* report_step = "report";

bool names(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool predicts_items(const RunSetup& setup, const Then& then) {
  return then.has(predict_step) && setup.options->predict_input().has_items();
}

// The shorter one; 0: there is none.
Duration shortest_quota(const TrainOptions& options) {
  const Duration after = options.stop.after, budget = options.stop.budget;
  if (after.seconds == 0 || budget.seconds == 0) return after.seconds == 0 ? budget : after;
  return after.seconds < budget.seconds ? after : budget;
}

void check_reserve(Duration reserve, Duration quota) {
  if (quota.seconds == 0)
    throw Error(cat("stop.reserve = ", format_duration(reserve),
                    " is a part of stop.after and stop.budget, but neither is set"),
                "set stop.after, or leave out stop.reserve");
  if (reserve.seconds >= quota.seconds)
    throw Error(cat("stop.reserve = ", format_duration(reserve), " leaves no time to train of ",
                    format_duration(quota)),
                "set a smaller stop.reserve, or a longer stop.after or stop.budget");
}

// The options of the group predict. that the command line gives.
std::string own_words(const RunSetup& setup) {
  std::string words;
  const OptionTable& table = setup.options->table;
  for (const OptionInfo& option : table.options())
    if (option.key.starts_with("predict.") && option.source.kind == ValueSource::Kind::argument)
      words += " " + shell_word(cat(option.key, "=", table.get(option.key)));
  return words;
}

int told(const Error& error) {
  say_error(error.what(), error.hint());
  return exit_usage;
}

int predict_then(const RunSetup& setup, const RunDir& run, const std::vector<Device>& devices,
                 const Then& then) {
  const OptionTable& table = setup.options->table;
  const bool own_folder = !table.has(out_key) || table.get(out_key).empty();
  RunSetup copy = setup_from_json(setup_to_json(setup));
  try {
    return predict(run, std::move(copy), devices,
                   {.best = true,
                    .replace = then.force || own_folder,
                    .outputs = run.path(),
                    .root = setup.train->run.root});
  } catch (const Error& error) {
    return told(error);
  } catch (const ToldAlready& already) {
    return already.code;
  }
}

int report_then(const RunDir& run) {
  try {
    write_run_report(run);
    return exit_finished;
  } catch (const Error& error) {
    return told(error);
  }
}

// After a prediction that failed, or skipped something.
void say_what_is_left(const RunSetup& setup, const RunDir& run, Trained trained) {
  const std::string name = shell_word(run.path().string());
  say(cat("--then predict did not do all of it; ",
          trained == Trained::to_the_end ? "the run itself is trained" : "the run itself is saved",
          "\nto predict again: lockstep predict ", name, " --best", own_words(setup)));
  if (trained == Trained::until_quota) say(cat("to go on: ", resume_command_for(run)));
}

}  // namespace

bool Then::has(std::string_view step) const { return names(steps, step); }

Then then_of(const Parsed& parsed) {
  Then then{.force = parsed.has("--force"), .repeated = parsed.has("--seeds")};
  std::vector<std::string> steps;
  if (parsed.has("--then"))
    for (const std::string& step : split(parsed.value("--then"), ',')) {
      const std::vector<std::string> known{evaluate_step, predict_step, report_step};
      if (!names(known, step)) {
        const std::string near = nearest(step, known);
        throw Error(cat("--then knows evaluate, predict and report, but was given \"", step, "\""),
                    near.empty() ? "write --then evaluate,predict for both of them"
                                 : cat("did you mean ", near, "?"));
      }
      if (names(steps, step)) continue;
      steps.push_back(step);
      if (step != report_step) then.groups.push_back(step);  // it has no options
    }
  if (!parsed.has("--world")) then.steps = steps;
  if (then.force && !names(then.groups, predict_step))
    throw Error("--force replaces outputs of --then predict, which is not there",
                "leave out --force, or add --then predict");
  return then;
}

void check_predictions(const RunSetup& setup, const Then& then,
                       const std::filesystem::path& run_dir, bool trains) {
  if (predicts_items(setup, then)) check_items(setup, run_dir, trains && !then.force);
}

void check_evaluation(const RunSetup& setup, const Then& then) {
  if (setup.prepared.facts.valid_samples > 0 || !then.has(evaluate_step)) return;
  throw Error("there is no validation data that --then evaluate could evaluate",
              cat("leave out --then evaluate, or set aside validation data (see lockstep config ",
                  setup.recipe, ")"));
}

std::string reserve_time(RunSetup& setup, const Then& then) {
  constexpr double share = 0.1, most_s = 3600, ms_per_s = 1000;
  TrainOptions& train = *setup.train;
  Duration& reserve = train.stop.reserve;
  const Duration quota = shortest_quota(train);
  const bool is_set = reserve.seconds > 0 || is_asked_for(train.table, "stop.reserve");
  if (!is_set && predicts_items(setup, then))
    reserve = {std::min(std::round(share * quota.seconds * ms_per_s) / ms_per_s, most_s)};
  if (reserve.seconds == 0) return "";
  check_reserve(reserve, quota);
  return cat("training stops ", format_duration(reserve), " before ",
             quota == train.stop.after ? "stop.after" : "stop.budget", " = ",
             format_duration(quota), " is over, for what follows it (stop.reserve",
             is_set ? ")" : "; by default a tenth, an hour at most)");
}

int run_then(const RunSetup& setup, const RunDir& run, const std::vector<Device>& devices,
             const Then& then, Trained trained) {
  for (const std::string& step : then.steps) {
    int code = exit_finished;
    if (step == evaluate_step && !print_last_evaluation(run)) {
      if (trained == Trained::to_the_end)
        code = evaluate(run, setup_from_json(setup_to_json(setup)), devices, {});
      else
        say(
            cat("--then evaluate is left out: the time is over, and the newest checkpoint was not "
                "evaluated while training; lockstep evaluate ",
                shell_word(run.path().string()), " does it"));
    }
    if (step == predict_step) {
      code = predict_then(setup, run, devices, then);
      if (code != exit_finished) say_what_is_left(setup, run, trained);
    }
    if (step == report_step) code = report_then(run);
    if (code != exit_finished) return code;
  }
  return exit_finished;
}

}  // namespace lockstep::cli
