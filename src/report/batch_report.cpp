#include "report/batch_report.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "base/version.h"
#include "jobs/batch_shares.h"
#include "launch/log_tail.h"
#include "run/json_lines.h"

namespace lockstep {
namespace {

constexpr std::size_t most_failures_told = 20;

std::vector<std::string> texts_of(const std::string& json) {
  std::vector<std::string> texts;
  const nlohmann::json list = parse_json(json);
  if (list.is_array())
    for (const nlohmann::json& one : list)
      if (one.is_string()) texts.push_back(one.get<std::string>());
  return texts;
}

void read_jobs(Ledger& ledger, BatchReport& report) {
  Statement rows(
      ledger.database(),
      "SELECT job.id, name, state, job.reason, tries, last.number, ended - started, "
      "devices, last.id, started FROM job LEFT JOIN attempt AS last ON last.id = (SELECT "
      "max(id) FROM attempt WHERE attempt.job = job.id) WHERE listed != 0 ORDER BY job.id");
  while (rows.step()) {
    ReportedJob job{.number = rows.integer(0),
                    .name = rows.text(1),
                    .state = rows.text(2),
                    .reason = rows.text(3),
                    .tries = rows.integer(4),
                    .attempt = static_cast<int>(rows.integer(5))};
    if (rows.number(9) > 0 && rows.number(6) > 0) job.seconds = rows.number(6);
    job.devices = texts_of(rows.text(7));
    job.parameters = ledger.job(job.number).parameters;
    job.results = ledger.results(rows.integer(8));
    report.jobs.push_back(std::move(job));
  }
}

void read_failures(const BatchFolder& batch, BatchReport& report) {
  constexpr int lines = 8;
  constexpr std::size_t tail_bytes = 32 << 10;
  for (const ReportedJob& job : report.jobs) {
    const bool failed = job.state == to_string(JobState::failed) ||
                        (job.state == to_string(JobState::waiting) && !job.reason.empty());
    if (!failed || ++report.failed > static_cast<std::int64_t>(most_failures_told)) continue;
    JobFailure failure{.job = job.name, .reason = job.reason, .log = {}, .lines = {}};
    if (job.attempt > 0) {
      const std::filesystem::path log = batch.log(job.name, job.attempt);
      failure.lines = last_lines_of_file(log, lines, tail_bytes);
      if (!failure.lines.empty()) failure.log = cat("logs/", log.filename().string());
    }
    report.failures.push_back(std::move(failure));
  }
}

void read_notes(Ledger& ledger, BatchReport& report) {
  Statement rows(ledger.database(), "SELECT text FROM note ORDER BY id LIMIT 100");
  while (rows.step()) report.notes.push_back(rows.text(0));
}

nlohmann::json job_report_json(const ReportedJob& job) {
  nlohmann::json parameters = nlohmann::json::object(), results = nlohmann::json::object();
  for (const auto& [name, value] : job.parameters) parameters[name] = value;
  for (const JobResult& result : job.results)
    std::visit([&](const auto& value) { results[result.name] = value; }, result.value);
  return {{"job", job.number},
          {"name", job.name},
          {"state", job.state},
          {"reason", job.reason},
          {"tries", job.tries},
          {"attempt", job.attempt},
          {"seconds", job.seconds ? nlohmann::json(*job.seconds) : nlohmann::json()},
          {"devices", job.devices},
          {"parameters", parameters},
          {"results", results}};
}

}  // namespace

BatchReport read_batch_report(const BatchFolder& batch) {
  BatchReport report{.name = batch.path.filename().string(), .path = batch.path.string()};
  report.runs_now = holder_of(batch).has_value();
  Ledger ledger = ledger_to_read(batch);
  report.counts = ledger.counts();
  read_jobs(ledger, report);
  read_notes(ledger, report);
  read_failures(batch, report);
  try {
    report.analysis = analyze(batch);
  } catch (const Error& error) {
    report.problems.push_back(cat("what devices did cannot be told: ", error.what()));
  }
  return report;
}

nlohmann::json batch_report_json(const BatchReport& report) {
  nlohmann::json value{{"kind", "batch"},        {"version", 1},
                       {"lockstep", version()},  {"name", report.name},
                       {"path", report.path},    {"runs_now", report.runs_now},
                       {"notes", report.notes},  {"problems", report.problems},
                       {"failed", report.failed}};
  value["counts"] = nlohmann::json::object();
  for (const auto& [state, count] : report.counts) value["counts"][to_string(state)] = count;
  value["analysis"] = analysis_json(report.analysis);
  value["analysis"]["begin"] = report.analysis.begin;
  value["spans"] = nlohmann::json::array();
  for (const AttemptSpan& span : report.analysis.spans)
    value["spans"].push_back({{"job", span.job},
                              {"outcome", span.outcome},
                              {"share", span.share},
                              {"slot", span.slot},
                              {"devices", span.devices},
                              {"begin", span.begin},
                              {"end", span.end}});
  value["jobs"] = nlohmann::json::array();
  for (const ReportedJob& job : report.jobs) value["jobs"].push_back(job_report_json(job));
  value["failures"] = nlohmann::json::array();
  for (const JobFailure& failure : report.failures)
    value["failures"].push_back({{"job", failure.job},
                                 {"reason", failure.reason},
                                 {"log", failure.log},
                                 {"lines", failure.lines}});
  return nlohmann::json::parse(to_line(value), nullptr, false);
}

}  // namespace lockstep
