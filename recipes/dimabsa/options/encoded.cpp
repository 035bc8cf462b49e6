// Converts encoded sentences to JSON, and stores them in files.
#include "recipes/dimabsa/options/encoded.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"

namespace lockstep::dimabsa {
namespace {

using nlohmann::json;

constexpr const char* prepare_again =
    "remove the cache folder (.cache beside the runs) and start "
    "again";

json span_json(const PieceSpan& span) { return json::array({span.first, span.last}); }

PieceSpan span_from(const json& value, std::int64_t pieces) {
  const PieceSpan span{value.at(0).get<std::int64_t>(), value.at(1).get<std::int64_t>()};
  if (!span.is_null() && (span.last < span.first || span.last >= pieces))
    throw Error("a span lies outside of its text", prepare_again);
  return span;
}

json tuple_json(const Tuple& tuple, const EncodedTuple& encoded) {
  json value = {{"aspect", tuple.aspect},
                {"opinion", tuple.opinion},
                {"category", tuple.category},
                {"spans", {span_json(encoded.aspect), span_json(encoded.opinion)}},
                {"class", encoded.category}};
  if (tuple.va) value["va"] = {tuple.va->valence, tuple.va->arousal};
  return value;
}

void add_tuple(EncodedSentence& sentence, const json& value) {
  Tuple tuple{.aspect = value.at("aspect"),
              .opinion = value.at("opinion"),
              .category = value.at("category"),
              .va = {}};
  if (value.contains("va")) tuple.va = ValenceArousal{value["va"].at(0), value["va"].at(1)};
  sentence.sentence.tuples.push_back(std::move(tuple));
  const json& spans = value.at("spans");
  sentence.tuples.push_back({.aspect = span_from(spans.at(0), sentence.size()),
                             .opinion = span_from(spans.at(1), sentence.size()),
                             .category = value.at("class")});
}

}  // namespace

const char* name_of(Pass pass) {
  constexpr std::array<const char*, pass_count> names{"A", "O", "AO", "OA", "C", "V", "Ar"};
  return names.at(static_cast<std::size_t>(pass));
}

std::vector<Pass> passes_of(Task task) {
  if (task == Task::aspects) return {Pass::valence, Pass::arousal};
  std::vector<Pass> passes{Pass::aspects, Pass::opinions, Pass::opinion_of, Pass::aspect_of};
  if (task == Task::quadruplets) passes.push_back(Pass::category);
  passes.insert(passes.end(), {Pass::valence, Pass::arousal});
  return passes;
}

std::int64_t query_room(const EncodedQueries& queries) {
  std::int64_t room = 0;
  for (const std::vector<std::int64_t>& tokens : queries.tokens) {
    const auto places =
        std::count_if(tokens.begin(), tokens.end(), [](std::int64_t token) { return token < 0; });
    room = std::max(room, std::ssize(tokens) + places * (longest_phrase - 1));
  }
  return room + 2 + std::ssize(queries.null);
}

json to_json(const EncodedQueries& queries) {
  return {{"tokens", queries.tokens},
          {"null", queries.null},
          {"cls", queries.cls},
          {"sep", queries.sep},
          {"pad", queries.pad}};
}

EncodedQueries queries_from_json(const json& value) try {
  EncodedQueries queries;
  queries.tokens = value.at("tokens");
  queries.null = value.at("null").get<std::vector<std::int64_t>>();
  queries.cls = value.at("cls");
  queries.sep = value.at("sep");
  queries.pad = value.at("pad");
  return queries;
} catch (const json::exception& error) {
  throw Error(cat("the record of the queries is damaged: ", error.what()), prepare_again);
}

json to_json(const EncodedSentence& sentence) {
  json tuples = json::array();
  for (std::size_t i = 0; i < sentence.tuples.size(); ++i)
    tuples.push_back(tuple_json(sentence.sentence.tuples.at(i), sentence.tuples[i]));
  return {{"id", sentence.sentence.id},     {"text", sentence.sentence.text},
          {"line", sentence.sentence.line}, {"ids", sentence.ids},
          {"begins", sentence.begins},      {"ends", sentence.ends},
          {"tuples", std::move(tuples)},    {"cut", sentence.cut}};
}

EncodedSentence sentence_from_json(const json& value) try {
  EncodedSentence sentence;
  sentence.sentence.id = value.at("id");
  sentence.sentence.text = value.at("text");
  sentence.sentence.line = value.at("line");
  sentence.ids = value.at("ids").get<std::vector<std::int64_t>>();
  sentence.begins = value.at("begins").get<std::vector<std::int64_t>>();
  sentence.ends = value.at("ends").get<std::vector<std::int64_t>>();
  if (sentence.begins.size() != sentence.ids.size() || sentence.ends.size() != sentence.ids.size())
    throw Error("a sentence has other numbers of ids and offsets", prepare_again);
  for (const json& tuple : value.at("tuples")) add_tuple(sentence, tuple);
  sentence.cut = value.at("cut");
  return sentence;
} catch (const json::exception& error) {
  throw Error(cat("an encoded sentence is damaged: ", error.what()), prepare_again);
}

void write_sentences(const std::filesystem::path& file,
                     const std::vector<EncodedSentence>& sentences) {
  json all = json::array();
  for (const EncodedSentence& sentence : sentences) all.push_back(to_json(sentence));
  std::string bytes;
  json::to_cbor(all, bytes);
  write_file_atomic(file, bytes);
}

std::vector<EncodedSentence> read_encoded(const std::filesystem::path& file) try {
  const json all = parse_cbor(read_file(file, data_bytes));
  if (!all.is_array()) throw Error(cat(file.string(), " is damaged: it is no list"), prepare_again);
  std::vector<EncodedSentence> sentences;
  for (const json& value : all) sentences.push_back(sentence_from_json(value));
  return sentences;
} catch (const json::exception& error) {
  throw Error(cat(file.string(), " is damaged: ", error.what()), prepare_again);
}

}  // namespace lockstep::dimabsa
