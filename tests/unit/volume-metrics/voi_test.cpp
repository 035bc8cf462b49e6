#include "recipes/volume/metrics/voi.h"

#include <cmath>
#include <map>

#include "tests/unit/volume-metrics/brute_force.h"

namespace lockstep::volume {
namespace {

Mask row(const std::string& drawing) {
  return draw({1, 1, static_cast<std::int64_t>(drawing.size())},
              [&](std::int64_t, std::int64_t, std::int64_t x) {
                return drawing[static_cast<std::size_t>(x)] == '#';
              });
}

TEST(Voi, IsZeroForEqualMasksAndForTwoEmptyOnes) {
  for (const Mask& mask : random_masks()) {
    const VariationOfInformation voi = variation_of_information(mask, mask);
    EXPECT_EQ(voi.split, 0);
    EXPECT_EQ(voi.merge, 0);
    EXPECT_EQ(voi_score(voi), 1);
  }
}

TEST(Voi, SaysHowASheetIsCutAndHowTwoAreMerged) {
  // Truth is one piece of 8; predicted are pieces of 4 and 3, and 1 voxel of background.
  const VariationOfInformation cut = variation_of_information(row(".########."), row(".####.###."));
  const double entropy = 4.0 / 8 * 1 + 3.0 / 8 * std::log2(8.0 / 3) + 1.0 / 8 * 3;
  EXPECT_EQ(cut.merge, 0);
  EXPECT_NEAR(cut.split, entropy, 1e-12);
  EXPECT_NEAR(voi_score(cut), 1 / (1 + 0.3 * entropy), 1e-12);
  const VariationOfInformation merged =
      variation_of_information(row(".####.###."), row(".########."));
  EXPECT_NEAR(merged.merge, entropy, 1e-12);
  EXPECT_EQ(merged.split, 0);
}

TEST(Voi, AgainstAnEmptyMaskIsTheEntropyOfTheOther) {
  EXPECT_EQ(voi_score(variation_of_information(row("...."), row(".##."))), 1);
  EXPECT_EQ(variation_of_information(row("...."), row("#..#")).split, 1);
}

TEST(Voi, DoesNotDependOnEmptySpace) {
  const auto voi = [](const std::string& a, const std::string& b) {
    const VariationOfInformation found = variation_of_information(row(a), row(b));
    return found.split + found.merge;
  };
  EXPECT_DOUBLE_EQ(voi("##.#", "#..#"), voi("......##.#........", "......#..#........"));
}

TEST(Voi, IsThatOfItsDefinition) {
  unsigned seed = 100;
  for (const Mask& truth : random_masks()) {
    const Mask predicted = random_mask(truth.shape(), 0.3, seed++);
    const auto a = brute::labels(truth, true);
    const auto b = brute::labels(predicted, true);
    std::map<std::pair<int, int>, double> pairs;
    std::map<int, double> of_a, of_b;
    double all = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] == 0 && b[i] == 0) continue;
      ++pairs[{a[i], b[i]}];
      ++of_a[a[i]];
      ++of_b[b[i]];
      ++all;
    }
    double split = 0, merge = 0;
    for (const auto& [pair, count] : pairs) {
      split -= count / all * std::log2(count / of_a[pair.first]);
      merge -= count / all * std::log2(count / of_b[pair.second]);
    }
    const VariationOfInformation found = variation_of_information(truth, predicted);
    EXPECT_NEAR(found.split, split, 1e-9);
    EXPECT_NEAR(found.merge, merge, 1e-9);
  }
}

}  // namespace
}  // namespace lockstep::volume
