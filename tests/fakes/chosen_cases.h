// Losses by question (ops/chosen_losses/chosen_losses.h), and the same answer by answer.
#pragma once

#include "fakes/fused_cases.h"
#include "ops/chosen_losses/chosen_losses.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <string>
#include <vector>

namespace lockstep::testing {

// classes 0: squares. Questions of rows are 0 to questions + 1, of which those from 1 on are asked
// for, so that some rows count nowhere.
inline FusedCase chosen_case(std::int64_t rows, std::int64_t questions, std::int64_t answers,
                             std::int64_t classes, const at::TensorOptions& options = {}) {
  const bool squares = classes == 0;
  const at::Tensor question = at::randint(questions + 2, {rows}, options.dtype(at::kLong));
  const at::Tensor labels =
      at::randint(squares ? 1 : classes, {rows, answers}, options.dtype(at::kLong));
  const at::Tensor targets = squares ? at::randn({rows}, options) : labels;
  at::Tensor weights = at::rand({rows, answers}, options);
  weights.masked_fill_(weights.lt(0.2), 0);
  if (squares) weights = weights.select(1, 0);
  std::vector<std::int64_t> sizes{rows, questions};
  if (!squares) sizes.insert(sizes.end(), {answers, classes});
  return {(squares ? "squares of " : "cross-entropy of ") + std::to_string(rows) + " rows, " +
              std::to_string(questions) + " questions",
          {at::randn(sizes, options) * 3},
          [=](const Tensors& t) {
            return squares ? chosen_squares(t[0], question, targets, weights, 1)
                           : chosen_cross_entropy(t[0], question, targets, weights, 1);
          },
          [=](const Tensors& t) {
            const at::Tensor own = question.cpu();
            std::vector<std::vector<at::Tensor>> losses(static_cast<std::size_t>(questions));
            for (std::int64_t n = 0; n < rows; ++n) {
              const std::int64_t q = own[n].item<std::int64_t>() - 1;
              if (q < 0 || q >= questions) continue;
              const at::Tensor asked = t[0][n][q], weight = weights[n];
              const at::Tensor each =
                  squares ? (asked - targets[n]).square()
                          : -at::log_softmax(asked, 1).gather(1, labels[n].unsqueeze(1)).squeeze(1);
              losses[static_cast<std::size_t>(q)].push_back((each * weight).sum());
            }
            std::vector<at::Tensor> sums;
            for (const auto& of_question : losses)
              sums.push_back(of_question.empty() ? t[0].sum() * 0 : at::stack(of_question).sum());
            return at::stack(sums);
          }};
}

inline std::vector<FusedCase> chosen_cases(const at::TensorOptions& options = {}) {
  return {chosen_case(37, 4, 2, 2, options), chosen_case(9, 1, 1, 13, options),
          chosen_case(12, 2, 1, 0, options), chosen_case(3, 8, 3, 5, options),
          chosen_case(40, 9, 1, 3, options)};  // more questions than kernels serve
}

}  // namespace lockstep::testing
