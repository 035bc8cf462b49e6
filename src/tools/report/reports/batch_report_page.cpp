// Makes the report of a batch as a page.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/base/text/text.h"
#include "core/base/version.h"
#include "core/media/charts/chart.h"
#include "tools/jobs/analysis/batch_text.h"
#include "tools/jobs/analysis/timeline_rows.h"
#include "tools/report/pages/figures.h"
#include "tools/report/pages/shown.h"
#include "tools/report/reports/batch_report.h"

namespace lockstep {
namespace {

constexpr std::size_t most_job_rows = 500, most_gantt_rows = 128;
constexpr std::size_t most_parameter_columns = 8, most_result_columns = 8;

std::string percent_or_nothing(const std::optional<double>& value) {
  return value ? cat(fixed(*value, 0), " %") : "";
}

class BatchPageMaker {
 public:
  explicit BatchPageMaker(const BatchReport& report)
      : report_(report), analysis_(report.analysis) {}

  Page page() const {
    const bool bad = count(JobState::failed) > 0;
    return {
        .title = cat("batch ", report_.name),
        .state = report_.runs_now               ? "runs"
                 : count(JobState::waiting) > 0 ? "not over"
                 : bad                          ? "with failures"
                                                : "done",
        .tone = bad                                                 ? PageTone::bad
                : !report_.runs_now && count(JobState::waiting) > 0 ? PageTone::warning
                                                                    : PageTone::good,
        .subtitle = analysis_.begin > 0 ? cat(counts_text(report_.counts), " · started ",
                                              shown_time(analysis_.begin))
                                        : counts_text(report_.counts),
        .sections = {overview(), pictures(), timeline(), devices(), failures(), results(), jobs()},
        .foot = cat("lockstep report ", version())};
  }

 private:
  std::int64_t count(JobState state) const {
    const auto found = report_.counts.find(state);
    return found == report_.counts.end() ? 0 : found->second;
  }

  PageSection overview() const {
    PageSection section{.title = "", .blocks = {}};
    std::vector<PageNote> notes;
    for (const std::string& problem : report_.problems)
      notes.push_back({PageTone::warning, problem});
    for (const std::string& note : report_.notes) notes.push_back({PageTone::plain, note});
    std::vector<PageTile> tiles{
        {"jobs", cat(count(JobState::done), " of ", report_.listed), "done"}};
    const auto add = [&](JobState state, const char* more) {
      if (count(state) > 0) tiles.push_back({to_string(state), cat(count(state)), more});
    };
    add(JobState::failed, "");
    add(JobState::skipped, "");
    add(JobState::waiting, "");
    const auto attempts = static_cast<double>(analysis_.spans.size());
    if (const double seconds = analysis_.running.seconds(); seconds > 0) {
      const std::string gaps = gaps_text(analysis_.running.gaps());
      tiles.push_back(
          {"time", shown_seconds(seconds),
           gaps.empty() ? "from the first start to the last end" : cat("while it ran; ", gaps)});
      tiles.push_back({"speed", cat(shown_rate(60 * attempts / seconds), " per minute"),
                       cat(analysis_.spans.size(), " attempts, ", shown_rate(analysis_.busy_slots),
                           " at once")});
    }
    if (analysis_.gpu_hours > 0)
      tiles.push_back({"GPUs", cat(shown_rate(analysis_.gpu_hours), " GPU-hours"),
                       analysis_.energy_kwh ? cat(shown_rate(*analysis_.energy_kwh), " kWh") : ""});
    section.blocks.emplace_back(std::move(tiles));
    if (!notes.empty()) section.blocks.emplace_back(std::move(notes));
    return section;
  }

  // The pictures of all jobs that the recipe made.
  PageSection pictures() const {
    PageSection section{.title = "Pictures", .blocks = {}};
    if (!report_.pictures.empty()) section.blocks.emplace_back(report_.pictures);
    return section;
  }

