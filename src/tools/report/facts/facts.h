// Holds the known facts about one execution: a run, a batch, or a log of another program. Known
// means observed. Settings that were only requested are listed separately.
// docs/reference/comparison.md names the facts.
#pragma once

#include "tools/stats/comparison.h"

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// The kind of a fact. It decides how a difference in the fact affects a comparison.
enum class FactKind {
  work,    // the computation itself: data, model, parameters
  amount,  // the amount of computation: steps, samples, jobs
  means,   // the way in which it was computed, which does not change the result
  place,   // the hardware on which it ran
  note     // user, time, requested settings: differences are listed, but never decide
};
const char* to_string(FactKind kind);
std::optional<FactKind> fact_kind(std::string_view word);

struct Fact {
  FactKind kind = FactKind::note;
  nlohmann::json value;  // null if unknown
  bool known() const { return !value.is_null(); }
};

enum class Better { lower, higher, unknown };
const char* to_string(Better better);

// The aspect that a quantity measures. The kinds of differences that prevent a comparison depend on
// the aspect (differences.h).
enum class Aspect {
  time,     // time for a given amount of work
  goal,     // time to a loss, for any amount of work
  quality,  // quality of the result
  memory,
  energy,
  use  // utilisation and balance of devices
};
const char* to_string(Aspect aspect);

// A quantity that is measured once per trial.
struct Quantity {
  std::string name;   // such as "step_s"
  std::string title;  // such as "step time"
  std::string unit;   // such as "s", "bytes", "J" or "nats/token"; empty for a share
  Scale scale = Scale::ratio;
  Better better = Better::lower;
  Aspect aspect = Aspect::time;
  // whether it is a sum over all work, so that it grows with the amount of work
  bool total = false;
  double value = 0;  // NaN if it was not a number
};

// The value of a validation metric at one point of the training.
struct CurvePoint {
  double step = 0;  // the step; the epoch, possibly a fraction, if a log counts only epochs
  // Seconds of training until this point. Start-up, and work that a later resume discarded, are
  // left out.
  double seconds = 0;
  double value = 0;
};

// A job of a batch that the latest job list contains.
struct JobFacts {
  std::string name;
  // identifies the job by content, as in the batch's ledger; empty if unknown
  std::string key;
  std::string parameters;  // JSON text, sorted by name; empty if there are none
  std::string state;       // "done", "failed", …
  // times of the last attempt, unix seconds; 0 if there was no attempt, or if times are left out
  double begin = 0, end = 0;
  // UUIDs of the devices, in a list that many jobs share; null or empty without devices
  std::shared_ptr<const std::vector<std::string>> devices;
  std::map<std::string, nlohmann::json> results;  // numbers and texts that the job reported
  double seconds() const { return end - begin; }
};

// One execution, which is one repeat of a side of a comparison.
struct Trial {
  std::string name;    // for people
  std::string path;    // absolute path
  std::string source;  // such as "run", "batch", "CSV log", "TensorBoard log", "facts" or "timing"
  std::string state;   // state of a run; empty if unknown
  std::map<std::string, Fact> facts;
  std::map<std::string, Fact> paths;  // options whose value is a path with unknown contents
  // The effective values of options. A special value of an option may mean another value that
  // follows from the data, such as 0 for all five classes. Records of earlier versions lack them.
  std::map<std::string, nlohmann::json> stood_for{};
  std::vector<Quantity> quantities;
  std::string metric;  // the metric in `curve`, which is the one that the run chose
  Better metric_better = Better::unknown;
  std::vector<CurvePoint> curve;
  std::vector<JobFacts> jobs;  // jobs of a batch
  // For "failed" and "skipped": the number of jobs in that state, and the number of all jobs.
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> counts;
  std::vector<std::string> cautions;  // reasons to doubt its numbers, for people

  const Quantity* find(std::string_view name) const;  // null if it was not measured
  // Returns the value of a fact, or null if it is unknown.
  nlohmann::json value(const std::string& fact) const;
  double number(const std::string& fact) const;  // NaN if the fact is unknown or not a number
  // Sets a fact. Numbers that are not finite are stored as the texts "NaN", "inf" and "-inf".
  void set(const std::string& fact, FactKind kind, nlohmann::json value);
  // Adds the quantity with this value. Does nothing if there is no value.
  void measure(Quantity quantity, std::optional<double> value);
};

// The repeats of one side of a comparison. There is at least one.
struct TrialGroup {
  std::string name;
  std::vector<Trial> trials;
};

// Returns a value as text, such as "16,000", "bf16" or "unknown".
std::string fact_text(const nlohmann::json& value);
// Returns a value with its unit, such as "12.3 ms", "1.5 GiB" or "0.912".
std::string quantity_text(double value, const std::string& unit);

}  // namespace lockstep
