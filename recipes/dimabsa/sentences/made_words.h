// The words and templates of generated sentences (made_sentences.h).
#pragma once

#include <span>

#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

struct MadeNoun {
  const char* word;
  const char* entity;  // for example "FOOD"
  // The attribute of the category, for example "QUALITY". With an adjective about money, it is
  // PRICES.
  const char* attribute;
  // Whether the noun is food or a drink. Only food, drinks and the restaurant have a price.
  bool is_ordered = false;
};
struct MadeAdjective {
  const char* word;
  ValenceArousal va;
  bool about_money = false;
};
struct MadeAdverb {
  const char* word;
  double valence_factor;  // factor of the distance between the valence and 5
  double arousal_added;
};
// A template with an opinion about food or a drink that no word names. The noun is put between the
// two texts.
struct MadeImplied {
  const char* before;
  const char* after;
  ValenceArousal va;
};

// No noun is part of another noun. So the first occurrence of a noun in a text is never within
// another noun.
std::span<const MadeNoun> made_nouns();
std::span<const MadeAdjective> made_adjectives();
std::span<const MadeAdverb> made_adverbs();
std::span<const MadeImplied> made_implied();
std::span<const char* const> made_fillers();  // clauses without a tuple

}  // namespace lockstep::dimabsa
