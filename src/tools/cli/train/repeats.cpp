#include "tools/cli/train/repeats.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "runtime/launch/launch.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/groups.h"
#include "runtime/run/names.h"
#include "tools/cli/commands.h"
#include "tools/cli/context.h"
#include "tools/cli/plan/resolve.h"
#include "tools/cli/train/train.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <limits>

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

struct Repeat {
  std::string name;
  std::int64_t seed = 0;
};

std::int64_t number_of_repeats(const Parsed& parsed) {
  constexpr std::int64_t most = 1000;
  const std::string text = parsed.value("--seeds");
  const auto count = whole_number<std::int64_t>(text, 1, most);
  if (!count)
    throw Error(
        cat("--seeds must be a number of repeats from 1 to ", most, ", but is ", printable(text)),
        "for example, for the seed and the four that follow it: --seeds 5");
  return *count;
}

// Refuses settings with which the repeats could not be compared.
void refuse_unequal(const Parsed& parsed, const RunSetup& setup, const Then& then) {
  if (parsed.has("--world"))
    throw Error(
        "--seeds starts one training after the other, but these ranks were started for one",
        "give each repeat a start of its own: seed=1 --name NAME-s1, seed=2 --name NAME-s2");
  if (setup.train->stop.budget.seconds > 0)
    throw Error(
        "stop.budget would leave each repeat unfinished at another step, so that they are "
        "no repeats of one training",
        "limit each with stop.steps or stop.epochs, and the whole command with stop.after");
  const OptionTable& table = setup.options->table;
  if (then.has("predict") && table.has(out_key) && !table.get(out_key).empty())
    throw Error("out= would put the predictions of all repeats into one place",
                "leave it out: each run then has its own in RUN/predictions");
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

// The group of a run. "" if there is no such run, or if it has no group.
std::string group_at(const fs::path& root, const std::string& name) {
  return is_there(root / name / "run.json") ? group_of_run(RunDir::open(name, root)) : "";
}

// The recipe's newest group, or "".
std::string newest_group(const fs::path& root, const std::string& recipe) {
  for (const RunDir& run : list_runs(root))
    if (const std::string group = group_of_run(run);
        !group.empty() && text_or(run.record(), "recipe", "") == recipe)
      return group;
  return "";
}

std::string group_name(const Parsed& parsed, const RunSetup& setup, bool goes_on) {
  if (const std::string name = parsed.value("--name"); !name.empty()) return name;
  const fs::path root = setup.train->run.root;
  if (goes_on)
    if (const std::string newest = newest_group(root, setup.recipe); !newest.empty()) return newest;
  const std::string base = name_by_time(setup.recipe);
  std::string name = base;
  for (int i = 2; is_there(root / (name + "-s1")) || is_there(root / name); ++i)
    name = cat(base, "-", i);
  return name;
}

std::vector<Repeat> repeats_of(const std::string& group, const RunSetup& setup,
                               std::int64_t count) {
  if (setup.train->seed > std::numeric_limits<std::int64_t>::max() - count)
    throw Error(cat("there are no ", count, " seeds from ", setup.train->seed, " on"),
                "set a smaller seed");
  std::vector<Repeat> repeats;
  for (std::int64_t i = 0; i < count; ++i)
    repeats.push_back({cat(group, "-s", i + 1), setup.train->seed + i});
  return repeats;
}

// Checks all repeats before any of them trains for hours.
void check_repeats(const fs::path& root, const std::string& group,
                   const std::vector<Repeat>& repeats, bool goes_on) {
  if (group.find_first_of("=,:") != group.npos)
    throw Error(cat("the name of repeats must be without =, comma and colon, but is ", group),
                "lockstep compare --groups takes them by this name");
  RunDir::check_new(root, group);  // `compare --groups` could not tell a run and a group apart
  for (const Repeat& repeat : repeats) {
    const bool ours = group_at(root, repeat.name) == group;
    if (ours && !goes_on)
      throw Error(cat("repeats of ", group, " are there already: ", (root / repeat.name).string()),
                  "choose another --name, or go on with them: --resume auto");
    if (!ours) RunDir::check_new(root, repeat.name);
  }
}

// The command line of one repeat. --seeds stays, because training must know that other repeats
// follow.
Parsed words_of_repeat(const Parsed& parsed, const Repeat& repeat) {
  Parsed one = parsed;
  std::erase_if(one.assignments, [](const std::string& word) { return word.starts_with("seed="); });
  one.assignments.push_back(cat("seed=", repeat.seed));
  one.values["--name"] = {repeat.name};
  return one;
}

// The command that resumes with the remaining repeats.
std::string command_to_go_on(const Parsed& parsed, const std::string& group) {
  std::string command = cat("lockstep train ", shell_word(parsed.positionals.at(0)));
  for (const std::string& word : parsed.assignments) command += " " + shell_word(word);
  const std::vector<Flag> flags = train_command().flags;
  for (const auto& [name, values] : parsed.values) {
    if (name == "--name" || name == "--resume") continue;
    const auto flag = std::find_if(flags.begin(), flags.end(),
                                   [&, &name = name](const Flag& one) { return one.name == name; });
    const bool takes_value = flag != flags.end() && !flag->value.empty();
    for (const std::string& value : values)
      command += takes_value ? cat(" ", name, " ", shell_word(value)) : cat(" ", name);
  }
  return cat(command, " --name ", shell_word(group), " --resume auto");
}

// Writes a text if a signal ends the program between two trainings. During a training, the training
// handles signals. A signal handler cannot call `say`, so the text is made printable beforehand.
class TextOnSignal {
 public:
  explicit TextOnSignal(std::string text) : kept_(std::move(text)) {
    text_ = &kept_;
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      sigaction(numbers_[i], nullptr, &before_[i]);
      struct sigaction action {};
      sigemptyset(&action.sa_mask);
      action.sa_handler = end;
      if (before_[i].sa_handler != SIG_IGN) sigaction(numbers_[i], &action, nullptr);
    }
  }
  ~TextOnSignal() {
    for (std::size_t i = 0; i < numbers_.size(); ++i) sigaction(numbers_[i], &before_[i], nullptr);
    text_ = nullptr;
  }
  TextOnSignal(const TextOnSignal&) = delete;
  TextOnSignal& operator=(const TextOnSignal&) = delete;

 private:
  static void end(int number) {
    if (text_ != nullptr) {
      const ssize_t ignored = ::write(STDERR_FILENO, text_->data(), text_->size());
      static_cast<void>(ignored);
    }
    ::signal(number, SIG_DFL);
    ::raise(number);
  }

  static constexpr std::array<int, 3> numbers_ = {SIGINT, SIGTERM, SIGHUP};
  static inline const std::string* volatile text_ = nullptr;
  std::string kept_;
  std::array<struct sigaction, numbers_.size()> before_{};
};

