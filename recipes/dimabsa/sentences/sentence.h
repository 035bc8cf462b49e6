// A sentence and what is said in it: tuples of aspect, opinion, category, valence and arousal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::dimabsa {

// Stands, in files and here, for an aspect or opinion that the text implies without naming it.
inline constexpr const char* null_phrase = "NULL";

struct ValenceArousal {
  double valence = 0, arousal = 0;  // each 1 to 9
};

struct Tuple {
  std::string aspect, opinion;       // part of the text, or null_phrase; no opinion in task 1
  std::string category;              // "ENTITY#ATTRIBUTE" in task 3, else empty
  std::optional<ValenceArousal> va;  // none: the file has none
};

struct Sentence {
  std::string id, text;
  std::vector<Tuple> tuples;  // known or predicted ones; in task 1's input only aspects
  std::int64_t line = 0;      // number of its line in the file, from 1
};

// 1: valence and arousal of given aspects. 2: triplets. 3: quadruplets, which add a category.
enum class Task { aspects = 1, triplets = 2, quadruplets = 3 };

}  // namespace lockstep::dimabsa
