// The doctor's findings, and the rules that produce them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/doctor/evidence/scene.h"

namespace lockstep {

// certain: the evidence leaves no other cause. likely: it is the usual cause. possible: it is one
// of several causes that fit the evidence.
enum class Confidence { possible, likely, certain };
const char* to_string(Confidence confidence);

struct Finding {
  std::string rule;     // "one-of-several"; a name that never changes
  std::string verdict;  // a sentence
  Confidence confidence = Confidence::likely;
  std::vector<std::string> evidence;  // lines that a user can verify by hand
  std::vector<std::string> next;      // remedies: a command, or a change of code
  std::vector<std::string> open;      // causes that cannot be distinguished, and how to find out
  std::vector<int> gpus;              // NVML indexes of the GPUs concerned
  std::vector<int> pids;
};

using Findings = std::vector<Finding>;

struct Rule {
  const char* name;
  const char* finds;  // for the reference, "one process, several GPUs, a context on one only"
  Findings (*look)(const Scene& scene);
};
std::span<const Rule> all_rules();

// The findings with at least that confidence.
Findings at_least(const Findings& findings, Confidence confidence);

// Applies all rules; the most certain findings come first. If one rule explains the same processes
// better than another, the other's finding is dropped.
Findings diagnose(const Scene& scene);

}  // namespace lockstep
