// Finds all phrases of a text and splits the text at their ends.
#include "recipes/dimabsa/sentences/pages/highlight.h"

#include <optional>
#include <set>

namespace lockstep::dimabsa {
namespace {

struct Ranges {
  std::optional<ByteRange> aspect, opinion;
};

std::optional<ByteRange> place_of(std::string_view text, const std::string& phrase) {
  if (phrase == null_phrase) return std::nullopt;
  return find_phrase(text, phrase);
}

bool covers(const std::optional<ByteRange>& range, const ByteRange& part) {
  return range && range->begin <= part.begin && part.end <= range->end;
}

}  // namespace

std::vector<MarkedPart> marked_parts(std::string_view text, const std::vector<Tuple>& tuples) {
  std::vector<Ranges> ranges;
  std::set<std::size_t> borders{0, text.size()};
  for (const Tuple& tuple : tuples) {
    ranges.push_back({place_of(text, tuple.aspect), place_of(text, tuple.opinion)});
    for (const auto& range : {ranges.back().aspect, ranges.back().opinion})
      if (range) borders.insert({range->begin, range->end});
  }
  std::vector<MarkedPart> parts;
  for (auto at = borders.begin(); std::next(at) != borders.end(); ++at) {
    MarkedPart part{.range = {*at, *std::next(at)}};
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      if (covers(ranges[i].aspect, part.range)) part.aspects.push_back(i);
      if (covers(ranges[i].opinion, part.range)) part.opinions.push_back(i);
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace lockstep::dimabsa
