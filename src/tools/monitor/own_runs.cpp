#include "tools/monitor/own_runs.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "runtime/run/progress/progress.h"
#include "tools/monitor/proc_file.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr double read_again_s = 1;

// The arguments of a Lockstep worker. Nothing for other programs.
std::optional<std::vector<std::string>> worker_words(const fs::path& folder) {
  std::string text;
  try {
    text = read_file(folder / "cmdline");
  } catch (const Error&) {
    return std::nullopt;
  }
  std::vector<std::string> words = split(text, '\0');
  if (words.empty() || fs::path(words[0]).filename() != "lockstep-worker") return std::nullopt;
  words.erase(words.begin());
  return words;
}

// The run whose files a process has open. This works for a rank 0 whose command line does not name
// the run.
fs::path open_run(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder / "fd", error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unreadable;
    const fs::path target = fs::read_symlink(entry->path(), unreadable);
    if (target.filename() == "events.jsonl" &&
        fs::is_regular_file(target.parent_path() / "run.json", unreadable))
      return target.parent_path();
  }
  return {};
}

// Finds the run through other processes of the same launcher, because rank 0 has the run open.
// Empty if they have several runs open.
fs::path run_of_siblings(const fs::path& folder) {
  const ProcStat stat = parse_proc_stat(read_proc_file(folder / "stat").text);
  if (stat.fields.size() < 2 || stat.fields[1] == "1") return {};
  const fs::path proc = folder.parent_path();
  fs::path run;
  std::error_code error;
  for (fs::directory_iterator task(proc / stat.fields[1] / "task", error), end;
       !error && task != end; task.increment(error)) {
    const std::string children = read_proc_file(task->path() / "children").text;
    for (const std::string& child : split(children, ' ')) {
      if (trim(child).empty() || !worker_words(proc / trim(child))) continue;
      const fs::path found = open_run(proc / trim(child));
      if (found.empty() || found == run) continue;
      if (!run.empty()) return {};
      run = found;
    }
  }
  return run;
}

fs::path run_of(const std::vector<std::string>& words, const fs::path& folder) {
  for (std::size_t i = 1; i + 1 < words.size(); ++i)
    if (words[i] == "--run") return words[i + 1];
  const fs::path run = open_run(folder);
  return run.empty() ? run_of_siblings(folder) : run;
}

}  // namespace

std::optional<OwnRun> OwnRuns::of(int pid) {
  const fs::path folder = proc_ / std::to_string(pid);
  const auto words = worker_words(folder);
  if (!words || words->empty()) return std::nullopt;
  constexpr std::array<std::string_view, 4> jobs{"train", "evaluate", "predict", "bench"};
  if (std::find(jobs.begin(), jobs.end(), (*words)[0]) == jobs.end()) return std::nullopt;
  const fs::path path = run_of(*words, folder).lexically_normal();
  if (!path.is_absolute() || !path.has_filename()) return std::nullopt;
  OwnRun run{.name = path.filename().string(), .path = path.string(), .job = (*words)[0]};
  if (run.job != "train") return run;
  const double now = clock_->now_s();
  const auto [found, is_new] =
      runs_.try_emplace(run.path, Followed{.tail = RunTail(path / "events.jsonl"), .read_s = now});
  Followed& followed = found->second;
  if (is_new || now - followed.read_s >= read_again_s) {
    followed.tail.read_on();
    followed.read_s = now;
  }
  run.step = followed.tail.step();
  run.total_steps = followed.tail.total_steps();
  run.units_per_s = followed.tail.units_per_s();
  run.unit = followed.tail.unit();
  run.eta_s = followed.tail.seconds_left();
  return run;
}

FindProcess find_processes() {
  return [runs = std::make_shared<OwnRuns>(), host = may_have_numbers_of_host()](int pid) {
    std::optional<ProcessInfo> who;
    if (!host || has_gpu_files(pid).value_or(true)) who = process_info(pid);
    if (who) who->run = runs->of(pid);
    return who;
  };
}

std::string run_text(const OwnRun& run) {
  std::string text = run.name;
  if (run.job != "train") text += " " + run.job;
  if (run.step) text += cat(" ", *run.step);
  if (run.step && run.total_steps > 0) text += cat("/", run.total_steps);
  if (run.units_per_s) text += " " + format_rate(*run.units_per_s, run.unit);
  if (run.eta_s) text += " eta " + format_span(*run.eta_s);
  return text;
}

}  // namespace lockstep
