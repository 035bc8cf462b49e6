// Implements `lockstep compare`. It shows which of two runs, batches or groups is faster or better,
// or shows many as a table.
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "core/media/csv_table.h"
#include "runtime/run/groups.h"
#include "runtime/run/labels.h"
#include "tools/cli/batch/batch.h"
#include "tools/cli/commands.h"
#include "tools/cli/context.h"
#include "tools/cli/output.h"
#include "tools/cli/percent.h"
#include "tools/cli/run_root.h"
#include "tools/report/comparison/comparison.h"
#include "tools/report/comparison/job_match.h"
#include "tools/report/comparison/trial_source.h"
#include "tools/report/comparison/trial_table.h"
#include "tools/report/facts/abtest_facts.h"
#include "tools/report/facts/batch_repeats.h"
#include "tools/report/facts/run_facts.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <set>

namespace lockstep::cli {
namespace {

constexpr double least_share = 1e-6;  // a smaller margin is practically zero

std::vector<std::string> words_of(const Parsed& parsed, const std::string& flag) {
  std::vector<std::string> words;
  for (const std::string& value : parsed.all(flag))
    for (const std::string& word : split(value, ','))
      if (!trim(word).empty()) words.push_back(trim(word));
  return words;
}

std::map<std::string, Better> directions(const Parsed& parsed) {
  std::map<std::string, Better> better;
  for (const std::string& word : words_of(parsed, "--better")) {
    const std::size_t equals = word.find('=');
    const std::string direction = equals == word.npos ? "" : word.substr(equals + 1);
    if (direction != "lower" && direction != "higher")
      throw Error(cat("--better must be METRIC=lower or METRIC=higher, but is ", printable(word)),
                  "for example: --better auc=higher");
    better[word.substr(0, equals)] = direction == "lower" ? Better::lower : Better::higher;
  }
  return better;
}

// The command without --varied, because the answer may suggest values for it.
std::string command_again(const Parsed& parsed) {
  std::string command = "lockstep compare";
  for (const std::string& word : parsed.positionals) command += " " + shell_word(word);
  for (const std::string& word : parsed.assignments) command += " " + shell_word(word);
  for (const auto& [flag, values] : parsed.values) {
    if (flag == "--varied" || flag == "--out" || flag == "--force") continue;
    for (const std::string& value : values)
      command += cat(" ", flag, value.empty() ? "" : " ", value.empty() ? "" : shell_word(value));
  }
  return command;
}

CompareOptions compare_options(const Parsed& parsed) {
  CompareOptions options{.margin = share_of(parsed, "--margin", 0.02, least_share),
                         .by = parsed.value("--by"),
                         .varied = words_of(parsed, "--varied"),
                         .assumed = words_of(parsed, "--assume"),
                         .better = directions(parsed),
                         .command = command_again(parsed)};
  if (!parsed.has("--loss")) return options;
  options.loss = to_number(parsed.value("--loss"));
  if (!options.loss || !std::isfinite(*options.loss))
    throw Error(cat("--loss must be a number, but is ", printable(parsed.value("--loss"))),
                "for example: --loss 1.5");
  return options;
}

// The finished trials of a group. Other trials are reported, because the group may look better
// without them.
std::vector<Trial> trials_of_group(const std::vector<RunDir>& runs, const std::string& name) {
  std::vector<Trial> trials;
  std::vector<std::string> others;
  for (const RunDir& run : runs)
    if (run.state() == RunState::finished)
      trials.push_back(read_run_facts(run));
    else
      others.push_back(cat(run.name(), " (", to_string(run.state()), ")"));
  if (trials.empty())
    throw Error(cat("no run of the group ", printable(name),
                    " has finished: ", printable(join(others, ", "))),
                "go on with them: lockstep train … --seeds N --name NAME --resume auto");
  if (!others.empty())
    trials[0].cautions.push_back(
        cat("of its group are left out, as they have not finished: ", join(others, ", ")));
  return trials;
}

bool lies_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// A run, a batch or a log. The word may also name the jobs of a batch with some parameters:
// "sweep:lr=0.1".
Trial trial_of(const std::string& word, const std::string& root) {
  const auto [batch, chosen] = split_choice(word);
  if (chosen.empty() || lies_there(word) || lies_there(std::filesystem::path(root) / word))
    return read_trial(word, root);
  Trial trial = read_trial(batch, root);
  if (trial.source != "batch")
    throw Error(cat(printable(batch), " is no batch: it has no jobs with parameters such as ",
                    printable(cat(chosen[0].first, "=", chosen[0].second))),
                "name the run alone");
  return choose_jobs(std::move(trial), chosen);
}

// The trials that one word of a side names. A group's name means all of its runs, unless a run has
// that name. alone: the word is the whole side. The seeds of a batch are then its repeats.
std::vector<Trial> trials_of(const std::string& word, bool alone, const std::string& root) {
  const bool taken = lies_there(word) || lies_there(std::filesystem::path(root) / word);
  if (const auto runs = taken ? std::vector<RunDir>() : runs_of_group(root, word); !runs.empty())
    return trials_of_group(runs, word);
  std::vector<Trial> trials;
  trials.push_back(trial_of(word, root));
  if (alone && trials[0].source == "batch") return by_seed(std::move(trials[0]));
  return trials;
}

[[noreturn]] void throw_no_side(const std::string& word, const std::string& root) {
  const std::string near = nearest(word, list_groups(root));
  throw Error(cat("with --groups each side must be NAME=RUN,RUN,… or the name of a group of runs "
                  "(train --seeds), but one is ",
                  printable(word)),
              near.empty()
                  ? "for example: lockstep compare --groups baseline=a1,a2,a3 experiment=b1,b2,b3"
                  : cat("did you mean the group ", near, "?"));
}

// Reads "baseline=a1,a2", or the name of a group.
TrialGroup group_of(const std::string& word, const std::string& root) {
  const std::size_t equals = word.find('=');
  if (equals == word.npos && !word.empty()) {
    if (const std::vector<RunDir> runs = runs_of_group(root, word); !runs.empty())
      return {.name = word, .trials = trials_of_group(runs, word)};
    if (lies_there(std::filesystem::path(root) / word / "batch.json"))
      return {.name = word, .trials = trials_of(word, /*alone=*/true, root)};
  }
  if (equals == word.npos || equals == 0 || equals + 1 == word.size()) throw_no_side(word, root);
  TrialGroup group{.name = word.substr(0, equals), .trials = {}};
  const std::vector<std::string> words = split(word.substr(equals + 1), ',');
  for (const std::string& one : words) {
    if (one.empty()) continue;
    std::vector<Trial> trials = trials_of(one, words.size() == 1, root);
    std::move(trials.begin(), trials.end(), std::back_inserter(group.trials));
  }
  if (group.trials.empty())
    throw Error(cat("the side ", printable(group.name), " names no run"),
                "for example: lockstep compare --groups baseline=a1,a2,a3 experiment=b1,b2,b3");
  return group;
}

// The same run must not be twice on one side, and not on both sides.
void check_groups(const TrialGroup& a, const TrialGroup& b) {
  if (a.name == b.name)
    throw Error(cat("both sides are named ", printable(a.name)), "give each a name of its own");
  std::set<std::filesystem::path> seen;
  for (const TrialGroup* group : {&a, &b})
    for (const Trial& trial : group->trials) {
      std::error_code ignored;
      std::filesystem::path path = std::filesystem::weakly_canonical(trial.path, ignored);
      if (ignored) path = trial.path;
      if (!path.has_filename()) path = path.parent_path();
      if (!seen.insert(path).second)
        throw Error(cat(printable(trial.name), " is named twice in --groups"),
                    "a repeat is a run of its own: name each once");
    }
}

std::filesystem::path abtest_folder(const std::string& word, const std::string& root) {
  const std::filesystem::path named = std::filesystem::path(root) / word;
  return is_abtest_folder(named) ? named : std::filesystem::path(word);
}

// The sides of a `lockstep abtest` trial, compared with the trial's own settings. Flags of this
// command take precedence.
std::pair<TrialGroup, TrialGroup> abtest_sides(const Parsed& parsed, const std::string& word,
                                               const std::string& root, CompareOptions& options) {
  AbtestSides sides = read_abtest(abtest_folder(word, root));
  options.paired = true;
  const auto has = [&](const TrialGroup& group) {
    return std::any_of(group.trials.begin(), group.trials.end(),
                       [&](const Trial& trial) { return trial.find(sides.by) != nullptr; });
  };
  if (options.by.empty() && has(sides.a) && has(sides.b)) options.by = sides.by;
  if (sides.confidence) options.confidence = *sides.confidence;
  if (sides.margin && !parsed.has("--margin")) {
    if (sides.scale == Scale::ratio)
      options.margin = *sides.margin;
    else if (options.by == sides.by)
      options.by_margin = sides.margin;
  }
  return {std::move(sides.a), std::move(sides.b)};
}

// Throws Error if a list is given without --groups. A name may contain commas too, for example that
// of a job. In a list, at least one part is a run.
void check_one_run_each(const std::vector<std::string>& words, const std::string& root) {
  const auto lies_here = [&](const std::string& word) {
    return !word.empty() && (lies_there(word) || lies_there(std::filesystem::path(root) / word));
  };
  const auto is_list = [&](const std::string& word) {
    if (word.find(',') == word.npos || word.find(':') != word.npos || lies_here(word)) return false;
    const std::vector<std::string> runs = split(word.substr(word.find('=') + 1), ',');
    return std::any_of(runs.begin(), runs.end(), lies_here);
  };
  const auto list = std::find_if(words.begin(), words.end(), is_list);
  if (list == words.end()) return;
  std::string command = "lockstep compare --groups";
  for (std::size_t i = 0; i < words.size(); ++i)
    command += cat(" ", words[i].find('=') == std::string::npos ? i == 0 ? "a=" : "b=" : "",
                   shell_word(words[i]));
  throw Error(cat(printable(*list), " names several runs, but a side is one"),
              cat("for repeats: ", printable(command)));
}

std::pair<TrialGroup, TrialGroup> sides(const Parsed& parsed, const std::string& root,
                                        CompareOptions& options) {
  const std::vector<std::string>& words = parsed.positionals;
  if (words.size() == 1 && !parsed.has("--groups"))
    return abtest_sides(parsed, words[0], root, options);
  if (words.size() != 2)
    throw Error(cat("a comparison needs two sides, but ", words.size(), " were given"),
                "for example: lockstep compare --groups baseline=a1,a2,a3 experiment=b1,b2,b3");
  if (parsed.has("--groups")) {
    TrialGroup a = group_of(words[0], root), b = group_of(words[1], root);
    check_groups(a, b);
    return {std::move(a), std::move(b)};
  }
  check_one_run_each(words, root);
  TrialGroup a, b;
  a.trials.push_back(trial_of(words[0], root));
  b.trials.push_back(trial_of(words[1], root));
  a.name = a.trials[0].name;
  b.name = b.trials[0].name;
  if (a.name == b.name) {
    a.name += " (A)";
    b.name += " (B)";
  }
  return {std::move(a), std::move(b)};
}

void keep(const Parsed& parsed, const nlohmann::json& value) {
  if (!parsed.has("--out")) return;
  Output out(parsed.value("--out"), may_overwrite(parsed));
  if (out.write(json_text(value) + "\n") == Written::failed) throw ToldAlready{2};
}

int compare_sides(const Parsed& parsed, const std::string& root) {
  CompareOptions options = compare_options(parsed);
  std::optional<double> threshold;
  if (parsed.has("--fail-if-slower")) threshold = share_of(parsed, "--fail-if-slower", 0.03);
  auto [a, b] = sides(parsed, root, options);
  const Comparison comparison = compare(std::move(a), std::move(b), options);
  // making the JSON takes long for long logs
  if (parsed.has("--out")) keep(parsed, comparison_json(comparison));
  print(parsed.has("--json") ? json_text(comparison_json(comparison))
                             : trim(comparison_text(comparison, text_width())));
  return threshold ? exit_code_of(comparison, *threshold) : 0;
}

RunLabels labels_of(const RunDir& run) {
  try {
    return read_labels(run.path(), run.record());
  } catch (const Error&) {
    return {};
  }
}

// The named trials, and those with the tags. An unreadable trial does not stop the others.
std::vector<Trial> many_trials(const Parsed& parsed, const std::string& root) {
  std::vector<Trial> trials;
  const auto add = [&](const std::string& word) {
    try {
      trials.push_back(read_trial(word, root));
      add_own_jobs(trials.back());
    } catch (const Error& error) {
      say(cat("warning: ", printable(word), " is left out: ", error.what()));
    }
  };
  for (const std::string& word : parsed.positionals) add(word);
  const std::vector<std::string> tags = words_of(parsed, "--tag");
  if (tags.empty()) return trials;
  const auto has_all = [&](const RunLabels& labels) {
    return std::all_of(tags.begin(), tags.end(),
                       [&](const std::string& tag) { return labels.has(tag); });
  };
  for (const RunDir& run : list_runs(root))
    if (has_all(labels_of(run))) add(run.path().string());
  for (const std::filesystem::path& batch : batches_in(root))
    if (has_all(read_labels(batch, nullptr))) add(batch.string());
  return trials;
}

int compare_many(const Parsed& parsed, const std::string& root) {
  const std::vector<Trial> trials = many_trials(parsed, root);
  if (trials.empty())
    throw Error("there is nothing to compare",
                parsed.has("--tag") ? "lockstep runs --tag TAG lists the runs that have a tag"
                                    : "name two runs or more: lockstep compare RUN_A RUN_B");
  TrialTable table = trial_table(trials);
  if (parsed.has("--sort")) sort_table(table, parsed.value("--sort"));
  keep(parsed, trial_table_json(table));
  if (parsed.has("--json"))
    print(json_text(trial_table_json(table)));
  else if (parsed.has("--csv"))
    print_data(trim(trial_table_csv(table)));
  else
    print(trim(trial_table_text(table, table_width())));
  return 0;
}

int compare_main(const Parsed& parsed) {
  const std::string root = run_root(parsed);
  const bool table =
      parsed.has("--table") || parsed.has("--tag") || parsed.has("--csv") || parsed.has("--sort");
  if (parsed.has("--groups") && table)
    throw Error("--groups compares two sides, and --table, --tag, --csv and --sort make a table",
                "leave one of them out");
  if (parsed.has("--json") && parsed.has("--csv"))
    throw Error("--json and --csv are two forms of one table", "leave one of them out");
  if (parsed.has("--out")) check_new_file(parsed.value("--out"), may_overwrite(parsed));
  if (parsed.positionals.empty() && !parsed.has("--tag"))
    throw Error("lockstep compare needs what to compare",
                "for example: lockstep compare RUN_A RUN_B, or: lockstep compare --tag TAG");
  const bool trial = parsed.positionals.size() == 1 && !table &&
                     is_abtest_folder(abtest_folder(parsed.positionals[0], root));
  if (parsed.positionals.size() == 1 && !table && !trial && !parsed.has("--groups"))
    throw Error("lockstep compare needs two sides, but one is given",
                "for example: lockstep compare RUN_A RUN_B");
  const bool pair = parsed.positionals.size() == 2 && !table;
  if (pair || trial || parsed.has("--groups")) return compare_sides(parsed, root);
  for (const char* flag :
       {"--fail-if-slower", "--varied", "--assume", "--loss", "--by", "--margin", "--better"})
    if (parsed.has(flag))
      throw Error(cat(flag, " is about two sides, but this is a table of runs"),
                  "put the runs of each side together: --groups A=RUN,RUN B=RUN,RUN");
  return compare_many(parsed, root);
}

}  // namespace

Command compare_command() {
  constexpr std::size_t most_runs = 1'000'000;
  return {.name = "compare",
          .operands = "A B …",
          .summary = "say which of two runs, batches or groups is faster or better, or list many",
          .details =
              "Compares runs and batches (folders, or names in the folder of runs), files of facts "
              "(.toml), logs of other programs (CSV, JSON, TensorBoard's), runs of experiment "
              "trackers (STORE#RUN of MLflow's mlruns or mlflow.db, or of a database of trackio's; "
              "lockstep runs STORE lists them), or, as the only operand, the folder of a trial of "
              "lockstep abtest. First it checks whether the work and the place were the same. Then "
              "it compares times, memory, energy and metrics, with intervals if there are repeats. "
              "A run is one repeat; its steps, and the jobs of a batch, are not repeats.\n"
              "With more than two operands, or --table: a table of the differences, with best and "
              "last metrics.",
          .flags = {{"--groups", "",
                     "each operand is a side with several runs: NAME=RUN,RUN,… or the NAME of "
                     "train --seeds"},
                    {"--margin", "PERCENT", "differences up to this do not count; 2% by default"},
                    {"--by", "QUANTITY",
                     "the quantity that decides the verdict; step time or time "
                     "by default"},
                    {"--loss", "VALUE",
                     "compare the time to this value of the metric; by default the worst of the "
                     "runs' best values"},
                    {"--varied", "FACTS",
                     "differences that you want to compare: "
                     "precision,devices"},
                    {"--assume", "FACTS", "unknown facts that are taken to be equal"},
                    {"--better", "METRIC=WAY", "whether lower or higher is better"},
                    {"--fail-if-slower", "PERCENT",
                     "exit code 1 if B is slower by more than that, 0 if not, 2 if that is open"},
                    {"--table", "", "a table, also of two"},
                    {"--tag", "TAG", "a table of all runs that have the tag"},
                    {"--sort", "COLUMN", "order of the table; -COLUMN: descending"},
                    {"--csv", "", "the table as CSV"},
                    {"--json", "", "as JSON (docs/reference/comparison.md)"},
                    {"--out", "FILE", "write the JSON into a file too", "file"},
                    overwrite_flag()},
          .max_positionals = most_runs,
          .takes_assignments = true,
          .only_options = {"run.root"},
          .complete = "runs and batches",
          .run = compare_main,
          .tried_flags = {tried_root()},
          .takes_files = true,
          .operands_have_equals = true};
}

}  // namespace lockstep::cli
