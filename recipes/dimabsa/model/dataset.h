// The data sets of the dimabsa recipe. A sample is a sentence. It has a row for each Pass of the
// task, which is a kind of question. A row has a text for each question of this kind.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "recipes/dimabsa/model/batch.h"
#include "recipes/dimabsa/options/encoded.h"
#include "training/data/dataset.h"

namespace lockstep::dimabsa {

struct SampleOptions {
  Task task = Task::triplets;
  EncodedQueries queries;
  std::int64_t longest = 512;  // largest number of tokens in a text
  // Factors in the loss. span_weight: the factor for the first and the last token of each target
  // span.
  double category = 1, valence = 0.2, arousal = 0.2, span_weight = 3;
};

// The samples of training. The tensors of a batch are listed in model/batch.h.
class TrainingSentences : public BatchDataset {
 public:
  TrainingSentences(std::shared_ptr<const std::vector<EncodedSentence>> sentences,
                    SampleOptions options);
  std::int64_t size() const override { return std::ssize(*sentences_); }
  std::int64_t rows_per_sample() const override { return std::ssize(passes_); }
  std::int64_t length(std::int64_t index) const override;
  // Returns the tensors of a batch with one row. The row has the questions of one Pass about the
  // sentence. context.part is the index of this Pass in passes_of(task).
  std::vector<at::Tensor> get(std::int64_t index, SampleContext& context) const override;
  std::vector<at::Tensor> batch(const std::vector<std::int64_t>& samples,
                                std::vector<SampleContext>& contexts) const override;

 private:
  void add_row(BatchBuilder& builder, const EncodedSentence& sentence, Pass pass) const;
  void add_tuple(BatchBuilder& builder, const EncodedSentence& sentence, Pass pass,
                 std::size_t tuple) const;

  std::shared_ptr<const std::vector<EncodedSentence>> sentences_;
  SampleOptions options_;
  std::vector<Pass> passes_;
};

// The samples of evaluation. A batch has only one tensor: the indexes of its sentences, i64 [B].
class WholeSentences : public Dataset {
 public:
  explicit WholeSentences(std::int64_t count) : count_(count) {}
  std::int64_t size() const override { return count_; }
  std::vector<at::Tensor> get(std::int64_t index, SampleContext& context) const override;

 private:
  std::int64_t count_;
};

}  // namespace lockstep::dimabsa