  // -- who ran what when
  PageSection timeline() const {
    PageSection section{.title = "Timeline", .blocks = {}};
    if (analysis_.spans.empty()) {
      section.blocks.emplace_back(PageText{"No job has ended yet."});
      return section;
    }
    std::vector<GanttRow> rows = timeline_rows(analysis_, wide_px, [](const AttemptSpan& span) {
      return cat(span.job, ": ", shown_seconds(span.end - span.begin), ", ", span.outcome);
    });
    const std::size_t all = rows.size();
    rows.resize(std::min(all, most_gantt_rows));
    PageFigure figure{
        .title = "jobs at once on each device, or slot without one",
        .svg = gantt_chart({.x = {.label = "seconds"}, .width = wide_px}, rows),
        .text = timeline_text(analysis_, 78),
        .caption = all > rows.size() ? cat(rows.size(), " of ", all, " rows are drawn.") : "",
        .wide = true};
    section.blocks.emplace_back(std::vector<PageFigure>{std::move(figure)});
    phases(section);
    return section;
  }

  void phases(PageSection& section) const {
    PageTable table{.columns = {"time of jobs", "time", "share"}, .rows = {}};
    for (const PhaseShare& phase : phase_shares(analysis_))
      table.rows.push_back(
          {phase.name, shown_seconds(phase.seconds), cat(fixed(phase.percent, 0), " %")});
    if (table.rows.empty()) return;
    table.left_out = cat("As ", analysis_.with_phases, " jobs reported them.");
    section.blocks.emplace_back(std::move(table));
  }

  PageSection devices() const {
    PageSection section{.title = "Devices", .blocks = {}};
    if (analysis_.devices.empty()) return section;
    double all = 0, least = INFINITY, most = 0;
    for (const DeviceUse& use : analysis_.devices) {
      all += use.job_s;
      least = std::min(least, use.job_s);
      most = std::max(most, use.job_s);
    }
    PageTable table{.columns = {"device", "attempts", "share of job time", "jobs on it", "at once",
                                "busy meanwhile", "SMs meanwhile", "power", "busy without jobs"},
                    .rows = {}};
    PageTable idle{
        .columns = {"device", "no job on it for", "because"}, .rows = {}, .first_numbers = 3};
    const double seconds = analysis_.running.seconds();
    for (const DeviceUse& use : analysis_.devices) {
      table.rows.push_back(
          {device_name(use), cat(use.attempts),
           all > 0 ? cat(fixed(100 * use.job_s / all, 1), " %") : "",
           cat(shown_seconds(use.busy_s),
               seconds > 0 ? cat(", ", fixed(100 * use.busy_s / seconds, 0), " %") : ""),
           use.busy_s > 0 ? fixed(use.job_s / use.busy_s, 2) : "",
           percent_or_nothing(use.busy_percent), percent_or_nothing(use.sm_percent),
           use.power_w ? cat(fixed(*use.power_w, 0), " W") : "",
           percent_or_nothing(use.outside_percent)});
      for (const auto& [why, seconds] : use.idle_s)
        idle.rows.push_back({device_name(use), shown_seconds(seconds), why});
      if (use.idle_s.empty() && use.idle_wanted_s > 1)
        idle.rows.push_back({device_name(use), shown_seconds(use.idle_wanted_s),
                             "not told; jobs for GPUs were still to come"});
      if (use.idle_s.empty() && use.idle_at_end_s > 1)
        idle.rows.push_back({device_name(use), shown_seconds(use.idle_at_end_s), "no more came"});
    }
    if (analysis_.devices.size() > 1 && most > 0)
      table.left_out = cat("Balance: the device with the least job time has ",
                           fixed(100 * least / most, 0), " % of the one with the most.");
    section.blocks.emplace_back(std::move(table));
    if (!idle.rows.empty()) section.blocks.emplace_back(std::move(idle));
    return section;
  }

  PageSection failures() const {
    PageSection section{.title = "Failures", .blocks = {}};
    for (const JobFailure& failure : report_.failures) {
      section.blocks.emplace_back(std::vector<PageNote>{
          {PageTone::bad,
           cat(failure.job, ": ", failure.reason,
               failure.log.empty() ? "" : cat("; the last lines of ", failure.log, ":"))}});
      if (!failure.lines.empty()) section.blocks.emplace_back(PageLines{failure.lines});
    }
    const auto shown = static_cast<std::int64_t>(report_.failures.size());
    if (report_.failed > shown)
      section.blocks.emplace_back(PageText{cat("And ", report_.failed - shown, " more.")});
    return section;
  }

