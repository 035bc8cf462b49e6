// Composes synthetic sentences from clauses and records the places of their phrases.
#include "recipes/dimabsa/sentences/made_sentences.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "core/base/philox.h"
#include "core/base/text/text.h"
#include "recipes/dimabsa/sentences/made_words.h"
#include "recipes/dimabsa/sentences/scores/va.h"

namespace lockstep::dimabsa {
namespace {

struct MadeOpinion {
  std::string words;
  ValenceArousal va;
  bool about_money = false;
};

ValenceArousal rounded(const ValenceArousal& va) {
  const ValenceArousal within = clamped(va);
  return {std::round(within.valence * 100) / 100, std::round(within.arousal * 100) / 100};
}

bool has_price(const MadeNoun& noun) {
  return noun.is_ordered || std::string_view(noun.entity) == "RESTAURANT";
}

// The place of a phrase in the text; nothing for NULL.
struct Span {
  std::size_t begin = 0, length = 0;
};

class SentenceMaker {
 public:
  SentenceMaker(std::uint64_t seed, std::int64_t index)
      : random_(seed, RandomStream::sample, static_cast<std::uint64_t>(index), 0) {}

  Sentence make();

 private:
  struct Found {
    Tuple tuple;
    std::optional<Span> aspect, opinion;
  };

  bool chance(double share) { return random_.uniform() < share; }
  template <class List>
  const auto& pick(const List& list) {
    return list[random_.below(list.size())];
  }
  // Picks a fitting word that is not yet in the sentence.
  template <class List, class Fits>
  const auto& pick_new(const List& list, const Fits& fits) {
    while (true) {
      const auto& one = pick(list);
      if (fits(one) && used_.insert(one.word).second) return one;
    }
  }
  const MadeNoun& noun() {
    return pick_new(made_nouns(), [](const MadeNoun&) { return true; });
  }

  int number_of_tuples() {
    // cumulative shares of sentences with 0, 1, … tuples
    constexpr double shares[] = {0.08, 0.58, 0.82, 0.93, 0.98};
    const double drawn = random_.uniform();
    return static_cast<int>(std::upper_bound(std::begin(shares), std::end(shares), drawn) -
                            std::begin(shares));
  }

  template <class Add>
  void clause(const Add& add) {
    if (!text_.empty()) {
      constexpr std::array<const char*, 4> joins{", ", " and ", " but ", ", and "};
      text_ += pick(joins);
    }
    add();
  }
  Span put(const std::string& words) {
    const Span span{text_.size(), words.size()};
    text_ += words;
    return span;
  }
  std::string phrase_of(const std::optional<Span>& span) const {
    return span ? text_.substr(span->begin, span->length) : null_phrase;
  }

  MadeOpinion opinion(bool may_be_money) {
    const MadeAdjective& adjective = pick_new(made_adjectives(), [&](const MadeAdjective& one) {
      return may_be_money || !one.about_money;
    });
    MadeOpinion made{adjective.word, adjective.va, adjective.about_money};
    if (chance(0.4)) {
      const MadeAdverb& adverb = pick(made_adverbs());
      made.words = cat(adverb.word, " ", adjective.word);
      made.va.valence = 5 + (made.va.valence - 5) * adverb.valence_factor;
      made.va.arousal += adverb.arousal_added;
    }
    made.va = rounded(made.va);
    return made;
  }

  static std::string category_of(const MadeNoun& noun, const MadeOpinion& opinion) {
    return cat(noun.entity, "#", opinion.about_money ? "PRICES" : noun.attribute);
  }
  void found(const std::string& category, const ValenceArousal& va, std::optional<Span> aspect,
             std::optional<Span> opinion) {
    found_.push_back({{.category = category, .va = va}, aspect, opinion});
  }

  // Adds one clause with at most `most` tuples.
  void add_tuples(int most) {
    const double kind = random_.uniform();
    if (kind < 0.12 && !has_implied_aspect_)
      implied_aspect();
    else if (kind < 0.24)
      implied_opinion();
    else if (kind < 0.38 && most >= 2)
      two_opinions();
    else if (kind < 0.52 && most >= 2)
      two_aspects();
    else
      plain();
  }

