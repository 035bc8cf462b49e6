#include "recipes/volume/model/cut.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace lockstep::volume {
namespace {

constexpr std::int64_t block = 8;  // number of bytes in a std::uint64_t

// Transposes a matrix of 8 x 8 bytes by exchanging blocks of 4, 2 and 1.
void transpose(std::array<std::uint64_t, block>& rows) {
  const auto swap = [&](std::size_t first, std::size_t distance, std::uint64_t mask) {
    const int bits = static_cast<int>(8 * distance);
    const std::uint64_t both = ((rows[first] >> bits) ^ rows[first + distance]) & mask;
    rows[first + distance] ^= both;
    rows[first] ^= both << bits;
  };
  for (const std::size_t row : {0, 1, 2, 3}) swap(row, 4, 0x00000000FFFFFFFF);
  for (const std::size_t row : {0, 1, 4, 5}) swap(row, 2, 0x0000FFFF0000FFFF);
  for (const std::size_t row : {0, 2, 4, 6}) swap(row, 1, 0x00FF00FF00FF00FF);
}

// Copies a plane of bytes [size[1], size[2]] whose rows run along the volume's y. Blocks of 8 x 8
// are faster, because single bytes that are a row apart need an instruction each.
void transpose_plane(const Grid<std::uint8_t>& from, const Turned& box, const Triple& size,
                     std::int64_t z, std::uint8_t* out) {
  const std::int64_t right = box.step[1][2], down = box.step[2][1];
  const std::int64_t plane = box.origin[0] + box.step[0][0] * z;
  for (std::int64_t y = 0; y < size[1]; y += block)
    for (std::int64_t x = 0; x < size[2]; x += block) {
      std::array<std::uint64_t, block> rows{};
      const std::int64_t left = box.origin[2] + right * y - (right < 0 ? block - 1 : 0);
      for (std::int64_t i = 0; i < block; ++i)
        std::memcpy(&rows[static_cast<std::size_t>(i)],
                    from.values + from.offset(plane, box.origin[1] + down * (x + i), left), block);
      transpose(rows);
      for (std::int64_t i = 0; i < block; ++i)
        std::memcpy(out + (right < 0 ? y + block - 1 - i : y + i) * size[2] + x,
                    &rows[static_cast<std::size_t>(i)], block);
    }
}

// Whether transpose_plane may be used: the plane consists of whole blocks, and all are inside the
// volume.
bool can_transpose(const Grid<std::uint8_t>& from, const Turned& box, const Triple& size) {
  if (box.step[2][1] == 0 || box.step[1][2] == 0 || box.step[0][0] == 0) return false;
  if (size[1] % block != 0 || size[2] % block != 0) return false;
  Triple last = box.origin;
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (std::size_t i = 0; i < 3; ++i) last[i] += box.step[axis][i] * (size[axis] - 1);
  return from.has(box.origin[0], box.origin[1], box.origin[2]) &&
         from.has(last[0], last[1], last[2]);
}

template <class From, class To>
void copy_row(const From* from, std::int64_t stride, std::int64_t count, To* out) {
  std::int64_t x = 0;
  if (stride == 1) {
    std::copy_n(from, count, out);
    return;
  }
  if constexpr (sizeof(From) == 1 && sizeof(To) == 1)
    for (; stride == -1 && x + block <= count; x += block) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, from - x - (block - 1), block);
      eight = __builtin_bswap64(eight);
      std::memcpy(out + x, &eight, block);
    }
  for (; x < count; ++x) out[x] = static_cast<To>(from[x * stride]);
}

// Interpolates between eight voxels, and some of them may be outside the volume.
template <class T>
float at_border(const Grid<T>& from, const PlaceRow& row, std::size_t x) {
  const auto share = [&](std::size_t axis, std::int64_t step) {
    return step != 0 ? row.share[axis][x] : 1 - row.share[axis][x];
  };
  float sum = 0;
  for (int corner = 0; corner < 8; ++corner) {
    const int dz = corner >> 2, dy = corner >> 1 & 1, dx = corner & 1;
    const std::int64_t a = row.low[0][x] + dz, b = row.low[1][x] + dy, c = row.low[2][x] + dx;
    if (from.has(a, b, c))
      sum += share(0, dz) * share(1, dy) * share(2, dx) *
             static_cast<float>(from.values[from.offset(a, b, c)]);
  }
  return sum;
}

template <class To>
To rounded(float value) {
  if constexpr (std::is_floating_point_v<To>) return value;
  const float up = value + 0.5F;  // values are not negative
  return static_cast<To>(static_cast<int>(up));
}

// Interpolates the positions [first, last) of the row, which are all inside the volume. First,
// pairs of neighbours along x are gathered. Then all positions are computed in one vectorized loop.
template <class From, class To>
void interpolate_inside(const Grid<From>& from, const PlaceRow& row, std::size_t first,
                        std::size_t last, std::vector<From>& pairs, To* out) {
  const std::size_t count = last - first;
  pairs.resize(8 * count);
  From *const a = pairs.data(), *const b = a + 2 * count, *const c = b + 2 * count,
              *const d = c + 2 * count;
  const std::int64_t width = from.extents[2], plane = from.extents[1] * width;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t x = first + i;
    const From* const corner =
        from.values + from.offset(row.low[0][x], row.low[1][x], row.low[2][x]);
    std::memcpy(a + 2 * i, corner, 2 * sizeof(From));
    std::memcpy(b + 2 * i, corner + width, 2 * sizeof(From));
    std::memcpy(c + 2 * i, corner + plane, 2 * sizeof(From));
    std::memcpy(d + 2 * i, corner + plane + width, 2 * sizeof(From));
  }
  const float *const z = row.share[0].data() + first, *const y = row.share[1].data() + first,
                     *const x = row.share[2].data() + first;
  To* const to = out + first;
  const auto between = [](float low, float high, float share) {
    return low + (high - low) * share;
  };
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) {
    const auto along_x = [&](const From* pair) {
      return between(static_cast<float>(pair[2 * i]), static_cast<float>(pair[2 * i + 1]), x[i]);
    };
    to[i] = rounded<To>(between(between(along_x(a), along_x(b), y[i]),
                                between(along_x(c), along_x(d), y[i]), z[i]));
  }
}

