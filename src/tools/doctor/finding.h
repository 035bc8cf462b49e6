// The doctor's findings, and the rules that produce them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/doctor/evidence/scene.h"

namespace lockstep {

// certain: no other cause fits the evidence. likely: it is the usual cause. possible: it is one of
// several causes that fit the evidence.
enum class Confidence { possible, likely, certain };
const char* to_string(Confidence confidence);

struct Finding {
  std::string rule;     // name of the rule, such as "one-of-several"; it never changes
  std::string verdict;  // the finding as a sentence
  Confidence confidence = Confidence::likely;
  std::vector<std::string> evidence;  // lines that a user can check by hand
  std::vector<std::string> next;      // remedies: commands, or changes of code
  // causes that cannot be distinguished, and how to distinguish them
  std::vector<std::string> open;
  std::vector<int> gpus;  // NVML indexes of the GPUs concerned
  std::vector<int> pids;
};

using Findings = std::vector<Finding>;

struct Rule {
  const char* name;
  const char* finds;  // for the reference page: "ranks that wait for the slowest"
  Findings (*look)(const Scene& scene);
};
std::span<const Rule> all_rules();

// Returns the findings with at least that confidence.
Findings at_least(const Findings& findings, Confidence confidence);

// Applies all rules. The most certain findings come first. A finding is dropped if the finding of
// another rule explains the same processes better. For example, a rank that waits for a slower rank
// has no finding of its own.
Findings diagnose(const Scene& scene);

}  // namespace lockstep
