#include "tools/report/reports/run_report.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/base64.h"
#include "core/base/text/text.h"
#include "core/base/version.h"
#include "core/base/whole_number.h"
#include "planning/direct_recipe.h"
#include "runtime/launch/output/log_tail.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/events/train_log.h"
#include "tools/report/facts/json_member.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_pictures = 24, most_listed_pictures = 200, most_logs = 4;

// -- options
std::string option_text(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return to_line(value);
  std::vector<std::string> words;
  for (const nlohmann::json& one : value)
    words.push_back(one.is_string() ? one.get<std::string>() : to_line(one));
  return join(words, ",");
}

void read_options(const nlohmann::json& defaults, RunReport& report) {
  const nlohmann::json& config = member_or_null(report.record, "config");
  if (!config.is_object()) return;
  report.defaults_known = defaults.is_object();
  for (const auto& [key, value] : config.items()) {
    RunOption option{.key = key, .value = option_text(value)};
    const nlohmann::json& standard = member_or_null(defaults, key.c_str());
    const bool differs = report.defaults_known && (!defaults.contains(key) || standard != value);
    if (differs) {
      option.standard = defaults.contains(key) ? option_text(standard) : "";
      report.changed.push_back(option);
    }
    report.options.push_back(std::move(option));
  }
}

// -- pictures
const char* picture_type(const fs::path& path) {
  const std::string extension = path.extension().string();
  if (extension == ".png") return "image/png";
  if (extension == ".jpg" || extension == ".jpeg") return "image/jpeg";
  if (extension == ".svg") return "image/svg+xml";
  if (extension == ".gif") return "image/gif";
  if (extension == ".webp") return "image/webp";
  return nullptr;
}

std::string step_folder(std::int64_t step) {
  char name[32];
  std::snprintf(name, sizeof name, "step-%09lld", static_cast<long long>(step));
  return name;
}

// The folder of the best evaluation in media/. If it has none, the newest folder that training
// wrote.
const RunFolder* chosen_pictures(const RunReport& report) {
  const RunFolder* newest = nullptr;
  const std::string best = cat("media/", step_folder(report.summary.best_step));
  for (const RunFolder& folder : report.files) {
    if (!folder.name.starts_with("media/step-")) continue;
    if (!report.summary.best.is_null() && folder.name == best) return &folder;
    if (std::count(folder.name.begin(), folder.name.end(), '-') == 1) newest = &folder;
  }
  return newest;
}

void read_pictures(const fs::path& run, std::size_t most_bytes, RunReport& report) {
  const RunFolder* const folder = chosen_pictures(report);
  if (folder == nullptr) return;
  report.pictures_of = folder->name;
  std::size_t bytes = 0;
  for (const std::string& name : folder->files) {
    const char* const type = picture_type(name);
    if (type == nullptr || report.pictures.size() >= most_listed_pictures) continue;
    PagePicture picture{.name = name, .data_uri = {}};
    const UniqueFd file = open_run_file(run, fs::path(folder->name) / name);
    struct stat info {};
    const bool failed = !file || fstat(file.get(), &info) != 0;
    const auto size = static_cast<std::uintmax_t>(info.st_size);
    const std::size_t shown = report.pictures.size() - report.pictures_listed;
    if (!failed && shown < most_pictures && bytes + size <= most_bytes) try {
        const std::string content = read_file(cat("/proc/self/fd/", file.get()), most_bytes);
        bytes += content.size();
        picture.data_uri = cat("data:", type, ";base64,", to_base64(content));
      } catch (const Error&) {  // the picture is listed by name only
      }
    if (picture.data_uri.empty()) ++report.pictures_listed;
    report.pictures.push_back(std::move(picture));
  }
}

// -- what went wrong
void read_written_end(const fs::path& run, RunSummary& summary) {
  nlohmann::json end;
  try {
    end = parse_object(read_file(run / "state.json"));
  } catch (const Error&) {
  }
  summary.state = RunState::interrupted;
  for (const RunState state : {RunState::finished, RunState::stopped, RunState::failed})
    if (text_or(end, "state", "") == to_string(state)) summary.state = state;
  summary.why = text_or(end, "why", "");
}

std::vector<int> version_numbers(const std::string& text) {
  std::vector<int> numbers;
  for (const std::string& part : split(text, '.'))
    numbers.push_back(whole_number<int>(part, 0).value_or(0));
  return numbers;
}

void read_output(const RunDir& run, RunReport& report) {
  constexpr std::size_t tail_bytes = 64 << 10;
  constexpr int tail_lines = 15;
  std::vector<std::string> logs;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(run.path() / "logs", ignored))
    if (const std::string name = entry.path().filename().string();
        name.ends_with(".log") && "logs/" + name != train_log_name)
      logs.push_back(name);
  std::sort(logs.begin(), logs.end());
  for (const std::string& name : logs) {
    if (report.output.size() >= most_logs) return;
    const UniqueFd log = open_run_file(run.path(), fs::path("logs") / name);
    if (!log) continue;
    std::string lines = last_lines_of_file(log, tail_lines, tail_bytes);
    if (!trim(lines).empty()) report.output.push_back({cat("logs/", name), std::move(lines)});
  }
}

