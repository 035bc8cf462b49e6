// A sentence and its tuples. A tuple is an opinion about an aspect, with a category, valence and
// arousal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::dimabsa {

// Stands for an aspect or opinion that the text implies without naming it. Files use the same word.
inline constexpr const char* null_phrase = "NULL";

struct ValenceArousal {
  double valence = 0, arousal = 0;  // each in [1, 9]
};

struct Tuple {
  std::string aspect, opinion;       // parts of the text, or null_phrase; no opinion in task 1
  std::string category;              // "ENTITY#ATTRIBUTE" in task 3, else empty
  std::optional<ValenceArousal> va;  // no value if the file has none
};

struct Sentence {
  std::string id, text;
  std::vector<Tuple> tuples;  // gold or predicted; in inputs of task 1, only with aspects
  std::int64_t line = 0;      // line number in the file, from 1
};

// Task 1 predicts valence and arousal of given aspects. Task 2 predicts triplets of aspect,
// opinion, and valence with arousal. Task 3 predicts quadruplets, which also have a category.
enum class Task { aspects = 1, triplets = 2, quadruplets = 3 };

}  // namespace lockstep::dimabsa
