// Restaurant sentences made from templates, for a first training without data. Every category,
// valence and arousal follows from the words by a rule, so that a small model can learn it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

// Sentence i ("made_1" is the first) follows from seed and i alone. 0 to 5 tuples, 1.6 on average
// as in DimABSA's English restaurants, of some 200 different words; some aspects or opinions are
// NULL. No text has two tuples with the same aspect and opinion, and every phrase stands in its
// text once.
//
// The rule. An opinion is an adjective, maybe behind an adverb. The adjective has a valence and an
// arousal (made_words.cpp). "very" and "really" take the valence 1.3 times as far from 5 and add 1
// to the arousal. "a bit" and "fairly" halve the distance and take 1 off. "not" mirrors the valence
// at 5 with 0.6 of the distance. Both end within 1 to 9. An implied opinion has the values of its
// template, and is of food and drinks. The category's entity is the noun's. Its attribute is PRICES
// if the adjective is about money (of food, drinks and the restaurant alone), else the noun's. An
// aspect that is not named is the RESTAURANT.
//
// Task 2: no categories. Task 1: no opinions, and an aspect's first tuple alone.
std::vector<Sentence> made_sentences(std::int64_t count, std::uint64_t seed,
                                     Task task = Task::quadruplets);

// All categories that they have.
std::vector<std::string> made_categories();

}  // namespace lockstep::dimabsa
