// Finds tuples in sentences with a model. The kinds of questions (Pass) are asked one after the
// other, each about all sentences.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "recipes/dimabsa/model/decode.h"
#include "recipes/dimabsa/model/net.h"
#include "recipes/dimabsa/model/texts.h"

namespace lockstep::dimabsa {

struct FoundTuple {
  PieceSpan aspect, opinion;
  std::int64_t category = -1;
  double valence = 0, arousal = 0;  // as the model returns them, not clamped
  double probability = 1;
};

struct FinderOptions {
  EncodedQueries queries;
  std::int64_t longest = 512;  // largest number of tokens in a text
  DecodeOptions decode;
};

// Returns the tuples of a sentence as a record of the evaluation: f64 [tuples, 8].
at::Tensor to_record(const std::vector<FoundTuple>& tuples);
// The record may have any shape, with 8 numbers for each tuple.
std::vector<FoundTuple> from_record(const at::Tensor& record);

class TupleFinder {
 public:
  // All arguments must outlive the finder. context: a context without training, whose device is
  // that of the net.
  TupleFinder(const Net& net, const FinderOptions& options, const StepContext& context)
      : net_(net), options_(options), context_(context) {}

  // Returns the tuples of each sentence. In task 1, these are the given tuples of the sentence,
  // with valence and arousal.
  std::vector<std::vector<FoundTuple>> find(
      const std::vector<const EncodedSentence*>& sentences) const;

 private:
  struct Asked {
    std::size_t sentence = 0;
    Question question;
  };
  // The results of the heads that read only the first token of a text.
  struct Answers {
    at::Tensor categories;       // i64 [S] on the CPU; undefined if `categories` is false
    at::Tensor valence_arousal;  // f64 [S, 2] on the CPU
  };

  std::vector<std::vector<FoundSpan>> ask_spans(
      const std::vector<const EncodedSentence*>& sentences, const std::vector<Asked>& asked) const;
  Answers ask_values(const std::vector<const EncodedSentence*>& sentences,
                     const std::vector<Asked>& asked, bool categories) const;
  std::vector<std::vector<FoundTuple>> find_pairs(
      const std::vector<const EncodedSentence*>& sentences) const;
  void add_values(const std::vector<const EncodedSentence*>& sentences,
                  std::vector<std::vector<FoundTuple>>& found) const;

  const Net& net_;
  const FinderOptions& options_;
  const StepContext& context_;
};

}  // namespace lockstep::dimabsa
