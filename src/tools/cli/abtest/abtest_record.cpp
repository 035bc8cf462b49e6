#include "tools/cli/abtest/abtest_record.h"

#include <cmath>
#include <fstream>
#include <system_error>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "core/base/version.h"
#include "runtime/run/folder/run_dir.h"
#include "tools/cli/context.h"
#include "tools/cli/machine_facts.h"

namespace lockstep::cli {
namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr int record_format = 1;

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json finite_json(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

const char* word_of(AbtestEnd end) {
  switch (end) {
    case AbtestEnd::narrow:
      return "narrow";
    case AbtestEnd::repeats:
      return "repeats";
    case AbtestEnd::budget:
      return "budget";
    case AbtestEnd::interrupted:
      return "interrupted";
  }
  return "";
}

const char* word_of(FoundDifference finding) {
  switch (finding) {
    case FoundDifference::same:
      return "same";
    case FoundDifference::less:
      return "less";
    case FoundDifference::more:
      return "more";
    case FoundDifference::inconclusive:
      return "inconclusive";
  }
  return "";
}

Json command_json(const AbtestCommand& command) {
  return {{"text", command.text}, {"words", command.words}};
}

Json quantity_json(const AbtestSetup& setup) {
  return {{"key", setup.metric ? "metric" : "wall_s"},
          {"pattern", setup.metric ? Json(setup.metric->pattern()) : Json(nullptr)},
          {"higher_is_better", setup.more_is_better},
          {"scale", setup.trial.rule.scale == Scale::ratio ? "ratio" : "difference"}};
}

Json rule_json(const AbtestSetup& setup) {
  const AbtestSpec& trial = setup.trial;
  return {{"order", trial.order == PairOrder::balanced ? "balanced" : "ab"},
          {"seed", trial.seed},
          {"warmup", trial.warmup},
          {"margin", trial.rule.margin},
          {"confidence", trial.rule.confidence},
          {"least_pairs", trial.rule.least_pairs},
          {"narrow_share", narrow_share},
          {"repeats", or_null(trial.repeats)},
          {"budget_s", or_null(trial.budget_s)},
          {"timeout_s", or_null(setup.timeout_s)},
          {"places", trial.places},
          {"fail_if_slower", or_null(setup.fail_if_slower)}};
}

Json measured_json(const AbtestRun& measured, bool has_metric) {
  Json value = {{"started", measured.started},
                {"wall_s", measured.wall_s},
                {"user_s", measured.user_s},
                {"system_s", measured.system_s},
                {"peak_bytes", or_null(measured.peak_bytes)}};
  if (has_metric) value["metric"] = measured.value;
  return value;
}

Json pairs_json(const AbtestSetup& setup, const AbtestTrial& trial) {
  Json pairs = Json::array();
  for (const AbtestPair& pair : trial.pairs) {
    Json value = {{"number", pair.number + 1},
                  {"first", pair.b_first ? "b" : "a"},
                  {"a", measured_json(pair.a, setup.metric.has_value())},
                  {"b", measured_json(pair.b, setup.metric.has_value())}};
    if (setup.trial.places > 1)
      value["device"] = setup.gpus.at(static_cast<std::size_t>(pair.place)).uuid;
    pairs.push_back(std::move(value));
  }
  return pairs;
}

Json row_json(const AbtestRow& row) {
  const Contrast& found = row.contrast;
  Json value = {
      {"mean_a", finite_json(found.mean_a)},
      {"mean_b", finite_json(found.mean_b)},
      {found.scale == Scale::ratio ? "ratio" : "difference", finite_json(found.interval.estimate)},
      {"low", finite_json(found.interval.low)},
      {"high", finite_json(found.interval.high)},
      {"pairs", found.count_a},
      {"spread", finite_json(found.spread)},
      {"method", found.method},
      {"unknown", found.unknown}};
  if (row.bootstrap)
    value["bootstrap"] = {{"low", finite_json(row.bootstrap->low)},
                          {"high", finite_json(row.bootstrap->high)},
                          {"method", "BCa"}};
  return value;
}

Json result_json(const AbtestSetup& setup, const AbtestTrial& trial, const AbtestResult& result) {
  const StoppingRule& rule = setup.trial.rule;
  Json quantities = Json::object();
  for (const AbtestRow& row : result.rows) quantities[row.key] = row_json(row);
  Json value = {
      {"ended_by", word_of(trial.end)},
      {"took_s", trial.took_s},
      {"finding", word_of(find(result.main(), rule.margin))},
      {"verdict", result.verdict},
      {"pairs_needed", or_null(repeats_needed(result.main(), rule.margin, rule.confidence))},
      {"flags", result.flags},
      {"quantities", std::move(quantities)}};
  if (setup.fail_if_slower) value["slower"] = or_null(result.is_slower);
  return value;
}

}  // namespace

AbtestRecord::AbtestRecord(const AbtestSetup& setup, const OthersLoad& load)
    : folder_(setup.folder) {
  make_directories(folder_ / "output");
  record_ = {{"kind", "abtest"},
             {"format", record_format},
             {"lockstep", version()},
             {"state", "running"},
             {"started", system_clock().wall_s()},
             {"folder", fs::current_path().string()},
             {"git", git_state(fs::current_path())},
             {"machine", machine_facts(setup.gpus)},
             {"load_before", or_null(load.load_before)},
             {"commands", {{"a", command_json(setup.a)}, {"b", command_json(setup.b)}}},
             {"quantity", quantity_json(setup)},
             {"rule", rule_json(setup)},
             {"pairs", Json::array()}};
  write();
}

fs::path AbtestRecord::output_of(const RunKey& key) const {
  const char* const side = key.side == AbtestSide::a ? "a" : "b";
  if (key.pair >= 0) return folder_ / "output" / cat(key.pair + 1, side, ".log");
  return folder_ / "output" / cat("warmup", -key.pair, "-", key.place, side, ".log");
}

void AbtestRecord::add(const AbtestSetup& setup, const AbtestTrial& trial) {
  constexpr double every_s = 1;
  const double now_s = system_clock().now_s();
  if (now_s - written_s_ < every_s) return;
  record_["pairs"] = pairs_json(setup, trial);
  write();
  written_s_ = now_s;
}

std::string AbtestRecord::finish(const AbtestSetup& setup, const AbtestTrial& trial,
                                 const AbtestResult& result, const OthersLoad& load) {
  record_["state"] = trial.end == AbtestEnd::interrupted ? "interrupted" : "finished";
  record_["ended"] = system_clock().wall_s();
  record_["others_cores"] = or_null(load.others_cores);
  record_["pairs"] = pairs_json(setup, trial);
  record_["result"] = result_json(setup, trial, result);
  try {
    write();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void AbtestRecord::fail(const std::string& why) {
  record_["state"] = "failed";
  record_["why"] = why;
  record_["ended"] = system_clock().wall_s();
  try {
    write();
  } catch (const Error&) {  // the reason for the end is reported in any case
  }
}

void AbtestRecord::write() const {
  write_file_atomic(folder_ / "abtest.json", json_text(record_) + "\n");
}

void shorten_output(const fs::path& file, std::uint64_t most_bytes) {
  std::error_code ignored;
  const std::uint64_t bytes = fs::file_size(file, ignored);
  if (ignored || bytes <= most_bytes) return;
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(bytes - most_bytes));
  std::string end(most_bytes, '\0');
  in.read(end.data(), static_cast<std::streamsize>(most_bytes));
  end.resize(static_cast<std::size_t>(in.gcount()));
  std::ofstream(file, std::ios::binary | std::ios::trunc)
      << "[" << bytes - most_bytes << " bytes before this were left out]\n"
      << end;
}

}  // namespace lockstep::cli
