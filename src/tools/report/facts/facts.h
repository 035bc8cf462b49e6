// Known facts about one execution: a run, a batch, or a log of another program. Known means
// observed; settings that were only requested are listed separately. docs/reference/comparison.md
// names the facts.
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

// The effect of a difference in a fact on a comparison.
enum class FactKind {
  work,    // data, model, parameters: the computation itself
  amount,  // how much of it: steps, samples, jobs
  means,   // how it was computed, without changing the result
  place,   // the hardware it ran on
  note     // who, when, what was requested: listed if different, never decisive
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

// Aspects of a quantity. Each is blocked by other differences; see differences.h.
enum class Aspect {
  time,     // time for given work
  goal,     // time to a loss, however much work it takes
  quality,  // quality of the result
  memory,
  energy,
  use  // utilisation, balance
};
const char* to_string(Aspect aspect);

// Something measured, once per trial.
struct Quantity {
  std::string name;   // "step_s"
  std::string title;  // "step time"
  std::string unit;   // "s", "bytes", "J", "nats/token"; "" for a share
  Scale scale = Scale::ratio;
  Better better = Better::lower;
  Aspect aspect = Aspect::time;
  bool total = false;  // summed over everything done, so it grows with the amount
  double value = 0;    // may be NaN: it was no number
};

// A validation metric after some training.
struct CurvePoint {
  double step = 0;  // for a log that counts only epochs: the epoch, possibly a fraction
  double seconds =
      0;  // of training until then, without start-up and without parts that resumes took back
  double value = 0;
};

// A finished job of a batch.
struct JobFacts {
  std::string name;
  std::string key;            // by content, as in the ledger; "" if unknown
  std::string parameters;     // as JSON text, sorted by name; "" if none
  std::string state;          // "done", "failed", …
  double begin = 0, end = 0;  // of its last attempt, unix seconds; 0: no attempt
  std::shared_ptr<const std::vector<std::string>> devices;  // UUIDs, shared by many jobs; null:
                                                            // none
  std::map<std::string, nlohmann::json> results;            // numbers and texts that the job
                                                            // reported
  double seconds() const { return end - begin; }
};

// One repeat of a side.
struct Trial {
  std::string name;    // for people
  std::string path;    // absolute
  std::string source;  // "run", "batch", "CSV log", "TensorBoard log", "facts", "timing"
  std::string state;   // for a run; "" if unknown
  std::map<std::string, Fact> facts;
  std::map<std::string, Fact> paths;  // options that are paths: the contents are unknown
  // For options whose value stands for one that follows from the data (0 for all five classes): the
  // effective values. Records of earlier versions lack them.
  std::map<std::string, nlohmann::json> stood_for{};
  std::vector<Quantity> quantities;
  std::string metric;  // metric in `curve`: the run's chosen one
  Better metric_better = Better::unknown;
  std::vector<CurvePoint> curve;
  std::vector<JobFacts> jobs;  // for a batch
  // "failed", "skipped": the number of such jobs (hits), and of all jobs.
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> counts;
  std::vector<std::string> cautions;  // reasons to doubt its numbers, for people

  const Quantity* find(std::string_view name) const;  // null if it was not measured
  // Null if unknown.
  nlohmann::json value(const std::string& fact) const;
  double number(const std::string& fact) const;  // NaN if unknown, or not a number
  // Numbers that are not finite are kept as the texts "NaN", "inf" and "-inf".
  void set(const std::string& fact, FactKind kind, nlohmann::json value);
  // Does nothing if there is no value.
  void measure(Quantity quantity, std::optional<double> value);
};

// The repeats of one side of a comparison, at least one.
struct TrialGroup {
  std::string name;
  std::vector<Trial> trials;
};

// A value as text: "16,000", "bf16", "unknown".
std::string fact_text(const nlohmann::json& value);
// A value with its unit: "12.3 ms", "1.5 GiB", "0.912".
std::string quantity_text(double value, const std::string& unit);

}  // namespace lockstep