  // -- jobs and what they said
  PageSection results() const {
    PageSection section{.title = "Results over jobs", .blocks = {}};
    PageTable table{.columns = {"result", "jobs", "mean of jobs", "lowest", "highest"}, .rows = {}};
    for (const auto& [name, sum] : report_.sums)
      if (sum.values > 1 && table.rows.size() < 100)
        table.rows.push_back({name, cat(sum.values),
                              shown_number(sum.sum / static_cast<double>(sum.values)),
                              cat(shown_number(sum.low), " (", sum.lowest, ")"),
                              cat(shown_number(sum.high), " (", sum.highest, ")")});
    if (!table.rows.empty()) section.blocks.emplace_back(std::move(table));
    return section;
  }

  template <class Names>
  static void add_columns(std::vector<std::string>& names, const Names& more, std::size_t most) {
    for (const auto& name : more)
      if (names.size() < most && std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
  }

  std::string devices_of(const ReportedJob& job) const {
    std::vector<std::string> names;
    for (const std::string& uuid : job.devices) {
      const auto use = std::find_if(analysis_.devices.begin(), analysis_.devices.end(),
                                    [&](const DeviceUse& one) { return one.uuid == uuid; });
      names.push_back(use == analysis_.devices.end() ? uuid.substr(0, 12) : device_name(*use));
    }
    return join(names, ", ");
  }

  PageSection jobs() const {
    PageSection section{.title = "Jobs", .blocks = {}};
    std::vector<std::string> parameters, results;
    for (const ReportedJob& job : report_.jobs) {
      std::vector<std::string> names;
      for (const auto& [name, value] : job.parameters) names.push_back(name);
      add_columns(parameters, names, most_parameter_columns);
      names.clear();
      for (const JobResult& result : job.results) names.push_back(result.name);
      add_columns(results, names, most_result_columns);
    }
    PageTable table{.columns = {"job", "state", "time", "on"}, .rows = {}, .first_numbers = 4};
    table.columns.insert(table.columns.end(), parameters.begin(), parameters.end());
    table.columns.insert(table.columns.end(), results.begin(), results.end());
    table.first_numbers = 4 + parameters.size();
    for (const ReportedJob& job : report_.jobs) {
      if (table.rows.size() == most_job_rows) break;
      std::vector<std::string> cells{
          job.name, cat(job.state, job.tries > 1 ? cat(" in ", job.tries, " tries") : ""),
          job.seconds ? shown_seconds(*job.seconds) : "", devices_of(job)};
      for (const std::string& name : parameters) cells.push_back(parameter_of(job, name));
      for (const std::string& name : results) cells.push_back(result_of(job, name));
      table.rows.push_back(std::move(cells));
    }
    const auto left_out = report_.listed - std::ssize(table.rows);
    if (left_out > 0)
      table.left_out =
          cat(left_out,
              report_.listed > std::ssize(report_.jobs)
                  ? " more jobs are in lockstep batch analyze --csv."
                  : " more jobs are in the report as JSON, and in lockstep batch analyze --csv.");
    if (!table.rows.empty()) section.blocks.emplace_back(std::move(table));
    return section;
  }
  static std::string parameter_of(const ReportedJob& job, const std::string& name) {
    for (const auto& [known, value] : job.parameters)
      if (known == name) return value;
    return "";
  }
  static std::string result_of(const ReportedJob& job, const std::string& name) {
    for (const JobResult& result : job.results) {
      if (result.name != name) continue;
      if (const auto* const number = std::get_if<double>(&result.value))
        return shown_number(*number);
      return std::get<std::string>(result.value);
    }
    return "";
  }

  const BatchReport& report_;
  const BatchAnalysis& analysis_;
};

}  // namespace

Page batch_report_page(const BatchReport& report) { return BatchPageMaker(report).page(); }

}  // namespace lockstep
