// Sentences and queries as token ids. DimabsaOptions::prepare writes the sentences to a file, which
// the worker reads.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

// The kind of question that a text asks. In training, a sentence has a row for each kind, in this
// order.
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
// Returns "A", "O", "AO", "OA", "C", "V" or "Ar". These are also the names of the loss terms.
const char* name_of(Pass pass);
// Returns the passes of a task, in the order above. Tasks 1, 2 and 3 have 2, 6 and 7 passes.
std::vector<Pass> passes_of(Task task);
// The number of passes that mark spans of the text. These are the first passes of the enum.
inline constexpr std::size_t span_passes = 4;
inline bool marks_spans(Pass pass) { return static_cast<std::size_t>(pass) < span_passes; }

// Pieces [first, last] of a text. If `first` is below 0, the span is NULL: the text does not name
// the phrase. The word "null", which is put before the text, stands for this span.
struct PieceSpan {
  std::int64_t first = -1, last = -1;
  bool is_null() const { return first < 0; }
  std::int64_t length() const { return is_null() ? 1 : last - first + 1; }
  friend bool operator==(const PieceSpan&, const PieceSpan&) = default;
  friend auto operator<=>(const PieceSpan&, const PieceSpan&) = default;
};

// The spans and the category of a tuple. The elements of EncodedSentence::tuples are in the order
// of Sentence::tuples.
struct EncodedTuple {
  PieceSpan aspect, opinion;
  std::int64_t category = -1;  // index in the list of categories; -1 if none or unknown
};

struct EncodedSentence {
  Sentence sentence;
  std::vector<std::int64_t> ids;  // ids of the first data.cut pieces of the text
  // Bytes [begin, end) of the text for each piece. A piece also includes combining marks that
  // follow it, if they are in no other piece.
  std::vector<std::int64_t> begins, ends;
  std::vector<EncodedTuple> tuples;
  bool cut = false;  // whether the text has more pieces than data.cut

  std::int64_t size() const { return static_cast<std::int64_t>(ids.size()); }
};

// Placeholders for the aspect and the opinion in EncodedQueries::tokens.
inline constexpr std::int64_t aspect_place = -1, opinion_place = -2;
struct EncodedQueries {
  std::array<std::vector<std::int64_t>, pass_count> tokens;  // by Pass, without [CLS] and [SEP]
  std::vector<std::int64_t> null;                            // the tokens of "null"
  std::int64_t cls = 0, sep = 0, pad = 0;
};

// The largest number of pieces of a phrase in a query. If a phrase has more pieces, its last ones
// are left out of the query.
inline constexpr std::int64_t longest_phrase = 64;
// Returns the largest number of tokens before the pieces of a text: [CLS], the query, [SEP] and
// "null".
std::int64_t query_room(const EncodedQueries& queries);

nlohmann::json to_json(const EncodedQueries& queries);
EncodedQueries queries_from_json(const nlohmann::json& json);  // throws Error if it is damaged
// A key of PredictItem::text, in addition to the keys of to_json(EncodedSentence). Its value is the
// file for the item's predictions.
inline constexpr const char* file_key = "file";
nlohmann::json to_json(const EncodedSentence& sentence);
EncodedSentence sentence_from_json(const nlohmann::json& json);  // throws Error if it is damaged
// The file is in CBOR format. write_sentences throws Error if the file cannot be written.
// read_encoded throws Error if the file cannot be read or is damaged.
void write_sentences(const std::filesystem::path& file,
                     const std::vector<EncodedSentence>& sentences);
std::vector<EncodedSentence> read_encoded(const std::filesystem::path& file);

}  // namespace lockstep::dimabsa
