// Tables of words for synthetic sentences.
#include "recipes/dimabsa/sentences/made_words.h"

namespace lockstep::dimabsa {
namespace {

constexpr MadeNoun nouns[] = {
    {"soup", "FOOD", "QUALITY", true},
    {"bread", "FOOD", "QUALITY", true},
    {"pasta", "FOOD", "QUALITY", true},
    {"steak", "FOOD", "QUALITY", true},
    {"salad", "FOOD", "QUALITY", true},
    {"fried rice", "FOOD", "QUALITY", true},
    {"pork belly", "FOOD", "QUALITY", true},
    {"dessert", "FOOD", "QUALITY", true},
    {"pizza", "FOOD", "QUALITY", true},
    {"sushi", "FOOD", "QUALITY", true},
    {"noodles", "FOOD", "QUALITY", true},
    {"menu", "FOOD", "STYLE_OPTIONS", true},
    {"portions", "FOOD", "STYLE_OPTIONS", true},
    {"specials", "FOOD", "STYLE_OPTIONS", true},
    {"coffee", "DRINKS", "QUALITY", true},
    {"beer", "DRINKS", "QUALITY", true},
    {"green tea", "DRINKS", "QUALITY", true},
    {"cocktails", "DRINKS", "QUALITY", true},
    {"wine list", "DRINKS", "STYLE_OPTIONS", true},
    {"waiter", "SERVICE", "GENERAL"},
    {"waitress", "SERVICE", "GENERAL"},
    {"service", "SERVICE", "GENERAL"},
    {"staff", "SERVICE", "GENERAL"},
    {"owner", "SERVICE", "GENERAL"},
    {"delivery", "SERVICE", "GENERAL"},
    {"music", "AMBIENCE", "GENERAL"},
    {"dining room", "AMBIENCE", "GENERAL"},
    {"decor", "AMBIENCE", "GENERAL"},
    {"garden", "AMBIENCE", "GENERAL"},
    {"lighting", "AMBIENCE", "GENERAL"},
    {"view", "LOCATION", "GENERAL"},
    {"neighborhood", "LOCATION", "GENERAL"},
    {"terrace", "LOCATION", "GENERAL"},
    {"place", "RESTAURANT", "GENERAL"},
    {"restaurant", "RESTAURANT", "GENERAL"},
    {"brunch", "RESTAURANT", "GENERAL"},
};

constexpr MadeAdjective adjectives[] = {
    {"good", {7.0, 5.5}},
    {"great", {7.8, 6.8}},
    {"amazing", {8.3, 7.8}},
    {"excellent", {8.1, 7.0}},
    {"nice", {6.8, 5.0}},
    {"lovely", {7.5, 6.0}},
    {"wonderful", {8.0, 7.2}},
    {"delightful", {7.7, 6.5}},
    {"pleasant", {6.9, 4.6}},
    {"decent", {6.0, 4.4}},
    {"fine", {5.9, 4.2}},
    {"charming", {7.3, 5.6}},
    {"fantastic", {8.2, 7.6}},
    {"perfect", {8.4, 7.3}},
    {"okay", {5.3, 4.0}},
    {"average", {4.8, 4.1}},
    {"ordinary", {4.6, 4.0}},
    {"plain", {4.3, 4.0}},
    {"boring", {3.3, 4.3}},
    {"dull", {3.2, 4.2}},
    {"bland", {3.1, 4.5}},
    {"poor", {2.8, 5.2}},
    {"bad", {2.6, 5.6}},
    {"sad", {2.7, 4.8}},
    {"disappointing", {2.4, 5.9}},
    {"awful", {1.8, 7.0}},
    {"terrible", {1.6, 7.2}},
    {"horrible", {1.5, 7.5}},
    {"disgusting", {1.4, 7.9}},
    {"mediocre", {3.9, 4.4}},
    {"cheap", {6.4, 5.2}, true},
    {"affordable", {6.9, 5.0}, true},
    {"overpriced", {2.3, 6.4}, true},
    {"expensive", {3.2, 5.8}, true},
};

constexpr MadeAdverb adverbs[] = {
    {"very", 1.3, 1}, {"really", 1.3, 1}, {"a bit", 0.5, -1}, {"fairly", 0.5, -1}, {"not", -0.6, 0},
};

constexpr MadeImplied implied[] = {
    {"we waited an hour for the ", "", {2.6, 6.4}},
    {"i would order the ", " again", {7.4, 6.0}},
    {"they forgot the ", "", {2.9, 6.1}},
    {"we keep coming back for the ", "", {7.8, 6.6}},
    {"nobody finished the ", "", {3.0, 5.3}},
};

constexpr const char* fillers[] = {
    "we came on a monday",    "we came with friends",    "my sister lives nearby",
    "it was our first visit", "we sat by the window",    "i went there last week",
    "it was raining outside", "we had a table for four",
};

}  // namespace

std::span<const MadeNoun> made_nouns() { return nouns; }
std::span<const MadeAdjective> made_adjectives() { return adjectives; }
std::span<const MadeAdverb> made_adverbs() { return adverbs; }
std::span<const MadeImplied> made_implied() { return implied; }
std::span<const char* const> made_fillers() { return fillers; }

}  // namespace lockstep::dimabsa
