// Generates restaurant sentences from templates, for a first training without data. A rule derives
// every category, valence and arousal from the words, so a small model can learn it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

// Sentence i (the first is "made_1") depends only on seed and i. It has 0 to 5 tuples, on average
// 1.6 as in DimABSA's English restaurants. The sentences use some 200 different words. Some aspects
// or opinions are NULL. No text has two tuples with the same aspect and opinion, and every phrase
// occurs once in its text.
//
// The rule. An opinion is an adjective, perhaps after an adverb. The adjective has a valence and an
// arousal (made_words.cpp). "very" and "really" multiply the valence's distance from 5 by 1.3 and
// add 1 to the arousal. "a bit" and "fairly" halve the distance and subtract 1 from the arousal.
// "not" puts the valence on the other side of 5, at 0.6 of the distance. Both values are clamped to
// 1 to 9. An implied opinion has the values of its template, and is about food and drinks. The
// category's entity comes from the noun. Its attribute is PRICES if the adjective is about money
// (only for food, drinks and the restaurant), else it comes from the noun. If no aspect is named,
// it is the RESTAURANT.
//
// Task 2 has no categories. Task 1 has no opinions, and only the first tuple of an aspect.
std::vector<Sentence> made_sentences(std::int64_t count, std::uint64_t seed,
                                     Task task = Task::quadruplets);

// All categories that these sentences have.
std::vector<std::string> made_categories();

}  // namespace lockstep::dimabsa
