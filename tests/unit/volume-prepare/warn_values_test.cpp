// What is said of sets whose values are odd.
#include "prepare_test.h"

namespace lockstep::volume {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using WarnValues = PrepareTest;

TEST_F(WarnValues, OfFloatsThatAreDividedByOne) {
  write_pairs({"a", "b"});
  write(data() / "train_images" / "a.tif", usual, std::vector<float>(voxels(usual), 700.0F));
  volumes();
  EXPECT_THAT(said, HasSubstr("warning: values of"));
  EXPECT_THAT(said, HasSubstr("train_images/a.tif go from 700 to 700"));
}

TEST_F(WarnValues, NotOfBytes) {
  write_pairs({"a", "b"});
  volumes();
  EXPECT_THAT(said, Not(HasSubstr("warning")));
  EXPECT_THAT(said, HasSubstr("to train on"));
}

}  // namespace
}  // namespace lockstep::volume
