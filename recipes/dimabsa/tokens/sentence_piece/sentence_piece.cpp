// Wraps the sentencepiece library. No other file of the recipe uses it.
#include "recipes/dimabsa/tokens/sentence_piece/sentence_piece.h"

#include <sentencepiece_processor.h>

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/text/utf8.h"

namespace lockstep::dimabsa {
namespace {

constexpr char32_t space_mark_character = 0x2581;  // replaces a space in pieces
constexpr std::string_view space_mark = "\xe2\x96\x81";

// A text between added tokens, as UTF-8. It is encoded by itself.
struct Section {
  std::string text;
  // the byte offset of each character in `text`, and the end of the text
  std::vector<std::uint32_t> starts;

  Section(const Characters& all, Span span) {
    for (std::size_t i = span.begin; i < span.end; ++i) {
      starts.push_back(static_cast<std::uint32_t>(text.size()));
      append_utf8(text, all[i].value);
    }
    starts.push_back(static_cast<std::uint32_t>(text.size()));
  }
  // The first character that begins at or after this byte.
  std::size_t character_at(std::uint32_t byte) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(starts, byte) - starts.begin());
  }
};

// The number of characters in a normalized text, without the marks that replace spaces.
std::size_t visible_characters(std::string_view text) {
  std::size_t count = 0;
  while (!text.empty()) {
    const bool mark = text.starts_with(space_mark);
    text.remove_prefix(mark ? space_mark.size() : next_code_point(text).length);
    count += mark ? 0 : 1;
  }
  return count;
}

class SentencePiece : public Tokenizer {
 public:
  explicit SentencePiece(const SentencePieceSettings& settings);

  std::vector<Piece> encode(std::string_view text) const override;
  std::int64_t vocabulary() const override { return vocabulary_; }
  std::int64_t cls() const override { return cls_; }
  std::int64_t sep() const override { return sep_; }
  std::int64_t pad() const override { return pad_; }
  std::int64_t unknown() const override { return unknown_; }

 private:
  // Sets and returns the ids of the special tokens.
  std::vector<AddedToken> number(const SentencePieceSettings& settings);
  std::int64_t id_of(const std::string& name, const std::string& where) const;
  std::size_t normalized_length(std::string_view text) const;
  bool leaves_nothing(char32_t character) const;
  std::size_t reach(std::string_view piece, std::string_view source, std::size_t used) const;
  Span narrowed(Span place, std::size_t least, const Characters& all) const;
  std::int64_t id_of_piece(int piece) const;
  void add_section(const Characters& all, Span span, std::vector<Piece>& out) const;
  void add_words(const Characters& text, std::vector<Piece>& out) const;

  sentencepiece::SentencePieceProcessor processor_;
  SentencePieceIds ids_;
  std::int64_t vocabulary_ = 0, cls_ = 0, sep_ = 0, pad_ = 0, unknown_ = 0;
  Normalizer normalizer_;
  WordRules words_;
  std::unique_ptr<AddedTokens> original_, normalized_;
};

SentencePiece::SentencePiece(const SentencePieceSettings& settings)
    : ids_(settings.ids), normalizer_(settings.normalizer), words_(settings.words) {
  const auto status = processor_.LoadFromSerializedProto(settings.model);
  if (!status.ok())
    throw Error(cat(settings.where, " is not a sentencepiece model: ", status.ToString()),
                "take the file that came with the weights");
  std::vector<AddedToken> added = number(settings);
  for (const AddedToken& token : settings.added) {
    const auto same = std::ranges::find(added, token.text, &AddedToken::text);
    if (same == added.end())
      added.push_back(token);
    else
      *same = token;
    vocabulary_ = std::max(vocabulary_, token.id + 1);
  }
  if (!normalizer_)
    for (AddedToken& token : added) token.normalized = false;
  const Normalizer normalize = normalizer_ ? normalizer_ : read_normalizer(nullptr, "");
  original_ = std::make_unique<AddedTokens>(added, false, normalize);
  normalized_ = std::make_unique<AddedTokens>(added, true, normalize);
}

std::vector<AddedToken> SentencePiece::number(const SentencePieceSettings& settings) {
  const std::int64_t pieces = processor_.GetPieceSize();
  if (ids_ == SentencePieceIds::xlm_roberta) {
    if (processor_.unk_id() != 0 || pieces < 4)
      throw Error(
          cat(settings.where, " must have <unk>, <s>, </s> as its first pieces, but has not"),
          "XLM-R's sentencepiece.bpe.model has; a model of another family needs its own file");
    cls_ = 0, pad_ = 1, sep_ = 2, unknown_ = 3;
    vocabulary_ = pieces + 2;
    return {{"<s>", 0}, {"<pad>", 1}, {"</s>", 2}, {"<unk>", 3}, {"<mask>", pieces + 1}};
  }
  cls_ = id_of(settings.cls, settings.where);
  sep_ = id_of(settings.sep, settings.where);
  pad_ = id_of(settings.pad, settings.where);
  unknown_ = processor_.unk_id();
  const int known = processor_.PieceToId(settings.mask);
  const std::int64_t mask = processor_.IsUnknown(known) ? pieces : known;
  vocabulary_ = std::max(pieces, mask + 1);
  return {{settings.cls, cls_},
          {settings.sep, sep_},
          {settings.pad, pad_},
          {processor_.IdToPiece(processor_.unk_id()), unknown_},
          {settings.mask, mask}};
}

