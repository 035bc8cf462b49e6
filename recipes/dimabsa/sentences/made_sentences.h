// Generates restaurant sentences from templates, to train without data. Category, valence and
// arousal follow from the words by a rule, so a small model can learn them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

// Returns `count` sentences, with the IDs "made_1", "made_2", … Each sentence depends only on the
// seed and its number. It has 0 to 5 tuples, and 1.6 on average, as DimABSA's English restaurants
// have. All sentences together use about 200 different words. Some aspects or opinions are NULL. No
// sentence has two tuples with the same aspect and opinion. Every phrase occurs once in its text.
//
// The rule for valence and arousal is this. An opinion is an adjective, which may follow an adverb.
// The adjective has a valence and an arousal (made_words.cpp). The adverb changes the valence and
// the arousal of the adjective:
//   very, really     multiply the distance between the valence and 5 by 1.3; add 1 to the arousal
//   a bit, fairly    halve this distance; subtract 1 from the arousal
//   not              moves the valence to the other side of 5, at 0.6 of the distance
// Both values are clamped to [1, 9]. If no word names the opinion, valence and arousal come from
// the template of the sentence. Opinions that no word names are always about food or drinks.
//
// The rule for the category is this. The entity comes from the noun. If the adjective is about
// money, the attribute is PRICES. If not, the attribute comes from the noun. Only food, drinks and
// the restaurant have adjectives about money. If no aspect is named, the entity is RESTAURANT.
//
// In task 2, tuples have no categories. In task 1, they also have no opinions, and only the first
// tuple of an aspect is kept.
std::vector<Sentence> made_sentences(std::int64_t count, std::uint64_t seed,
                                     Task task = Task::quadruplets);

// Returns all categories that these sentences can have.
std::vector<std::string> made_categories();

}  // namespace lockstep::dimabsa