  void plain() {
    const MadeNoun& about = noun();
    const MadeOpinion said = opinion(has_price(about));
    text_ += "the ";
    const Span aspect = put(about.word);
    text_ += chance(0.3) ? " seemed " : " was ";
    found(category_of(about, said), said.va, aspect, put(said.words));
  }

  void implied_aspect() {
    has_implied_aspect_ = true;
    const MadeOpinion said = opinion(true);
    text_ += chance(0.5) ? "it was " : "everything felt ";
    found(said.about_money ? "RESTAURANT#PRICES" : "RESTAURANT#GENERAL", said.va, std::nullopt,
          put(said.words));
  }

  void implied_opinion() {
    const MadeNoun& about =
        pick_new(made_nouns(), [](const MadeNoun& one) { return one.is_ordered; });
    const MadeImplied& said = pick(made_implied());
    text_ += said.before;
    found(cat(about.entity, "#", about.attribute), said.va, put(about.word), std::nullopt);
    text_ += said.after;
  }

  void two_opinions() {
    const MadeNoun& about = noun();
    const MadeOpinion first = opinion(has_price(about)), second = opinion(has_price(about));
    text_ += "the ";
    const Span aspect = put(about.word);
    text_ += " was ";
    found(category_of(about, first), first.va, aspect, put(first.words));
    text_ += " and ";
    found(category_of(about, second), second.va, aspect, put(second.words));
  }

  void two_aspects() {
    const MadeNoun& first = noun();
    const MadeNoun& second = noun();
    const MadeOpinion said = opinion(has_price(first) && has_price(second));
    text_ += "the ";
    const Span one = put(first.word);
    text_ += " and the ";
    const Span other = put(second.word);
    text_ += " were ";
    const Span words = put(said.words);
    found(category_of(first, said), said.va, one, words);
    found(category_of(second, said), said.va, other, words);
  }

  Random random_;
  std::string text_;
  std::vector<Found> found_;
  std::set<std::string> used_;
  bool has_implied_aspect_ = false;
};

Sentence SentenceMaker::make() {
  const int tuples = number_of_tuples();
  if (tuples == 0 || chance(0.15)) clause([&] { text_ += pick(made_fillers()); });
  while (static_cast<int>(found_.size()) < tuples)
    clause([&] { add_tuples(tuples - static_cast<int>(found_.size())); });
  text_ += chance(0.2) ? " !" : ".";
  if (chance(0.9)) text_[0] = static_cast<char>(text_[0] - 'a' + 'A');
  Sentence sentence{.text = text_};
  for (Found& found : found_) {
    found.tuple.aspect = phrase_of(found.aspect);
    found.tuple.opinion = phrase_of(found.opinion);
    sentence.tuples.push_back(found.tuple);
  }
  return sentence;
}

void reduce_to(Task task, std::vector<Tuple>& tuples) {
  std::set<std::string> aspects;
  std::vector<Tuple> kept;
  for (Tuple& tuple : tuples) {
    if (task != Task::quadruplets) tuple.category.clear();
    if (task == Task::aspects) {
      tuple.opinion.clear();
      if (!aspects.insert(tuple.aspect).second) continue;
    }
    kept.push_back(std::move(tuple));
  }
  tuples = std::move(kept);
}

}  // namespace

std::vector<Sentence> made_sentences(std::int64_t count, std::uint64_t seed, Task task) {
  std::vector<Sentence> sentences;
  for (std::int64_t i = 0; i < count; ++i) {
    Sentence sentence = SentenceMaker(seed, i).make();
    sentence.id = cat("made_", i + 1);
    sentence.line = i + 1;
    reduce_to(task, sentence.tuples);
    sentences.push_back(std::move(sentence));
  }
  return sentences;
}

std::vector<std::string> made_categories() {
  std::set<std::string> categories;
  for (const MadeNoun& noun : made_nouns()) {
    categories.insert(cat(noun.entity, "#", noun.attribute));
    if (has_price(noun)) categories.insert(cat(noun.entity, "#PRICES"));
  }
  return {categories.begin(), categories.end()};
}

}  // namespace lockstep::dimabsa
