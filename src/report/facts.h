// What is known of one thing that was run: a run, a batch, a log of another program. Known means
// seen: what was only asked for is listed beside it. docs/reference/comparison.md names the facts.
#pragma once

#include "stats/comparison.h"

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// What a difference in it means for a comparison.
enum class FactKind {
  work,    // data, model, parameters: what was computed
  amount,  // how much of it was done: steps, samples, jobs
  means,   // how it was computed, which changes no result
  place,   // what it ran on
  note     // who, when, what was asked: listed where it differs, never decides
};
const char* to_string(FactKind kind);
std::optional<FactKind> fact_kind(std::string_view word);

struct Fact {
  FactKind kind = FactKind::note;
  nlohmann::json value;  // null: unknown
  bool known() const { return !value.is_null(); }
};

enum class Better { lower, higher, unknown };
const char* to_string(Better better);

// Which differences keep a quantity from being compared: see differences.h.
enum class Aspect {
  time,     // of given work
  goal,     // time to a loss: whatever work that takes
  quality,  // of what came out
  memory,
  energy,
  use  // how busy, how balanced
};
const char* to_string(Aspect aspect);

// Something measured, once per trial.
struct Quantity {
  std::string name;   // "step_s"
  std::string title;  // "step time"
  std::string unit;   // "s", "bytes", "J", "nats/token"; "" of a share
  Scale scale = Scale::ratio;
  Better better = Better::lower;
  Aspect aspect = Aspect::time;
  bool total = false;  // over all that was done, so that it grows with the amount
  double value = 0;    // may be NaN: it was no number
};

// A validation metric after some training.
struct CurvePoint {
  double step = 0;  // of a log that counts epochs alone: the epoch, which may be a fraction
  double seconds =
      0;  // of training until then, without start-up and without what resumes took back
  double value = 0;
};

// A job of a batch that is over.
struct JobFacts {
  std::string name;
  std::string key;            // by content, as in the ledger; "" unknown
  std::string parameters;     // as JSON text, sorted by name; "" none
  std::string state;          // "done", "failed", …
  double begin = 0, end = 0;  // of its last attempt, unix seconds; 0: it had none
  std::shared_ptr<const std::vector<std::string>> devices;  // UUIDs; of many jobs, null: none
  std::map<std::string, nlohmann::json> results;            // numbers and texts that it reported
  double seconds() const { return end - begin; }
};

// One repeat of a side.
struct Trial {
  std::string name;    // for people
  std::string path;    // absolute
  std::string source;  // "run", "batch", "CSV log", "TensorBoard log", "facts", "timing"
  std::string state;   // of a run; "" unknown
  std::map<std::string, Fact> facts;
  std::map<std::string, Fact> paths;  // options that are paths: what lies there is not known
  std::vector<Quantity> quantities;
  std::string metric;  // of `curve`: the run's chosen one
  Better metric_better = Better::unknown;
  std::vector<CurvePoint> curve;
  std::vector<JobFacts> jobs;  // of a batch
  // "failed", "skipped": of how many jobs; hits, all.
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> counts;
  std::vector<std::string> cautions;  // what makes its numbers doubtful, for people

  const Quantity* find(std::string_view name) const;  // null: it was not measured
  // Null where it is not known.
  nlohmann::json value(const std::string& fact) const;
  double number(const std::string& fact) const;  // NaN where it is not known, or no number
  void set(const std::string& fact, FactKind kind, nlohmann::json value);
  // Left out where the value is nothing.
  void measure(Quantity quantity, std::optional<double> value);
};

// Repeats of one side of a comparison; at least one.
struct TrialGroup {
  std::string name;
  std::vector<Trial> trials;
};

// How a value stands in a text: "16,000", "bf16", "unknown".
std::string fact_text(const nlohmann::json& value);
// With its unit: "12.3 ms", "1.5 GiB", "0.912".
std::string quantity_text(double value, const std::string& unit);

}  // namespace lockstep
