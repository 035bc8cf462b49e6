// Places of NIfTI files that name one, and of those that do not.
#include "recipes/volume/files/same_place.h"

#include <gmock/gmock.h>

#include <limits>

#include "volume_test.h"

namespace lockstep::volume {
namespace {

using ::testing::HasSubstr;

using Rows = std::array<std::array<double, 4>, 3>;

// 5 x 3 x 4 voxels of 0.5 x 0.75 x 2 mm.
VolumeHeader header_of(const std::optional<Rows>& sform) {
  NiftiSpace space;
  space.pixdim = {1, 0.5, 0.75, 2, 1, 1, 1, 1};
  if (sform) {
    space.sform_code = 1;
    space.srow = *sform;
  }
  return {.shape = {.depth = 4, .height = 3, .width = 5}, .space = space};
}

constexpr Rows scanner{{{0.5, 0, 0, -100}, {0, 0.75, 0, -120}, {0, 0, 2, 30}}};

TEST(SamePlace, CornersMayBeATenthOfAVoxelApart) {
  Rows near = scanner, apart = scanner;
  near[2][3] += 0.04;
  apart[2][3] += 0.06;
  EXPECT_EQ(same_place(header_of(scanner), header_of(near)), SamePlace::yes);
  EXPECT_EQ(same_place(header_of(scanner), header_of(apart)), SamePlace::no);
  EXPECT_EQ(same_place(header_of(scanner), {.shape = {4, 3, 5, 1}}), SamePlace::yes) << "a TIFF";
  Rows wide = scanner;
  wide[0][0] += 0.0124;
  EXPECT_EQ(same_place(header_of(scanner), header_of(wide)), SamePlace::yes) << "four steps on";
  wide[0][0] += 0.0002;
  EXPECT_EQ(same_place(header_of(scanner), header_of(wide)), SamePlace::no);
}

TEST(SamePlace, IsNoneOfWhatIsNoNumber) {
  for (const std::size_t column : {0, 3}) {
    Rows broken = scanner;
    broken[1][column] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(same_place(header_of(scanner), header_of(broken)), SamePlace::no);
    EXPECT_EQ(same_place(header_of(broken), header_of(scanner)), SamePlace::no);
    EXPECT_EQ(same_place(header_of(broken), header_of(broken)), SamePlace::yes) << "a copy";
  }
}

TEST(SamePlace, IsThatOfNibabelOrSimpleItkWithoutCodes) {
  const VolumeHeader silent = header_of(std::nullopt);
  const Rows nibabel{{{-0.5, 0, 0, 1}, {0, 0.75, 0, -0.75}, {0, 0, 2, -3}}};
  const Rows simpleitk{{{-0.5, 0, 0, 0}, {0, -0.75, 0, 0}, {0, 0, 2, 0}}};
  for (const Rows& label : {nibabel, simpleitk}) {
    EXPECT_EQ(same_place(silent, header_of(label)), SamePlace::yes);
    EXPECT_EQ(same_place(header_of(label), silent), SamePlace::yes);
  }
  EXPECT_EQ(same_place(silent, silent), SamePlace::yes);
  EXPECT_EQ(same_place(silent, header_of(scanner)), SamePlace::unknown);
  EXPECT_THAT(describe_place(silent), HasSubstr("(it says no place: both codes are 0)"));
}

TEST(SamePlace, IsUnknownOfWhatLibrariesWriteOfAnArrayAlone) {
  const Rows numpy_eye{{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
  const Rows simpleitk{{{-1, 0, 0, 0}, {0, -1, 0, 0}, {0, 0, 1, 0}}};
  const Rows moved{{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 5}}};
  EXPECT_EQ(same_place(header_of(scanner), header_of(numpy_eye)), SamePlace::unknown);
  EXPECT_EQ(same_place(header_of(simpleitk), header_of(scanner)), SamePlace::unknown);
  EXPECT_EQ(same_place(header_of(scanner), header_of(moved)), SamePlace::no);
}

}  // namespace
}  // namespace lockstep::volume
