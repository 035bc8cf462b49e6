// What the doctor found, and the rules that find it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "doctor/scene.h"

namespace lockstep {

// certain: the evidence leaves nothing else. likely: it is the usual cause. possible: it is one of
// the causes that the evidence allows.
enum class Confidence { possible, likely, certain };
const char* to_string(Confidence confidence);

struct Finding {
  std::string rule;     // "one-of-several", a name that stays
  std::string verdict;  // a sentence
  Confidence confidence = Confidence::likely;
  std::vector<std::string> evidence;  // lines that one can check by hand
  std::vector<std::string> next;      // what to do: a command, or a change of code
  std::vector<std::string> open;      // what cannot be told apart, and what would tell
  std::vector<int> gpus;              // NVML indexes that it is about
  std::vector<int> pids;
};

using Findings = std::vector<Finding>;

struct Rule {
  const char* name;
  const char* finds;  // for the reference, "one process, several GPUs, a context on one only"
  Findings (*look)(const Scene& scene);
};
std::span<const Rule> all_rules();

// Those at least so sure.
Findings at_least(const Findings& findings, Confidence confidence);

// All rules, the most certain findings first. Where a rule explains the same processes better than
// another, the other is left out.
Findings diagnose(const Scene& scene);

}  // namespace lockstep
