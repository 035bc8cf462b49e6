#include "recipes/dimabsa/prepare/token_counts.h"

#include <algorithm>

namespace lockstep::dimabsa {

nlohmann::json count_tokens(const std::vector<EncodedSentence>& sentences,
                            const EncodedQueries& queries, Task task) {
  const std::vector<Pass> passes = passes_of(task);
  double total = 0, most = 0, squares = 0, texts = 0, most_texts = 0;
  std::int64_t longest = 0;
  for (const EncodedSentence& sentence : sentences) {
    double tokens = 0, own_texts = 0;
    const auto add = [&](std::int64_t length) {
      tokens += static_cast<double>(length);
      squares += static_cast<double>(length * length);
      longest = std::max(longest, length);
      ++own_texts;
    };
    for (const Pass pass : passes) {
      const std::vector<std::int64_t>& query = queries.tokens.at(static_cast<std::size_t>(pass));
      const std::int64_t fixed = std::ssize(query) + 2 + std::ssize(queries.null) + sentence.size();
      if (pass == Pass::aspects || pass == Pass::opinions) {
        add(fixed);
        continue;
      }
      for (const EncodedTuple& tuple : sentence.tuples)
        add(fixed + (pass == Pass::aspect_of ? tuple.opinion.length() : tuple.aspect.length()) - 1 +
            (pass == Pass::opinion_of || pass == Pass::aspect_of || task == Task::aspects
                 ? 0
                 : tuple.opinion.length() - 1));
    }
    total += tokens;
    most = std::max(most, tokens);
    texts += own_texts;
    most_texts = std::max(most_texts, own_texts);
  }
  const double count = std::max<double>(1, static_cast<double>(sentences.size()));
  return {{"per_row", total / count / static_cast<double>(passes.size())},
          {"per_sentence", total / count},
          {"most", most},
          {"squares", squares / count},
          {"texts_per_row", texts / count / static_cast<double>(passes.size())},
          {"most_texts", most_texts},
          {"longest", longest}};
}

}  // namespace lockstep::dimabsa