int code_of_one(const Parsed& words, const std::string& group, const TrainOne& train_one) {
  try {
    return train_one(words, group);
  } catch (const Error& error) {
    say_error(error.what(), error.hint());
    return exit_usage;
  } catch (const ToldAlready& already) {
    return already.code;
  }
}

std::size_t finished_of(const fs::path& root, const std::vector<Repeat>& repeats) {
  return static_cast<std::size_t>(
      std::count_if(repeats.begin(), repeats.end(), [&](const Repeat& repeat) {
        return is_there(root / repeat.name / "run.json") &&
               RunDir::open(repeat.name, root).state() == RunState::finished;
      }));
}

void say_end(const fs::path& root, const std::string& group, const std::vector<Repeat>& repeats,
             const std::string& go_on, int code) {
  const std::size_t finished = finished_of(root, repeats);
  const std::string count =
      cat("\n", finished, " of ", repeats.size(), " repeats of ", group, " have finished");
  if (code == exit_finished)
    say(cat(count, "\ncompare them with another group: lockstep compare --groups ",
            shell_word(group), " OTHER"));
  else
    say(cat(count, "; go on with ", finished == repeats.size() ? "what follows them" : "the others",
            ":\n  ", go_on));
}

}  // namespace

int train_repeats(const Parsed& parsed, const TrainOne& train_one) {
  const std::int64_t count = number_of_repeats(parsed);
  const bool goes_on = parsed.value("--resume") == "auto";
  const Then then = then_of(parsed);
  const std::vector<Device> devices = training_devices(parsed);
  const RunSetup setup = resolve_options(parsed.positionals[0], parsed.value("--plugin"),
                                         parsed.all("--config"), parsed.assignments, devices,
                                         then.bare_keys(), {.devices = parsed.value("--devices")});
  refuse_unequal(parsed, setup, then);
  const fs::path root = setup.train->run.root;
  const std::string group = group_name(parsed, setup, goes_on);
  const std::vector<Repeat> repeats = repeats_of(group, setup, count);
  setup.train->table.set("seed", cat(repeats.back().seed), {.kind = ValueSource::Kind::argument});
  check_repeats(root, group, repeats, goes_on);
  const std::string go_on = command_to_go_on(parsed, group);
  const TextOnSignal on_signal(
      cat("\nto go on with the repeats of ", printable(group), ":\n  ", printable(go_on), "\n"));
  say(cat(repeats.size(), " repeats of ", group, ", one after the other: seeds ",
          repeats.front().seed, " to ", repeats.back().seed));
  int result = exit_finished;
  for (const Repeat& repeat : repeats) {
    say(cat("\nrepeat ", repeat.name, " (", &repeat - repeats.data() + 1, " of ", repeats.size(),
            "), seed ", repeat.seed));
    begin_anew();
    const int code = code_of_one(words_of_repeat(parsed, repeat), group, train_one);
    if (code == exit_finished) {
      note_then_done(RunDir::open(repeat.name, root), join(then.steps, ","));
      continue;
    }
    result = code;
    // A failed rank may be due to this seed. Any other failure affects all repeats.
    if (code != exit_failed) break;
  }
  say_end(root, group, repeats, go_on, result);
  return result;
}

void note_then_done(const RunDir& run, const std::string& then) {
  if (is_then_done(run, then)) return;
  nlohmann::json record = run.record();
  record[then_done_key] = then;
  run.write_record(record);
}

bool is_then_done(const RunDir& run, const std::string& then) {
  const nlohmann::json record = run.record();
  return record.contains(then_done_key) && record[then_done_key] == then;
}

}  // namespace lockstep::cli