// Calls inside(first, last) for each run of positions inside the volume, and border(x) for all
// others.
template <class Inside, class Border>
void for_runs(const PlaceRow& row, const Inside& inside, const Border& border) {
  const std::size_t count = row.inside.size();
  for (std::size_t x = 0; x < count;) {
    std::size_t last = x;
    while (last < count && row.inside[last] != 0) ++last;
    if (last > x) inside(x, last);
    for (x = last; x < count && row.inside[x] == 0; ++x) border(x);
  }
}

}  // namespace

template <class From, class To>
void copy_turned(const Grid<From>& from, const Turned& box, const Triple& size, To outside,
                 To* out) {
  if constexpr (sizeof(From) == 1 && sizeof(To) == 1)
    if (can_transpose(from, box, size)) {
      for (std::int64_t z = 0; z < size[0]; ++z)
        transpose_plane(from, box, size, z, out + z * size[1] * size[2]);
      return;
    }
  const Triple& across = box.step[2];
  const std::int64_t stride = from.offset(across[0], across[1], across[2]);
  for (std::int64_t z = 0; z < size[0]; ++z)
    for (std::int64_t y = 0; y < size[1]; ++y, out += size[2]) {
      Triple at{}, last{};
      for (std::size_t i = 0; i < 3; ++i) {
        at[i] = box.origin[i] + box.step[0][i] * z + box.step[1][i] * y;
        last[i] = at[i] + across[i] * (size[2] - 1);
      }
      if (from.has(at[0], at[1], at[2]) && from.has(last[0], last[1], last[2])) {
        copy_row(from.values + from.offset(at[0], at[1], at[2]), stride, size[2], out);
        continue;
      }
      for (std::int64_t x = 0; x < size[2]; ++x) {
        const std::int64_t a = at[0] + across[0] * x, b = at[1] + across[1] * x,
                           c = at[2] + across[2] * x;
        out[x] = from.has(a, b, c) ? static_cast<To>(from.values[from.offset(a, b, c)]) : outside;
      }
    }
}

void PlaceRow::locate(const Triple& extents, std::int64_t begin, std::int64_t end) {
  const std::size_t count = places[0].size();
  inside.assign(count, 1);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    low[axis].resize(count);
    share[axis].resize(count);
    const auto first = static_cast<std::int32_t>(axis == 0 ? begin : 0);
    const auto last = static_cast<std::int32_t>((axis == 0 ? end : extents[axis]) - 1);
    const float* const place = places[axis].data();
    std::int32_t* const voxel = low[axis].data();
    float* const rest = share[axis].data();
    std::uint8_t* const within = inside.data();
#pragma GCC ivdep
    for (std::size_t x = 0; x < count; ++x) {
      const auto cut = static_cast<std::int32_t>(place[x]);  // rounded towards 0
      const std::int32_t floor = cut - (place[x] < static_cast<float>(cut) ? 1 : 0);
      voxel[x] = floor;
      rest[x] = place[x] - static_cast<float>(floor);
    }
#pragma GCC ivdep
    for (std::size_t x = 0; x < count; ++x)
      within[x] &=
          static_cast<std::uint8_t>(voxel[x] >= first) & static_cast<std::uint8_t>(voxel[x] < last);
  }
}

template <class From, class To>
void interpolate(const Grid<From>& from, const PlaceRow& row, To* out) {
  static thread_local std::vector<From> pairs;
  for_runs(
      row,
      [&](std::size_t first, std::size_t last) {
        interpolate_inside(from, row, first, last, pairs, out);
      },
      [&](std::size_t x) { out[x] = rounded<To>(at_border(from, row, x)); });
}

void take_nearest(const Grid<std::uint8_t>& from, const PlaceRow& row, std::uint8_t outside,
                  std::uint8_t* out) {
  const auto nearest = [&](std::size_t axis, std::size_t x) {
    return row.low[axis][x] + (row.share[axis][x] >= 0.5F ? 1 : 0);
  };
  const auto voxel = [&](std::size_t x) {
    return from.values[from.offset(nearest(0, x), nearest(1, x), nearest(2, x))];
  };
  for_runs(
      row,
      [&](std::size_t first, std::size_t last) {
        for (std::size_t x = first; x < last; ++x) out[x] = voxel(x);
      },
      [&](std::size_t x) {
        out[x] = from.has(nearest(0, x), nearest(1, x), nearest(2, x)) ? voxel(x) : outside;
      });
}

using u8 = std::uint8_t;
using u16 = std::uint16_t;
template void copy_turned(const Grid<u8>&, const Turned&, const Triple&, u8, u8*);
template void copy_turned(const Grid<u8>&, const Turned&, const Triple&, float, float*);
template void copy_turned(const Grid<u16>&, const Turned&, const Triple&, float, float*);
template void copy_turned(const Grid<float>&, const Turned&, const Triple&, float, float*);
template void interpolate(const Grid<u8>&, const PlaceRow&, u8*);
template void interpolate(const Grid<u8>&, const PlaceRow&, float*);
template void interpolate(const Grid<u16>&, const PlaceRow&, float*);
template void interpolate(const Grid<float>&, const PlaceRow&, float*);

}  // namespace lockstep::volume
