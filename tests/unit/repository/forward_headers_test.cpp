// Headers with the names of earlier versions: plugins include them.
#include "checkout.h"
#include "core/base/files/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace lockstep {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_of_versions(int group) {
  return found(read_file(root / "cmake/ForwardHeaders.cmake"), R"(\n  (\S+\.h) (\S+\.h))", group);
}

TEST(ForwardHeaders, LeadToHeadersThatAreThere) {
  for (const std::string& name : names_of_versions(2))
    EXPECT_TRUE(fs::exists(root / "src" / name)) << name;
}

TEST(ForwardHeaders, HaveNamesThatNoHeaderHas) {
  for (const std::string& name : names_of_versions(1))
    EXPECT_FALSE(fs::exists(root / "src" / name)) << name;
}

TEST(ForwardHeaders, AreThoseThatTheExamplesOfEarlierVersionsIncluded) {
  EXPECT_THAT(names_of_versions(1),
              ::testing::IsSupersetOf({"base/error.h", "base/files.h", "base/hash.h", "base/text.h",
                                       "data/collate.h", "data/dataset.h", "engine/batch_norm.h",
                                       "engine/nn_model.h", "engine/recipe.h", "engine/register.h",
                                       "kernels/augment.h", "kernels/second_derivative.h",
                                       "media/csv_table.h", "media/draw.h", "media/picture_file.h",
                                       "plan/philox.h", "plan/recipe_info.h", "run/item_table.h"}));
}

}  // namespace
}  // namespace lockstep