std::int64_t SentencePiece::id_of(const std::string& name, const std::string& where) const {
  const int id = processor_.PieceToId(name);
  if (processor_.IsUnknown(id))
    throw Error(cat(where, " has no ", printable(name)),
                "take the file that came with the weights");
  return id;
}

std::size_t SentencePiece::normalized_length(std::string_view text) const {
  const auto encoded =
      processor_.EncodeAsImmutableProto(absl::string_view(text.data(), text.size()));
  std::size_t length = 0;
  for (const auto& piece : encoded.pieces()) length += visible_characters(piece.piece());
  return length;
}

// Whether the model's normalizer drops the character or turns it into a space.
bool SentencePiece::leaves_nothing(char32_t character) const {
  if (character == ' ') return true;
  const bool may_go = is_white(character) || is_control(character) ||
                      character == replacement_character || character == space_mark_character;
  if (!may_go) return false;
  std::string text;
  append_utf8(text, character);
  return normalized_length(text) == 0;
}

// `source` is the text to which the library attributes the piece. The normalizer may turn the next
// character after it into several characters. Returns how many of these belong to the piece. used:
// the result for the piece before.
std::size_t SentencePiece::reach(std::string_view piece, std::string_view source,
                                 std::size_t used) const {
  const auto without = [](std::string_view text, std::string_view prefix) {
    return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
  };
  if (used == 0 && without(source, " ") == without(piece, space_mark)) return 0;
  const std::size_t taken = used + visible_characters(piece), own = normalized_length(source);
  return taken > own ? taken - own : 0;
}

// Removes characters without a normalized form from both ends of a place, down to `least`
// characters.
Span SentencePiece::narrowed(Span place, std::size_t least, const Characters& all) const {
  const auto is_nothing = [&](std::size_t i) { return leaves_nothing(all[i].value); };
  while (place.end - place.begin > least && is_nothing(place.begin)) ++place.begin;
  while (place.end - place.begin > least && is_nothing(place.end - 1)) --place.end;
  return place;
}

// The library reports where the source of a piece's first character begins. It takes the begin of
// the next piece as the end. If one character became several that lie in two pieces, that end is
// too early.
void SentencePiece::add_section(const Characters& all, Span span, std::vector<Piece>& out) const {
  const Section section(all, span);
  const std::string_view text = section.text;
  const auto encoded =
      processor_.EncodeAsImmutableProto(absl::string_view(text.data(), text.size()));
  std::size_t used = 0;
  const std::size_t first = out.size();
  for (const auto& piece : encoded.pieces()) {
    const std::string_view normal = piece.piece();
    Span place{span.begin + section.character_at(piece.begin()),
               span.begin + section.character_at(piece.end())};
    if (!normalizer_)
      used = reach(normal, text.substr(piece.begin(), piece.end() - piece.begin()), used);
    if (used > 0 && place.end < span.end) ++place.end;
    place = narrowed(place, visible_characters(normal) > 0 ? 1 : 0, all);
    if (place.begin == place.end) place.end < span.end ? ++place.end : --place.begin;
    out.push_back({id_of_piece(static_cast<int>(piece.id())), all[place.begin].begin,
                   all[place.end - 1].end, normal.starts_with(space_mark) || out.size() == first});
  }
}

std::int64_t SentencePiece::id_of_piece(int piece) const {
  if (ids_ == SentencePieceIds::of_model) return piece;
  return processor_.IsUnknown(piece) ? unknown_ : std::int64_t{piece} + 1;
}

// Adds the pieces of a normalized text. Spaces become the space mark, and a word without a mark
// gets one if the settings ask for it. Each section that begins with a mark is encoded by itself.
void SentencePiece::add_words(const Characters& text, std::vector<Piece>& out) const {
  for (const Span& span : words_(text)) {
    Characters word = characters_within(text, span);
    if (words_.has_marks)
      for (Character& c : word)
        if (c.value == U' ') c.value = space_mark_character;
    const bool marked = words_.mark == SpaceMark::always ||
                        (words_.mark == SpaceMark::first && word.front().begin == 0);
    if (marked && word.front().value != space_mark_character)
      word.insert(word.begin(), {space_mark_character, word.front().begin, word.front().end});
    for (std::size_t begin = 0; begin < word.size();) {
      std::size_t end = begin + 1;
      while (end < word.size() && word[end].value != space_mark_character) ++end;
      add_section(word, {begin, end}, out);
      begin = end;
    }
  }
}

std::vector<Piece> SentencePiece::encode(std::string_view text) const {
  std::vector<Piece> out;
  const auto token_of = [&out](const Characters& all) {
    return [&out, &all](std::int64_t id, Span span) {
      out.push_back({id, all[span.begin].begin, all[span.end - 1].end, true});
    };
  };
  const Characters all = characters_of(text);
  original_->split(
      all,
      [&](Span span) {
        if (!normalizer_) return add_section(all, span, out);
        const Characters normal = normalizer_(characters_within(all, span));
        normalized_->split(
            normal, [&](Span words) { add_words(characters_within(normal, words), out); },
            token_of(normal));
      },
      token_of(all));
  return out;
}

}  // namespace

std::unique_ptr<Tokenizer> make_sentence_piece(SentencePieceSettings settings) {
  return std::make_unique<SentencePiece>(settings);
}

}  // namespace lockstep::dimabsa
