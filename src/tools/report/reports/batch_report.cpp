#include "tools/report/reports/batch_report.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/text/base64.h"
#include "core/base/text/text.h"
#include "core/base/version.h"
#include "runtime/run/events/json_lines.h"
#include "tools/jobs/files/batch_files.h"
#include "tools/jobs/files/batch_shares.h"
#include "tools/report/facts/batch_facts.h"

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

void sum_results(const ReportedJob& job, std::map<std::string, ResultSum>& sums) {
  for (const JobResult& result : job.results) {
    const auto* const number = std::get_if<double>(&result.value);
    if (number == nullptr) continue;
    if (sums.size() == most_summed_results && !sums.contains(result.name)) continue;
    ResultSum& sum = sums[result.name];
    if (sum.values == 0 || *number < sum.low) sum.low = *number, sum.lowest = job.name;
    if (sum.values == 0 || *number > sum.high) sum.high = *number, sum.highest = job.name;
    ++sum.values;
    sum.sum += *number;
  }
}

void add_failure(const BatchFolder& batch, const ReportedJob& job, BatchReport& report) {
  constexpr int lines = 8;
  constexpr std::size_t tail_bytes = 32 << 10;
  const bool failed = job.state == to_string(JobState::failed) ||
                      (job.state == to_string(JobState::waiting) && !job.reason.empty());
  if (!failed || ++report.failed > static_cast<std::int64_t>(most_failures_told)) return;
  JobFailure failure{.job = job.name, .reason = job.reason, .log = {}, .lines = {}};
  if (job.attempt > 0) {
    failure.lines = log_end(batch, job.name, job.attempt, lines, tail_bytes);
    if (!failure.lines.empty()) failure.log = BatchFolder{}.log(job.name, job.attempt).string();
  }
  report.failures.push_back(std::move(failure));
}

void read_jobs(const BatchFolder& batch, Ledger& ledger, BatchReport& report) {
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
    job.results = ledger.results(rows.integer(8));
    sum_results(job, report.sums);
    add_failure(batch, job, report);
    if (static_cast<std::size_t>(report.listed++) >= most_reported_jobs) continue;
    if (rows.number(9) > 0 && rows.number(6) > 0) job.seconds = rows.number(6);
    job.devices = texts_of(rows.text(7));
    job.parameters = ledger.job(job.number).parameters;
    report.jobs.push_back(std::move(job));
  }
  if (static_cast<std::size_t>(report.listed) > report.jobs.size())
    report.problems.push_back(cat("the first ", report.jobs.size(), " of ", report.listed,
                                  " jobs are in the report; lockstep batch analyze --csv has all"));
}

void read_notes(Ledger& ledger, BatchReport& report) {
  if (const auto lines = ledger.left_out(); !lines.empty())
    report.notes.push_back(left_out_note(lines));
  Statement rows(ledger.database(), "SELECT text FROM note ORDER BY id LIMIT 100");
  while (rows.step()) report.notes.push_back(rows.text(0));
}

// Reads the pictures of a batch. They are embedded as images, so that no file can run code. If
// there are too many, only their names are shown.
void read_pictures_of_batch(const BatchFolder& batch, BatchReport& report) {
  constexpr std::size_t most_pictures = 24, most_listed_pictures = 200,
                        most_bytes = std::size_t{4} << 20;
  std::vector<std::string> names;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(batch.path, failed))
    if (entry.path().extension() == ".svg") names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  if (names.size() > most_listed_pictures) {
    report.problems.push_back(cat("the first ", most_listed_pictures, " of ", names.size(),
                                  " pictures in its folder are in the report"));
    names.resize(most_listed_pictures);
  }
  std::size_t bytes = 0;
  for (const std::string& name : names) {
    PagePicture picture{.name = name, .data_uri = {}, .wide = true};
    if (report.pictures.size() < most_pictures) try {
        if (const auto file = open_in_batch(batch, name)) {
          const std::string svg = read_file(cat("/proc/self/fd/", file->get()), most_bytes - bytes);
          bytes += svg.size();
          picture.data_uri = cat("data:image/svg+xml;base64,", to_base64(svg));
        }
      } catch (const Error&) {  // the picture is listed by name only
      }
    report.pictures.push_back(std::move(picture));
  }
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
  read_jobs(batch, ledger, report);
  read_notes(ledger, report);
  read_pictures_of_batch(batch, report);
  try {
    report.analysis = analyze(batch);
  } catch (const Error& error) {
    report.problems.push_back(cat("what devices did cannot be told: ", error.what()));
  }
  return report;
}

nlohmann::json batch_report_json(const BatchReport& report) {
  nlohmann::json value{{"kind", "batch"},         {"version", 1},
                       {"lockstep", version()},   {"name", report.name},
                       {"path", report.path},     {"runs_now", report.runs_now},
                       {"notes", report.notes},   {"problems", report.problems},
                       {"failed", report.failed}, {"listed", report.listed}};
  value["counts"] = nlohmann::json::object();
  for (const auto& [state, count] : report.counts) value["counts"][to_string(state)] = count;
  value["pictures"] = nlohmann::json::array();
  for (const PagePicture& picture : report.pictures) value["pictures"].push_back(picture.name);
  value["analysis"] = analysis_json(report.analysis);
  value["analysis"]["begin"] = report.analysis.begin;
  const std::size_t spans = report.analysis.spans.size();
  value["spans"] = nlohmann::json::array();
  for (const AttemptSpan& span :
       std::span(report.analysis.spans).first(std::min(most_reported_jobs, spans)))
    value["spans"].push_back({{"job", span.job},
                              {"outcome", span.outcome},
                              {"share", span.share},
                              {"slot", span.slot},
                              {"devices", *span.devices},
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
