// Sentences and queries as token ids, which preparation writes and the worker reads.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

// The answer that a text asks for. A sentence's rows have this order.
enum class Pass {
  aspects,     // A: all aspects
  opinions,    // O: all opinions
  opinion_of,  // AO: the opinions on an aspect
  aspect_of,   // OA: the aspects of an opinion
  category,    // C: the category of a tuple
  valence,     // V: the valence of a tuple
  arousal,     // Ar: the arousal of a tuple
};
inline constexpr std::size_t pass_count = 7;
// "A", "O", "AO", "OA", "C", "V", "Ar": also the names of the loss's terms.
const char* name_of(Pass pass);
// The passes of a task, in the order above: 2, 6 or 7 of them.
std::vector<Pass> passes_of(Task task);
// The number of passes that mark spans of the text; they come first.
inline constexpr std::size_t span_passes = 4;
inline bool marks_spans(Pass pass) { return static_cast<std::size_t>(pass) < span_passes; }

// Pieces [first, last] of a text. Below 0 it is NULL, for which the token "null" before the text
// stands.
struct PieceSpan {
  std::int64_t first = -1, last = -1;
  bool is_null() const { return first < 0; }
  std::int64_t length() const { return is_null() ? 1 : last - first + 1; }
  friend bool operator==(const PieceSpan&, const PieceSpan&) = default;
  friend auto operator<=>(const PieceSpan&, const PieceSpan&) = default;
};

// Spans and category of the tuple at the same place of Sentence::tuples.
struct EncodedTuple {
  PieceSpan aspect, opinion;
  std::int64_t category = -1;  // place in the list of categories; -1: none, or unknown
};

struct EncodedSentence {
  Sentence sentence;
  std::vector<std::int64_t> ids;  // of the text's pieces, cut to data.cut
  // Bytes [begin, end) of the text for each piece. A piece ends behind the marks that follow it and
  // are in no piece.
  std::vector<std::int64_t> begins, ends;
  std::vector<EncodedTuple> tuples;
  bool cut = false;  // whether the text has more pieces than these

  std::int64_t size() const { return static_cast<std::int64_t>(ids.size()); }
};

// These numbers stand for the phrases within a query's tokens, which lack [CLS] and [SEP].
inline constexpr std::int64_t aspect_place = -1, opinion_place = -2;
struct EncodedQueries {
  std::array<std::vector<std::int64_t>, pass_count> tokens;  // by Pass
  std::vector<std::int64_t> null;                            // the token "null", or its pieces
  std::int64_t cls = 0, sep = 0, pad = 0;
};

// A query names at most this many pieces of a phrase; the rest is left out.
inline constexpr std::int64_t longest_phrase = 64;
// The number of tokens that the longest query takes besides the text, with [CLS], [SEP] and "null".
std::int64_t query_room(const EncodedQueries& queries);

nlohmann::json to_json(const EncodedQueries& queries);
EncodedQueries queries_from_json(const nlohmann::json& json);  // throws Error
// An item's text has this key beside its sentence: the file for the item's predictions.
inline constexpr const char* file_key = "file";
nlohmann::json to_json(const EncodedSentence& sentence);
EncodedSentence sentence_from_json(const nlohmann::json& json);  // throws Error
// The file is CBOR. Throw Error.
void write_sentences(const std::filesystem::path& file,
                     const std::vector<EncodedSentence>& sentences);
std::vector<EncodedSentence> read_encoded(const std::filesystem::path& file);

}  // namespace lockstep::dimabsa
