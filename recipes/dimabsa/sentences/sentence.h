// A sentence and what is said in it: tuples of aspect, opinion, category, valence and arousal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::dimabsa {

// The phrase of an aspect or opinion that the text implies without naming it, in files and here.
inline constexpr const char* null_phrase = "NULL";

struct ValenceArousal {
  double valence = 0, arousal = 0;  // of 1 to 9
};

struct Tuple {
  std::string aspect, opinion;       // of the text, or null_phrase; no opinion in task 1
  std::string category;              // "ENTITY#ATTRIBUTE" in task 3, else empty
  std::optional<ValenceArousal> va;  // none: the file does not say
};

struct Sentence {
  std::string id, text;
  std::vector<Tuple> tuples;  // what is known, or predicted; of task 1's input the aspects alone
  std::int64_t line = 0;      // of its file, from 1
};

// 1: valence and arousal of given aspects. 2: triplets. 3: quadruplets, with a category.
enum class Task { aspects = 1, triplets = 2, quadruplets = 3 };

}  // namespace lockstep::dimabsa
