#include "recipes/dimabsa/model/texts.h"

#include <algorithm>

namespace lockstep::dimabsa {
namespace {

bool covers(const PieceSpan& span, std::int64_t piece) {
  return !span.is_null() && span.first <= piece && piece <= span.last;
}

bool is_left_out(const Question& question, std::int64_t piece) {
  if (covers(question.aspect, piece) || covers(question.opinion, piece)) return false;
  return std::any_of(question.left_out.begin(), question.left_out.end(),
                     [&](const PieceSpan& span) { return covers(span, piece); });
}

void add_phrase(std::vector<std::int64_t>& tokens, const PieceSpan& span,
                const EncodedQueries& queries, const EncodedSentence& sentence) {
  if (span.is_null()) {
    tokens.insert(tokens.end(), queries.null.begin(), queries.null.end());
    return;
  }
  const std::int64_t end = std::min(span.last + 1, span.first + longest_phrase);
  tokens.insert(tokens.end(), sentence.ids.begin() + span.first, sentence.ids.begin() + end);
}

}  // namespace

TextTokens make_text(const EncodedQueries& queries, const EncodedSentence& sentence,
                     const Question& question, std::int64_t longest) {
  TextTokens text;
  std::vector<std::int64_t>& tokens = text.tokens;
  tokens.push_back(queries.cls);
  for (const std::int64_t token : queries.tokens.at(static_cast<std::size_t>(question.pass)))
    if (token == aspect_place)
      add_phrase(tokens, question.aspect, queries, sentence);
    else if (token == opinion_place)
      add_phrase(tokens, question.opinion, queries, sentence);
    else
      tokens.push_back(token);
  tokens.push_back(queries.sep);
  text.answer = text.size();
  text.nulls = std::ssize(queries.null);
  tokens.insert(tokens.end(), queries.null.begin(), queries.null.end());
  for (std::int64_t place = 0; place < text.size(); ++place) text.positions.push_back(place);
  std::int64_t place = text.size();
  for (std::int64_t piece = 0; piece < sentence.size() && place < longest; ++piece, ++place) {
    if (is_left_out(question, piece)) continue;
    tokens.push_back(sentence.ids[static_cast<std::size_t>(piece)]);
    text.positions.push_back(place);
  }
  return text;
}

PieceSpan tokens_of(const TextTokens& text, const PieceSpan& span) {
  if (span.is_null()) return {text.answer, text.answer + text.nulls - 1};
  const std::int64_t pieces = text.answer + text.nulls;
  return {pieces + span.first, pieces + span.last};
}

Question question_of(Pass pass, const std::vector<EncodedTuple>& tuples, std::size_t tuple) {
  Question question{.pass = pass, .aspect = {}, .opinion = {}};
  if (pass == Pass::aspects || pass == Pass::opinions) return question;
  const EncodedTuple& own = tuples.at(tuple);
  if (pass != Pass::aspect_of) question.aspect = own.aspect;
  if (pass != Pass::opinion_of) question.opinion = own.opinion;
  if (pass == Pass::category)
    for (std::size_t i = 0; i < tuples.size(); ++i)
      if (i != tuple)
        question.left_out.insert(question.left_out.end(), {tuples[i].aspect, tuples[i].opinion});
  return question;
}

}  // namespace lockstep::dimabsa
