// The words of generated sentences.
#pragma once

#include <span>

#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

struct MadeNoun {
  const char* word;
  const char* entity;       // "FOOD"
  const char* attribute;    // "QUALITY": where the adjective is not about money
  bool is_ordered = false;  // food and drinks; only they and the restaurant have a price
};
struct MadeAdjective {
  const char* word;
  ValenceArousal va;
  bool about_money = false;
};
struct MadeAdverb {
  const char* word;
  double valence_factor;  // factor of the distance from 5
  double arousal_added;
};
// A template with an implied opinion about something that can be ordered. The noun stands between
// the two texts.
struct MadeImplied {
  const char* before;
  const char* after;
  ValenceArousal va;
};

// No noun is part of another noun, so each is found where it is meant.
std::span<const MadeNoun> made_nouns();
std::span<const MadeAdjective> made_adjectives();
std::span<const MadeAdverb> made_adverbs();
std::span<const MadeImplied> made_implied();
std::span<const char* const> made_fillers();  // clauses without any tuple

}  // namespace lockstep::dimabsa