void tell_problems(const std::string& problem, RunReport& report) {
  const auto tell = [&](PageTone tone, std::string text) {
    report.problems.push_back({tone, std::move(text)});
  };
  const RunSummary& summary = report.summary;
  const std::string why = summary.why.empty() ? "" : cat(": ", summary.why);
  if (summary.state == RunState::failed) tell(PageTone::bad, cat("the run failed", why));
  const bool is_direct = find_direct_recipe(text_or(report.record, "recipe", "")) != nullptr;
  if (summary.state == RunState::interrupted)
    tell(PageTone::warning,
         cat("the run was interrupted and ",
             is_direct ? "cannot be resumed" : "can go on: lockstep resume", why));
  if (!problem.empty()) tell(PageTone::bad, problem);
  const RunSeries& series = report.series;
  const std::string made_by = text_or(report.record, "lockstep", "");
  if (!made_by.empty() && version_numbers(made_by) > version_numbers(version()))
    tell(PageTone::warning, cat("the run was made by Lockstep ", made_by, ", this page by ",
                                version(), ": what only the newer one knows is missing here"));
  if (series.unknown_kinds > 0)
    tell(PageTone::warning, cat(series.unknown_kinds, " events are of kinds that Lockstep ",
                                version(), " does not know"));
  if (series.bad_lines > 0)
    tell(PageTone::warning, cat(series.bad_lines, " of ", series.lines,
                                " lines of events.jsonl are no events and were passed over"));
  if (const Curve* const loss = series.step_curve("loss"); loss && loss->totals().not_finite > 0)
    tell(PageTone::warning,
         cat("the loss of ", loss->totals().not_finite, " of ", series.step_lines,
             " logged steps was not finite; curves have gaps there"));
  if (!report.gpus.problem.empty())
    tell(PageTone::warning, cat("gpu.csv could not be read: ", report.gpus.problem));
  if (report.gpus.bad_lines > 0)
    tell(PageTone::warning,
         cat(report.gpus.bad_lines, " lines of gpu.csv are damaged and were passed over"));
  for (const CheckpointInfo& checkpoint : report.checkpoints)
    if (!checkpoint.damage.empty())
      tell(PageTone::warning,
           cat("the checkpoint of step ", checkpoint.step, " is damaged: ", checkpoint.damage));
}

}  // namespace

std::string RunReport::metric() const {
  const std::string named = text_or(member_or_null(record, "config"), "checkpoint.best_metric", "");
  const nlohmann::json& best = summary.best;
  if (!named.empty() && best.is_object() && best.contains(named)) return named;
  // Each checkpoint records the value by which it was selected. The value is negated if higher is
  // better. The metric is the one that has this value in all checkpoints. If several do, "loss" is
  // preferred.
  std::optional<std::set<std::string>> chosen;
  for (const nlohmann::json& event : series.checkpoints) {
    const nlohmann::json& metrics = member_or_null(event, "metrics");
    const double selection = number_or(metrics, "selection", NAN);
    if (!std::isfinite(selection)) continue;
    std::set<std::string> equal;
    for (const auto& [name, value] : metrics.items())
      if (name != "selection" && value.is_number() &&
          std::fabs(value.get<double>()) == std::fabs(selection))
        equal.insert(name);
    if (chosen) std::erase_if(equal, [&](const auto& name) { return !chosen->contains(name); });
    if (!equal.empty()) chosen = std::move(equal);
  }
  if (chosen && !chosen->contains("loss")) return *chosen->begin();
  if (best.is_object() && best.contains("loss")) return "loss";
  if (chosen) return "loss";
  return series.metrics.empty() ? "" : series.metrics.front().name;
}

RunReport read_run_report(const RunDir& run, const ReadRunReport& how) {
  RunReport report;
  report.summary = summarize(run);
  if (how.has_ended) read_written_end(run.path(), report.summary);
  std::string problem;
  try {
    report.record = run.record();
  } catch (const Error& error) {
    problem = error.what();
  }
  report.series =
      read_run_series(run.events_path(), {.smooth = how.smooth, .columns = how.columns});
  if (open_run_file(run.path(), "gpu.csv")) report.gpus = read_gpu_series(run.path() / "gpu.csv");
  report.checkpoints = list_checkpoints(run.checkpoints(), /*thorough=*/false);
  report.files = run_files(run.path());
  report.global_batch =
      number_or(member_or_null(member_or_null(report.record, "plan"), "batch"), "global", 0);
  read_options(how.defaults, report);
  read_pictures(run.path(), how.picture_bytes, report);
  if (report.summary.state == RunState::failed) read_output(run, report);
  tell_problems(problem, report);
  return report;
}

}  // namespace lockstep
