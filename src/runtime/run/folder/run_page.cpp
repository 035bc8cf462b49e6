// Shows one run as a page and as JSON.
#include <algorithm>
#include <cmath>
#include <ctime>

#include "core/base/error.h"
#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "runtime/run/curves/loss_curve.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/folder/run_files.h"
#include "runtime/run/folder/run_history.h"
#include "runtime/run/folder/run_summary.h"
#include "runtime/run/progress/progress.h"
#include "runtime/run/progress/progress_text.h"
#include "runtime/run/progress/time_left.h"

namespace lockstep {
namespace {

constexpr std::size_t shown_evals = 10;

std::string row(const std::string& name, const std::string& value) {
  if (value.empty()) return "";
  return cat("  ", pad_cells(name + " ", 10), printable(value), "\n");
}

std::string local_time(double unix_s) {
  const auto time = static_cast<std::time_t>(std::clamp(unix_s, 0.0, 1e11));
  std::tm local = {};
  localtime_r(&time, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local);
  return text;
}

std::string value_text(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : to_line(value);
}

std::string git_text(const nlohmann::json& git) {
  const std::string commit = text_or(git, "commit", "");
  if (commit.empty()) return "";
  const std::string branch = text_or(git, "branch", "");
  const bool dirty = git.contains("dirty") && git["dirty"] == true;
  return cat(commit.substr(0, 12), branch.empty() ? "" : " on " + branch,
             dirty ? ", with changes" : "");
}

std::string words(const nlohmann::json& list) {
  std::vector<std::string> parts;
  if (list.is_array())
    for (const nlohmann::json& word : list) parts.push_back(value_text(word));
  return join(parts, " ");
}

std::string record_text(const RunDir& run, const RunSummary& summary,
                        const nlohmann::json& record) {
  std::string text = cat("run ", printable(summary.name), "\n");
  text += row("state", cat(to_string(summary.state), summary.why.empty() ? "" : ": ", summary.why));
  text += row("path", run.path().string());
  text += row("tags", join(summary.labels.tags, ", "));
  text += row("note", summary.labels.note);
  text += row("recipe", summary.recipe);
  text += row("plugin", text_or(record, "plugin", ""));
  if (summary.started > 0)
    text +=
        row("started", cat(local_time(summary.started), " (", format_span(summary.age_s), " ago)"));
  text += row("host", text_or(record, "host", ""));
  text += row("devices", summary.devices);
  const std::string lockstep = text_or(record, "lockstep", "");
  const std::string torch = text_or(record, "torch", "");
  text += row("versions", cat(lockstep.empty() ? "" : "lockstep " + lockstep,
                              lockstep.empty() || torch.empty() ? "" : ", ",
                              torch.empty() ? "" : "torch " + torch));
  if (!record.is_object()) return text;
  text += row("git", git_text(record.value("git", nlohmann::json())));
  text += row("command", words(record.value("command", nlohmann::json())));
  const nlohmann::json starts = record.value("starts", nlohmann::json());
  if (starts.is_array() && starts.size() > 1) text += row("starts", cat(starts.size()));
  return text;
}

// The changes of the micro-batch, and the options that repeat them.
std::string micro_text(const RunHistory& history) {
  if (history.micro.size() < 2) return "";
  std::string text = cat(history.micro[0].second), changes;
  for (std::size_t i = 1; i < history.micro.size(); ++i) {
    const auto& [step, micro] = history.micro[i];
    text += cat(", ", micro, " after step ", step);
    changes += cat(i > 1 ? "," : "", step, ":", micro);
  }
  return cat(text, "  (batch.micro=", history.micro[0].second, " batch.micro_changes=", changes,
             ")");
}

std::string progress_text(const RunSummary& summary, const RunHistory& history) {
  std::string step = cat(summary.step);
  if (summary.total_steps > 0) step += cat("/", summary.total_steps);
  if (summary.loss) step += "  loss " + format_loss(*summary.loss);
  const double lr = number_or(history.last_step, "lr", NAN);
  if (!std::isnan(lr)) step += "  lr " + scientific(lr, 1);
  const double rate = number_or(history.last_step, "units_per_s", NAN);
  if (!std::isnan(rate))
    step += "  " + format_rate(rate, text_or(history.start, "unit", "samples"));
  std::string text = row("start-up", format_start_up(history.start_up));
  text += row("step", step);
  text += row("micro", micro_text(history));
  if (summary.units_per_s)
    text += row("speed", cat(format_rate(*summary.units_per_s, summary.unit),
                             of_this_start(summary.rates_from, "  ")));
  if (summary.mfu)
    text += row("mfu", cat(fixed(*summary.mfu * 100, 1), "% of the devices' peak"));
  else if (!summary.mfu_unknown.empty())
    text += row("mfu", "unknown: " + summary.mfu_unknown);
  if (!summary.result.empty())
    text += row("result", cat(summary.result, " ", general(summary.result_value, 4)));
  if (!summary.best.is_null())
    text += row("best", cat("at step ", summary.best_step, "  ",
                            format_metrics(metrics_to_show(history.best()))));
  return text;
}

std::string evals_text(const RunHistory& history) {
  if (history.evals.empty()) return "";
  const std::size_t count = history.evals.size();
  const std::size_t first = count - std::min(count, shown_evals);
  std::string text = first ? cat("\nevaluations (the last ", shown_evals, " of ", count, ")\n")
                           : "\nevaluations\n";
  for (std::size_t i = first; i < count; ++i) {
    const nlohmann::json& eval = history.evals[i];
    text += cat("  step ", integer_or(eval, "step", 0), "  ",
                printable(format_metrics(metrics_to_show(eval))), "\n");
  }
  return text;
}

// The metrics of a checkpoint. The evaluation at its step tells which of them are infinite.
std::string metrics_text(const CheckpointInfo& checkpoint, const RunHistory& history) {
  nlohmann::json shown{{"metrics", checkpoint.metrics}};
  for (const nlohmann::json& eval : history.evals)
    if (integer_or(eval, "step", -1) == checkpoint.step)
      shown["infinite"] = eval.value("infinite", nlohmann::json());
  return format_metrics(metrics_to_show(shown));
}

std::string checkpoints_text(const std::vector<CheckpointInfo>& checkpoints,
                             const RunHistory& history, double now_s, bool thorough) {
  if (checkpoints.empty()) return "\nno checkpoints\n";
  std::string text = "\ncheckpoints\n";
  for (const CheckpointInfo& checkpoint : checkpoints) {
    const std::string good = thorough ? "good" : "good by size";
    const std::string metrics = metrics_text(checkpoint, history);
    text += cat("  step ", checkpoint.step, "  ",
                format_bytes(static_cast<double>(checkpoint.size_bytes)), "  ",
                format_span(now_s - checkpoint.time), " ago  ",
                checkpoint.damage.empty() ? good : "damaged: " + printable(checkpoint.damage),
                metrics.empty() ? "" : "  " + printable(metrics), "\n");
  }
  return text;
}

std::string files_text(const RunDir& run) {
  constexpr std::size_t named = 5;
  std::string text;
  for (const RunFolder& folder : run_files(run.path())) {
    const std::size_t count = folder.files.size();
    text +=
        cat("  ", printable(folder.name), "  ", format_bytes(static_cast<double>(folder.bytes)));
    if (count > named)
      text += cat("  ", count, " files");
    else if (count > 0)
      text += "  " + printable(join(folder.files, ", "));
    text += folder.has_more ? "  and more, which is not counted\n" : "\n";
  }
  return text.empty() ? "" : "\nfiles\n" + text;
}

std::string config_text(const nlohmann::json& record) {
  if (!record.is_object() || !record.contains("config") || !record["config"].is_object()) return "";
  std::string text = "\nconfiguration\n";
  for (const auto& [key, value] : record["config"].items())
    text += cat("  ", printable(cat(key, " = ", value_text(value))), "\n");
  return text;
}

// The record. If it cannot be read, null, with the reason in `problem`.
nlohmann::json record_or_problem(const RunDir& run, std::string& problem) {
  try {
    return run.record();
  } catch (const Error& error) {
    problem = error.what();
    return nullptr;
  }
}

nlohmann::json checkpoint_json(const CheckpointInfo& checkpoint) {
  return {{"path", checkpoint.path.string()}, {"step", checkpoint.step},
          {"bytes", checkpoint.size_bytes},   {"time", checkpoint.time},
          {"metrics", checkpoint.metrics},    {"good", checkpoint.damage.empty()},
          {"damage", checkpoint.damage}};
}

}  // namespace

std::string run_page(const RunDir& run, const RunPage& page, Clock& clock) {
  std::string problem;
  const nlohmann::json record = record_or_problem(run, problem);
  const RunSummary summary = summarize(run, clock);
  const RunHistory history = read_history(run.events_path());
  const std::string plot = plot_losses(read_loss_curve(run.events_path()), page.width);
  return cat(record_text(run, summary, record), row("problem", problem),
             progress_text(summary, history), plot.empty() ? "" : "\n" + plot, evals_text(history),
             checkpoints_text(list_checkpoints(run.checkpoints(), page.thorough), history,
                              clock.wall_s(), page.thorough),
             files_text(run), page.config ? config_text(record) : "");
}

nlohmann::json run_json(const RunDir& run, bool thorough, Clock& clock) {
  std::string problem;
  const nlohmann::json record = record_or_problem(run, problem);
  const RunHistory history = read_history(run.events_path());
  nlohmann::json value = summary_json(summarize(run, clock));
  value["record"] = record;
  if (!problem.empty()) value["problem"] = problem;
  value["startup"] = history.start_up;
  value["last_step"] = history.last_step;
  value["curve"] = losses_json(read_loss_curve(run.events_path()));
  value["evals"] = history.evals;
  value["micro"] = history.micro;
  value["warnings"] = history.warnings;
  value["files"] = nlohmann::json::array();
  for (const RunFolder& folder : run_files(run.path())) {
    nlohmann::json& files = value["files"].emplace_back(
        nlohmann::json{{"name", folder.name}, {"files", folder.files}, {"bytes", folder.bytes}});
    if (folder.has_more) files["has_more"] = true;
  }
  value["checkpoints"] = nlohmann::json::array();
  for (const CheckpointInfo& checkpoint : list_checkpoints(run.checkpoints(), thorough))
    value["checkpoints"].push_back(checkpoint_json(checkpoint));
  return nlohmann::json::parse(to_line(value), nullptr, false);
}

}  // namespace lockstep
