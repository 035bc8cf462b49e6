// Verdicts by numbers alone.
#include "training/contract/contract_terms.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lockstep {
namespace {

TermFault of(TermNumbers alone, TermNumbers twice, TermNumbers padded) {
  return fault_of({.alone = alone, .twice = twice, .padded = padded});
}

TEST(ContractTerms, KnowASumFromAMean) {
  EXPECT_EQ(of({3, 2}, {6, 4}, {3, 2}), TermFault::none);
  EXPECT_EQ(of({3, 2}, {6.05, 4}, {2.99, 2}), TermFault::none) << "short types round";
  EXPECT_EQ(of({1.5, 2}, {1.5, 4}, {1.5, 2}), TermFault::mean);
  EXPECT_EQ(of({1.5, 2}, {1.51, 4}, {0.75, 2}), TermFault::mean) << "over all rows of the batch";
}

TEST(ContractTerms, KnowPaddingThatCounts) {
  EXPECT_EQ(of({3, 2}, {6, 4}, {6, 2}), TermFault::padding_in_sum);
  EXPECT_EQ(of({3, 2}, {6, 4}, {3, 4}), TermFault::padding_in_weight);
  EXPECT_EQ(of({3, 2}, {6, 4}, {6, 4}), TermFault::padding_in_weight);
  EXPECT_EQ(of({0, 2}, {0, 4}, {0, 3}), TermFault::padding_in_weight);
}

TEST(ContractTerms, SayNothingWhereNumbersLeaveADoubt) {
  EXPECT_EQ(of({3, 2}, {5, 4}, {4, 2}), TermFault::none) << "rows that see each other";
  EXPECT_EQ(of({3, 2}, {6, 4}, {4, 2}), TermFault::none);
  EXPECT_EQ(of({0, 0}, {0, 0}, {0, 0}), TermFault::none) << "nothing of the term in these samples";
  EXPECT_EQ(of({0, 2}, {0, 4}, {0, 2}), TermFault::none);
  EXPECT_EQ(of({4, 1}, {4, 1}, {4, 1}), TermFault::none) << "a term of the weights alone";
  EXPECT_EQ(of({NAN, 2}, {NAN, 4}, {NAN, 2}), TermFault::none);
  EXPECT_EQ(of({3, 2}, {3, 3}, {3, 2}), TermFault::none) << "a weight that is no count of rows";
}

TEST(ContractTerms, KnowASumThatGrowsBesideItsWeight) {
  EXPECT_EQ(of({3, 1}, {6, 1}, {3, 1}), TermFault::sum_beside_weight);
}

TEST(ContractTerms, SayItInWords) {
  EXPECT_EQ(
      describe(TermFault::mean, "boxes",
               {.alone = {1.5, 2}, .twice = {1.5, 4}, .padded = {1.5, 2}}),
      "the term boxes of the loss is a mean, not a sum: with each row twice it is 1.5 instead "
      "of 3, while its weight is 4 instead of 2");
}

}  // namespace
}  // namespace lockstep
