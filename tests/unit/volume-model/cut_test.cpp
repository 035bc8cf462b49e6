// Boxes and places, beside plain loops over single voxels.
#include "recipes/volume/model/cut.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace lockstep::volume {
namespace {

constexpr Triple extents{20, 30, 40};

template <class T>
std::vector<T> numbers() {
  std::vector<T> values;
  std::uint32_t state = 1;
  for (std::int64_t i = 0; i < extents[0] * extents[1] * extents[2]; ++i) {
    state = state * 1664525 + 1013904223;
    values.push_back(static_cast<T>(state >> 24));
  }
  return values;
}

template <class From, class To>
std::vector<To> box_by_voxel(const Grid<From>& grid, const Turned& box, const Triple& size,
                             To outside) {
  std::vector<To> values;
  for (std::int64_t z = 0; z < size[0]; ++z)
    for (std::int64_t y = 0; y < size[1]; ++y)
      for (std::int64_t x = 0; x < size[2]; ++x) {
        Triple at = box.origin;
        for (std::size_t i = 0; i < 3; ++i)
          at[i] += box.step[0][i] * z + box.step[1][i] * y + box.step[2][i] * x;
        values.push_back(grid.has(at[0], at[1], at[2])
                             ? static_cast<To>(grid.values[grid.offset(at[0], at[1], at[2])])
                             : outside);
      }
  return values;
}

template <class From, class To>
void expect_boxes() {
  const std::vector<From> values = numbers<From>();
  const Grid<From> grid{values.data(), extents, 2, 19};
  Random random(3, RandomStream::sample, 0, 0);
  for (const Triple& size : {Triple{4, 16, 16}, Triple{3, 12, 12}, Triple{2, 8, 24}})
    for (const Triple& corner :
         {Triple{2, 0, 0}, Triple{5, 14, 8}, Triple{0, 3, 2}, Triple{4, 3, 30}, Triple{17, 25, -3}})
      for (int draw = 0; draw < 40; ++draw) {
        const Turned box = turned_box(corner, size, {}, random);
        std::vector<To> cut(static_cast<std::size_t>(size[0] * size[1] * size[2]));
        copy_turned(grid, box, size, To{7}, cut.data());
        ASSERT_EQ(cut, (box_by_voxel<From, To>(grid, box, size, To{7})));
      }
}

TEST(Cut, ABoxHoldsTheVoxelsThatItsStepsName) {
  expect_boxes<std::uint8_t, std::uint8_t>();
  expect_boxes<std::uint8_t, float>();
  expect_boxes<std::uint16_t, float>();
  expect_boxes<float, float>();
}

double weight(double place, std::int64_t voxel) {
  return std::max(0.0, 1 - std::abs(place - static_cast<double>(voxel)));
}

template <class T>
double place_by_voxel(const Grid<T>& grid, double z, double y, double x) {
  double sum = 0;
  for (std::int64_t a = grid.begin; a < grid.end; ++a)
    for (std::int64_t b = 0; b < extents[1]; ++b)
      for (std::int64_t c = 0; c < extents[2]; ++c)
        if (const double share = weight(z, a) * weight(y, b) * weight(x, c); share > 0)
          sum += share * static_cast<double>(grid.values[grid.offset(a, b, c)]);
  return sum;
}

// Rows within the volume, across its borders, outside of it, and along whole numbers.
std::vector<PlaceRow> rows() {
  std::vector<PlaceRow> all;
  for (const auto& [first, step] :
       std::vector<std::pair<std::array<float, 3>, std::array<float, 3>>>{
           {{4.3F, 5.6F, 3.1F}, {0.2F, 0.3F, 0.9F}},
           {{-3.5F, -2.1F, -1.7F}, {0.9F, 1.1F, 1.3F}},
           {{25, 40, 50}, {1, 1, 1}},
           {{3, 29, 0}, {0, 0, 1}},
           {{19.2F, 1, 39}, {-0.4F, 1, -1}}}) {
    PlaceRow row;
    for (std::size_t i = 0; i < 3; ++i)
      for (int x = 0; x < 33; ++x)
        row.places[i].push_back(first[i] + step[i] * static_cast<float>(x));
    row.locate(extents, 2, 19);
    all.push_back(row);
  }
  return all;
}

template <class From, class To>
void expect_places() {
  const std::vector<From> values = numbers<From>();
  const Grid<From> grid{values.data(), extents, 2, 19};
  int inside = 0;
  for (const PlaceRow& row : rows()) {
    std::vector<To> found(row.places[0].size());
    interpolate(grid, row, found.data());
    for (std::size_t x = 0; x < found.size(); ++x) {
      const double wanted =
          place_by_voxel(grid, row.places[0][x], row.places[1][x], row.places[2][x]);
      EXPECT_NEAR(found[x], wanted, std::is_integral_v<To> ? 0.501 : 1e-3) << x;
      inside += row.inside[x];
    }
  }
  EXPECT_GT(inside, 40);
  EXPECT_LT(inside, 120);
}

TEST(Cut, PlacesAreBetweenEightVoxelsAndZeroOutside) {
  expect_places<std::uint8_t, std::uint8_t>();
  expect_places<std::uint8_t, float>();
  expect_places<std::uint16_t, float>();
  expect_places<float, float>();
}

TEST(Cut, ALabelIsThatOfTheNearestVoxel) {
  const std::vector<std::uint8_t> values = numbers<std::uint8_t>();
  const Grid<std::uint8_t> grid{values.data(), extents, 2, 19};
  for (const PlaceRow& row : rows()) {
    std::vector<std::uint8_t> found(row.places[0].size());
    take_nearest(grid, row, 9, found.data());
    for (std::size_t x = 0; x < found.size(); ++x) {
      Triple at{};
      for (std::size_t i = 0; i < 3; ++i)
        at[i] = static_cast<std::int64_t>(std::floor(row.places[i][x] + 0.5F));
      EXPECT_EQ(found[x],
                grid.has(at[0], at[1], at[2]) ? grid.values[grid.offset(at[0], at[1], at[2])] : 9);
    }
  }
}

}  // namespace
}  // namespace lockstep::volume
