#include "recipes/dimabsa/prepare/encode.h"

#include <algorithm>
#include <optional>

#include "core/base/text/text.h"
#include "recipes/dimabsa/prepare/whole_pieces.h"
#include "recipes/dimabsa/sentences/phrase.h"

namespace lockstep::dimabsa {
namespace {

constexpr std::string_view aspect_word = "ASPECT", opinion_word = "OPINION";

// The words of a query. ASPECT and OPINION stand for the phrases.
std::string_view words_of_query(Pass pass, Task task) {
  switch (pass) {
    case Pass::aspects:
      return "what aspects ?";
    case Pass::opinions:
      return "what opinions ?";
    case Pass::opinion_of:
      return "what opinion given the aspect ASPECT ?";
    case Pass::aspect_of:
      return "what aspect does the opinion OPINION describe ?";
    case Pass::category:
      return "what category given the aspect ASPECT and the opinion OPINION ?";
    case Pass::valence:
      return task == Task::aspects
                 ? "what valence given the aspect ASPECT ?"
                 : "what valence given the aspect ASPECT and the opinion OPINION ?";
    case Pass::arousal:
      return task == Task::aspects
                 ? "what arousal given the aspect ASPECT ?"
                 : "what arousal given the aspect ASPECT and the opinion OPINION ?";
  }
  return "";
}

void add_words(const Tokenizer& tokenizer, std::string_view words,
               std::vector<std::int64_t>& tokens) {
  for (const Piece& piece : tokenizer.encode(trim(words))) tokens.push_back(piece.id);
}

std::vector<std::int64_t> query_tokens(const Tokenizer& tokenizer, std::string_view words) {
  std::vector<std::int64_t> tokens;
  while (!words.empty()) {
    const std::size_t aspect = words.find(aspect_word), opinion = words.find(opinion_word);
    const std::size_t place = std::min({aspect, opinion, words.size()});
    add_words(tokenizer, words.substr(0, place), tokens);
    if (place == words.size()) break;
    tokens.push_back(place == aspect ? aspect_place : opinion_place);
    words.remove_prefix(place + (place == aspect ? aspect_word.size() : opinion_word.size()));
  }
  return tokens;
}

}  // namespace

EncodedQueries make_queries(const Tokenizer& tokenizer, Task task) {
  EncodedQueries queries{.tokens = {},
                         .null = {},
                         .cls = tokenizer.cls(),
                         .sep = tokenizer.sep(),
                         .pad = tokenizer.pad()};
  for (const Pass pass : passes_of(task))
    queries.tokens[static_cast<std::size_t>(pass)] =
        query_tokens(tokenizer, words_of_query(pass, task));
  add_words(tokenizer, "null", queries.null);
  return queries;
}

std::vector<std::string> words_of(const EncodeNotes& notes, const std::string& where,
                                  std::int64_t cut) {
  std::vector<std::string> lines;
  if (notes.cut > 0)
    lines.push_back(
        cat("warning: ", where, ": ", notes.cut, notes.cut == 1 ? " text is" : " texts are",
            " longer than data.cut=", cut, " pieces; the rest is not read",
            notes.beyond_cut == 0
                ? ""
                : cat(", and ", notes.beyond_cut, " of its aspects and opinions count as NULL")));
  if (notes.without_pieces > 0)
    lines.push_back(cat("warning: ", where, ": ", notes.without_pieces,
                        notes.without_pieces == 1 ? " aspect or opinion counts as NULL: it is"
                                                  : " aspects and opinions count as NULL: they are",
                        " nothing but characters that the tokenizer drops"));
  constexpr std::int64_t few = 10;
  if (notes.unknown * few > notes.pieces)
    lines.push_back(cat("warning: ", where, ": the vocabulary does not know ",
                        100 * notes.unknown / notes.pieces,
                        " % of the pieces; is the model of this language?"));
  return lines;
}

PieceSpan SentenceEncoder::span_of(const EncodedSentence& encoded, const std::string& phrase,
                                   std::int64_t read, EncodeNotes& notes) {
  if (phrase == null_phrase || phrase.empty()) return {};
  const std::optional<ByteRange> bytes = find_phrase(encoded.sentence.text, phrase);
  if (!bytes) return {};
  const auto begin = static_cast<std::int64_t>(bytes->begin);
  const auto end = static_cast<std::int64_t>(bytes->end);
  const auto first = std::upper_bound(encoded.ends.begin(), encoded.ends.end(), begin);
  const auto behind = std::lower_bound(encoded.begins.begin(), encoded.begins.end(), end);
  const PieceSpan span{first - encoded.ends.begin(), behind - encoded.begins.begin() - 1};
  if (span.first <= span.last && end <= read) return span;
  ++(end > read ? notes.beyond_cut : notes.without_pieces);
  return {};
}

std::int64_t SentenceEncoder::class_of(const std::string& category) const {
  const auto found = std::find(categories_.begin(), categories_.end(), category);
  return found == categories_.end() ? -1 : found - categories_.begin();
}

EncodedSentence SentenceEncoder::encode(const Sentence& sentence, EncodeNotes& notes) const {
  EncodedSentence encoded{.sentence = sentence, .ids = {}, .begins = {}, .ends = {}, .tuples = {}};
  std::vector<Piece> pieces = whole_pieces(tokenizer_, sentence.text);
  auto read = std::ssize(sentence.text);
  if (std::ssize(pieces) > cut_) {
    ++notes.cut;
    encoded.cut = true;
    const auto kept = static_cast<std::size_t>(cut_);
    // Pieces of one character have the same bytes, so the next piece may begin before the last kept
    // one ends.
    read = std::max(pieces[kept].begin, pieces[kept - 1].end);
    pieces.resize(kept);
  }
  for (const Piece& piece : pieces) {
    encoded.ids.push_back(piece.id);
    encoded.begins.push_back(piece.begin);
    encoded.ends.push_back(piece.end);
    notes.unknown += piece.id == tokenizer_.unknown();
  }
  notes.pieces += std::ssize(pieces);
  for (const Tuple& tuple : sentence.tuples)
    encoded.tuples.push_back({.aspect = span_of(encoded, tuple.aspect, read, notes),
                              .opinion = span_of(encoded, tuple.opinion, read, notes),
                              .category = class_of(tuple.category)});
  return encoded;
}

}  // namespace lockstep::dimabsa
