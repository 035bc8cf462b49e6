#include "tools/report/comparison/job_pairs.h"

#include <algorithm>
#include <cmath>

#include "core/base/text/text.h"
#include "tools/report/facts/result_facts.h"

namespace lockstep {
namespace {

bool is_whole(double value) { return value == std::floor(value); }

const nlohmann::json* hash_of(const JobFacts& job) {
  const auto found = job.results.find(model_hash_result);
  return found != job.results.end() && found->second.is_string() ? &found->second : nullptr;
}

bool is_quality(const std::string& name, const nlohmann::json& value) {
  return value.is_number() && !name.starts_with("asked.") &&
         role_of_result(name, value) == ResultRole::quantity &&
         quantity_of_name(name).aspect == Aspect::quality;
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

bool done_on_both(const JobRow& row) { return row.state_a == "done" && row.state_b == "done"; }

// Parameters that differ although the outcome is the same: "used.num_leaves 255 against 127, …".
std::string changed_parameters(const std::set<std::string>& changed_nothing,
                               const std::vector<Difference>& differences) {
  constexpr std::size_t most = 4;
  std::vector<std::string> texts;
  for (const Difference& difference : differences)
    if (difference.kind == FactKind::work && changed_nothing.contains(difference.key))
      texts.push_back(difference.text);
  const std::size_t more = texts.size() > most ? texts.size() - most : 0;
  texts.resize(std::min(texts.size(), most));
  return cat(join(texts, ", "), more > 0 ? cat(" and ", more, " more") : "");
}

// For each trial of this side, whether the other side has a trial with the same seed.
std::vector<char> have_partners(const std::vector<RepeatOfJob>& side,
                                const std::vector<RepeatOfJob>& other) {
  std::vector<char> have;
  for (const RepeatOfJob& one : side)
    have.push_back(!one.seed.empty() &&
                   std::any_of(other.begin(), other.end(),
                               [&](const RepeatOfJob& two) { return two.seed == one.seed; }));
  return have;
}

// Adds results "used.NAME" that differ between both jobs.
void add_changed(const JobFacts& a, const JobFacts& b, std::set<std::string>& differ) {
  for (const auto& [name, value] : a.results) {
    if (!name.starts_with("used.")) continue;
    const auto other = b.results.find(name);
    if (other == b.results.end() || other->second != value) differ.insert(name);
  }
}

}  // namespace

JobRow::Outcome outcome_of(const JobFacts& a, const JobFacts& b) {
  using enum JobRow::Outcome;
  if (a.state != "done" || b.state != "done") return unknown;
  const nlohmann::json *const hash_a = hash_of(a), *const hash_b = hash_of(b);
  if (hash_a != nullptr && hash_b != nullptr) return *hash_a == *hash_b ? same_model : other;
  bool telling = false;
  for (const auto& [name, value] : a.results) {
    if (!is_quality(name, value)) continue;
    const auto found = b.results.find(name);
    if (found == b.results.end() || !is_quality(name, found->second)) continue;
    if (found->second != value) return other;
    telling = telling || !is_whole(value.get<double>());
  }
  return telling ? same_results : unknown;
}

JobRow::Outcome outcome_of(const std::vector<RepeatOfJob>& a, const std::vector<RepeatOfJob>& b,
                           std::set<std::string>* changed) {
  using enum JobRow::Outcome;
  const std::vector<char> pairs_a = have_partners(a, b), pairs_b = have_partners(b, a);
  const bool by_seed = std::find(pairs_a.begin(), pairs_a.end(), 1) != pairs_a.end();
  std::set<std::string> differ;
  std::vector<char> found_a(a.size(), 0), found_b(b.size(), 0);
  bool models = true;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) {
      if (by_seed && !(pairs_a[i] && a[i].seed == b[j].seed)) continue;
      const JobRow::Outcome outcome = outcome_of(*a[i].job, *b[j].job);
      if (outcome == unknown) return unknown;
      if (outcome == other) continue;
      found_a[i] = found_b[j] = 1;
      models = models && outcome == same_model;
      if (changed != nullptr) add_changed(*a[i].job, *b[j].job, differ);
    }
  const auto all = [&](const std::vector<char>& found, const std::vector<char>& pairs) {
    for (std::size_t i = 0; i < found.size(); ++i)
      if (!found[i] && (pairs[i] || !by_seed)) return false;
    return true;
  };
  if (!all(found_a, pairs_a) && !all(found_b, pairs_b)) return other;
  if (changed != nullptr) changed->merge(differ);
  return models ? same_model : same_results;
}

std::vector<JobPairs> pair_jobs(const JobsMatched& jobs, const std::vector<QuantityRow>& rows) {
  std::vector<JobPairs> pairs;
  for (const QuantityRow& row : rows) {
    if (row.what.aspect != Aspect::quality || row.conclusion == Conclusion::not_comparable)
      continue;
    std::vector<double> differences;
    bool counts = true;
    for (const JobRow& job : jobs.rows) {
      const auto found = job.results.find(row.what.name);
      if (found == job.results.end() || !done_on_both(job)) continue;
      const auto [a, b] = found->second;
      if (!std::isfinite(a) || !std::isfinite(b)) continue;
      counts = counts && is_whole(a) && is_whole(b);
      differences.push_back(b - a);
    }
    if (differences.size() < 2 || counts) continue;
    pairs.push_back({row.what.name, signed_rank(differences), median_of(differences)});
  }
  return pairs;
}

std::optional<RedFlag> same_outcome_flag(const JobsMatched& jobs,
                                         const std::vector<Difference>& differences) {
  using enum JobRow::Outcome;
  const auto count = [&](JobRow::Outcome outcome) {
    return std::count_if(jobs.rows.begin(), jobs.rows.end(),
                         [&](const JobRow& row) { return row.outcome == outcome; });
  };
  const auto models = count(same_model), same = models + count(same_results),
             known = same + count(other);
  const std::string parameters = changed_parameters(jobs.changed_nothing, differences);
  if (same * 2 <= known || parameters.empty()) return std::nullopt;
  return RedFlag{"same_outcome",
                 cat(same, " of ", known, " jobs have the same ",
                     models == same ? "model" : "results to the last digit", ": there ", parameters,
                     " changed nothing, like a limit that is never reached")};
}

}  // namespace lockstep
