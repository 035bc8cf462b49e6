// Learns a WordPiece vocabulary. The most frequent pair of pieces is joined again and again
// (Sennrich et al. 2016, "Neural Machine Translation of Rare Words with Subword Units").
#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/text/utf8.h"
#include "recipes/dimabsa/tokens/bert_normalizer.h"
#include "recipes/dimabsa/tokens/tokenizer.h"

namespace lockstep::dimabsa {
namespace {

constexpr std::int64_t fewest_uses = 2;    // how often a pair must occur to become a piece
constexpr std::size_t longest_word = 100;  // WordPiece treats longer words as unknown

// Counts the words. The result is sorted by their characters.
std::map<std::u32string, std::int64_t> count_words(const std::vector<std::string>& texts,
                                                   bool lower_case) {
  const BertNormalizer normalizer{.strip_accents = lower_case, .lower_case = lower_case};
  std::unordered_map<std::u32string, std::int64_t> counts;
  std::u32string word;
  for (const std::string& text : texts) {
    const Characters characters = normalizer(characters_of(text));
    for (const Span& span : bert_words(characters)) {
      if (span.end - span.begin > longest_word) continue;
      word.clear();
      for (std::size_t i = span.begin; i < span.end; ++i) word += characters[i].value;
      ++counts[word];
    }
  }
  return {counts.begin(), counts.end()};
}

// A character inside a word is another piece than the same character at its beginning.
std::string character_piece(char32_t character, bool begins) {
  std::string piece = begins ? "" : "##";
  append_utf8(piece, character);
  return piece;
}

// The pieces of single characters, the most frequent first.
std::vector<std::string> alphabet_of(const std::map<std::u32string, std::int64_t>& words) {
  std::map<std::string, std::int64_t> counts;
  for (const auto& [word, count] : words)
    for (std::size_t i = 0; i < word.size(); ++i) counts[character_piece(word[i], i == 0)] += count;
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const auto& [piece, count] : counts) order.emplace_back(-count, piece);
  std::ranges::sort(order);
  std::vector<std::string> alphabet;
  for (auto& [count, piece] : order) alphabet.push_back(std::move(piece));
  return alphabet;
}

using Pair = std::pair<int, int>;  // two indices into the vocabulary

class Joiner {
 public:
  // The vocabulary must begin with the pieces of single characters. Words with other characters are
  // ignored.
  Joiner(const std::map<std::u32string, std::int64_t>& words, std::vector<std::string>& vocabulary);
  void join_until(std::size_t size);

 private:
  struct Word {
    std::vector<int> pieces;
    std::int64_t count;
  };
  // The largest candidate is joined first: the most frequent pair, then the one that is earlier in
  // the vocabulary.
  struct Candidate {
    std::int64_t count;
    Pair pair;
    bool operator<(const Candidate& other) const {
      return count != other.count ? count < other.count : pair > other.pair;
    }
  };

  void change(Pair pair, std::int64_t by, int word);
  void join(Pair pair, int joined);
  int place_of(const std::string& piece);

  std::vector<std::string>& vocabulary_;
  std::unordered_map<std::string, int> places_;
  std::vector<Word> words_;
  std::map<Pair, std::int64_t> counts_;
  // indices of words that contain the pair, or contained it before
  std::map<Pair, std::set<int>> words_of_;
  std::priority_queue<Candidate> candidates_;
};

Joiner::Joiner(const std::map<std::u32string, std::int64_t>& words,
               std::vector<std::string>& vocabulary)
    : vocabulary_(vocabulary) {
  for (std::size_t i = 0; i < vocabulary.size(); ++i)
    places_.emplace(vocabulary[i], static_cast<int>(i));
  for (const auto& [word, count] : words) {
    Word cut{{}, count};
    for (std::size_t i = 0; i < word.size(); ++i) {
      const auto place = places_.find(character_piece(word[i], i == 0));
      if (place == places_.end()) break;
      cut.pieces.push_back(place->second);
    }
    if (cut.pieces.size() != word.size()) continue;
    const int index = static_cast<int>(words_.size());
    words_.push_back(std::move(cut));
    const std::vector<int>& pieces = words_.back().pieces;
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      counts_[{pieces[i - 1], pieces[i]}] += count;
      words_of_[{pieces[i - 1], pieces[i]}].insert(index);
    }
  }
  for (const auto& [pair, count] : counts_) candidates_.push({count, pair});
}

void Joiner::change(Pair pair, std::int64_t by, int word) {
  std::int64_t& count = counts_[pair];
  count += by;
  if (by > 0) {
    words_of_[pair].insert(word);
    candidates_.push({count, pair});
  }
}

void Joiner::join(Pair pair, int joined) {
  const std::set<int> words = std::move(words_of_[pair]);
  words_of_.erase(pair);
  for (const int index : words) {
    Word& word = words_[static_cast<std::size_t>(index)];
    std::vector<int>& pieces = word.pieces;
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      if (Pair(pieces[i - 1], pieces[i]) != pair) continue;
      if (i >= 2) {
        change({pieces[i - 2], pieces[i - 1]}, -word.count, index);
        change({pieces[i - 2], joined}, word.count, index);
      }
      if (i + 1 < pieces.size()) {
        change({pieces[i], pieces[i + 1]}, -word.count, index);
        change({joined, pieces[i + 1]}, word.count, index);
      }
      pieces[i - 1] = joined;
      pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  counts_.erase(pair);
}

int Joiner::place_of(const std::string& piece) {
  const auto [entry, is_new] = places_.emplace(piece, static_cast<int>(vocabulary_.size()));
  if (is_new) vocabulary_.push_back(piece);
  return entry->second;
}

void Joiner::join_until(std::size_t size) {
  while (vocabulary_.size() < size && !candidates_.empty()) {
    const Candidate best = candidates_.top();
    candidates_.pop();
    const auto known = counts_.find(best.pair);
    if (known == counts_.end()) continue;
    if (known->second != best.count) {  // the count has fallen since the candidate was added
      if (known->second < best.count && known->second > 0)
        candidates_.push({known->second, best.pair});
      continue;
    }
    if (best.count < fewest_uses) return;
    const auto& [left, right] = best.pair;
    join(best.pair, place_of(vocabulary_[static_cast<std::size_t>(left)] +
                             vocabulary_[static_cast<std::size_t>(right)].substr(2)));
  }
}

}  // namespace

std::vector<std::string> learn_word_pieces(const std::vector<std::string>& texts, std::size_t size,
                                           bool lower_case) {
  std::vector<std::string> vocabulary = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  const auto words = count_words(texts, lower_case);
  if (words.empty())
    throw Error("there is no text to learn word pieces from", "give texts with at least one word");
  const std::size_t special = vocabulary.size();
  if (size < special + 2)
    throw Error(cat("a vocabulary of word pieces must have at least ", special + 2,
                    " entries, but is to have ", size));
  for (std::string& piece : alphabet_of(words)) {
    // Rare characters stay unknown, so that the vocabulary has space for words.
    if (vocabulary.size() >= special + (size - special + 1) / 2) break;
    vocabulary.push_back(std::move(piece));
  }
  Joiner(words, vocabulary).join_until(size);
  return vocabulary;
}

}  // namespace lockstep::dimabsa
