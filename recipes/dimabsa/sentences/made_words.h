// The words and templates of generated sentences (made_sentences.h).
#pragma once

#include <span>

#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

struct MadeNoun {
  const char* word;
  const char* entity;  // for example "FOOD"
  // The attribute if the adjective is not about money, for example "QUALITY".
  const char* attribute;
  // Whether this is food or a drink. Only these and the restaurant have a price.
  bool is_ordered = false;
};
struct MadeAdjective {
  const char* word;
  ValenceArousal va;
  bool about_money = false;
};
struct MadeAdverb {
  const char* word;
  double valence_factor;  // for the distance of the valence from 5
  double arousal_added;
};
// A template with an implied opinion about food or a drink. The noun is put between the two texts.
struct MadeImplied {
  const char* before;
  const char* after;
  ValenceArousal va;
};

// No noun is part of another noun. So the first occurrence of a noun in a text is the right one.
std::span<const MadeNoun> made_nouns();
std::span<const MadeAdjective> made_adjectives();
std::span<const MadeAdverb> made_adverbs();
std::span<const MadeImplied> made_implied();
std::span<const char* const> made_fillers();  // clauses without a tuple

}  // namespace lockstep::dimabsa
