#include "tools/cli/train/then.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "planning/words.h"
#include "runtime/launch/launch.h"
#include "runtime/run/progress/time_left.h"
#include "tools/cli/bench/measured_times.h"
#include "tools/cli/compare/report.h"
#include "tools/cli/context.h"
#include "tools/cli/plan/resolve.h"
#include "tools/cli/predict/predict_items.h"
#include "tools/cli/train/train.h"

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

// The shorter one of both limits, or 0 if there is none.
Duration shortest_quota(const TrainOptions& options) {
  const Duration after = options.stop.after, budget = options.stop.budget;
  if (after.seconds == 0 || budget.seconds == 0) return after.seconds == 0 ? budget : after;
  return after.seconds < budget.seconds ? after : budget;
}

Duration in_whole_ms(double seconds) {
  constexpr double ms_per_s = 1000;
  return {std::round(seconds * ms_per_s) / ms_per_s};
}

// A tenth of the limit, but at most an hour.
Duration usual_reserve(Duration quota) {
  constexpr double share = 0.1, most_s = 3600;
  return in_whole_ms(std::min(share * quota.seconds, most_s));
}

// The time to reserve for predictions that took `known_s` before. Some of the limit is always left
// for training.
Duration reserve_for(double known_s, Duration quota) {
  constexpr double margin = 1.15, most_share = 0.9;
  const double needed_s = std::ceil(margin * known_s);
  return in_whole_ms(std::min(needed_s, most_share * quota.seconds));
}

std::string count_items(std::int64_t count) { return count_of(count, "item"); }

// The options of the group `predict.` on the command line.
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
                 const Then& then, double ends_s) {
  const OptionTable& table = setup.options->table;
  const bool own_folder = !table.has(out_key) || table.get(out_key).empty();
  RunSetup copy = setup_from_json(setup_to_json(setup));
  try {
    return predict(run, std::move(copy), devices,
                   {.best = true,
                    .force = then.force,
                    .replace = own_folder,
                    .outputs = run.path(),
                    .root = setup.train->run.root,
                    .ends_s = ends_s});
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

// Called after a prediction that failed or skipped items.
void say_what_is_left(const RunSetup& setup, const RunDir& run, const TrainingEnd& end) {
  const std::string name = shell_word(run.path().string());
  say(cat("--then predict did not do all of it; ",
          end.how == Trained::to_the_end ? "the run itself is trained" : "the run itself is saved",
          "\nto predict again: lockstep predict ", name, " --best", own_words(setup)));
  if (end.how == Trained::until_quota) say(cat("to go on: ", end.go_on));
}

}  // namespace

Then then_of(const Parsed& parsed) {
  Then then{.force = parsed.has("--force"),
            .repeated = parsed.has("--seeds"),
            .by_resume_auto = parsed.value("--resume") == "auto"};
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
      if (step != report_step) then.groups.push_back(step);  // the report has no options
    }
  if (!parsed.has("--world")) then.steps = steps;
  if (then.force && !names(then.groups, predict_step))
    throw Error("--force replaces outputs of --then predict, which is not there",
                "leave out --force, or add --then predict");
  return then;
}

ItemLoad check_predictions(const RunSetup& setup, const Then& then,
                           const std::filesystem::path& run_dir, bool trains) {
  return predicts_items(setup, then) ? check_items(setup, run_dir, trains && !then.force)
                                     : ItemLoad{};
}

void check_evaluation(const RunSetup& setup, const Then& then) {
  if (setup.prepared.facts.valid_samples > 0 || !then.has(evaluate_step)) return;
  throw Error("there is no validation data that --then evaluate could evaluate",
              cat("leave out --then evaluate, or set aside validation data (see lockstep config ",
                  setup.recipe, ")"));
}

void check_reserve(const TrainOptions& train) {
  const Duration reserve = train.stop.reserve, quota = shortest_quota(train);
  if (reserve.seconds == 0) return;
  if (quota.seconds == 0)
    throw Error(cat("stop.reserve = ", format_duration(reserve),
                    " is a part of stop.after and stop.budget, but neither is set"),
                "set stop.after, or leave out stop.reserve");
  if (reserve.seconds >= quota.seconds)
    throw Error(cat("stop.reserve = ", format_duration(reserve), " leaves no time to train of ",
                    format_duration(quota)),
                "set a smaller stop.reserve, or a longer stop.after or stop.budget");
}

AfterTraining reserve_time(RunSetup& setup, const Then& then, const ItemLoad& load) {
  TrainOptions& train = *setup.train;
  const Duration quota = shortest_quota(train);
  const bool is_set = train.stop.reserve.seconds > 0 || is_asked_for(train.table, "stop.reserve");
  AfterTraining after{.predicts = then.has(predict_step) && !is_set, .items = load.items};
  std::string why = "stop.reserve";
  if (!is_set && quota.seconds > 0 && predicts_items(setup, then)) {
    const auto known_s = known_prediction_s(setup, setup.plan.devices, load);
    after.reserve_is_guess = !known_s;
    train.stop.reserve = known_s ? reserve_for(*known_s, quota) : usual_reserve(quota);
    why = known_s ? cat("predicting ", count_items(load.items), " takes ", format_span(*known_s),
                        " by the last time")
                  : "stop.reserve; by default a tenth, an hour at most, and more once an "
                    "evaluation shows that it takes more";
    if (known_s && *known_s > train.stop.reserve.seconds)
      setup.plan.notes.push_back(cat(
          "warning: predicting ", count_items(load.items), " takes about ", format_span(*known_s),
          ", which does not fit; items that would not end in time are left out"));
  }
  if (train.stop.reserve.seconds > 0)
    setup.plan.notes.push_back(
        cat("training stops ", format_duration(train.stop.reserve), " before ",
            quota == train.stop.after ? "stop.after" : "stop.budget", " = ", format_duration(quota),
            " is over, for what follows it (", why, ")"));
  return after;
}

int run_then(const RunSetup& setup, const RunDir& run, const std::vector<Device>& devices,
             const Then& then, const TrainingEnd& end) {
  for (const std::string& step : then.steps) {
    int code = exit_finished;
    if (step == evaluate_step && !print_last_evaluation(run)) {
      if (end.how == Trained::to_the_end)
        code = evaluate(run, setup_from_json(setup_to_json(setup)), devices, {});
      else
        say(
            cat("--then evaluate is left out: the time is over, and the newest checkpoint was not "
                "evaluated while training; lockstep evaluate ",
                shell_word(run.path().string()), " does it"));
    }
    if (step == predict_step) {
      code = predict_then(setup, run, devices, then, end.ends_s);
      if (code != exit_finished) say_what_is_left(setup, run, end);
    }
    if (step == report_step) code = report_then(run);
    if (code != exit_finished) return code;
  }
  return exit_finished;
}

}  // namespace lockstep::cli
