// The convolution from two maps to one, and its gradients. The kernels are bound by arithmetic, so
// each value that a thread reads from shared memory is used in many products. For this a thread
// computes eight places along the width, and several along the depth.
#include "ops/attention_gate/spatial_gate_launch.h"
#include "ops/shared/device/element.cuh"

#include <climits>
#include <type_traits>

namespace lockstep {
namespace {

constexpr int along = 8, tile_width = 32, across = tile_width / along;
// Distance between the lines of a tile with its border, in elements. It is an odd number of 16-byte
// words, so the threads of a warp read neighbouring lines from different banks.
constexpr int pitch = 44;

// A tile of places. Its threads are `across` along the width, `rows` along the height and `planes`
// along the depth. Each has `deep` places along the depth.
template <int rows_in, int planes_in, int deep_in>
struct Tile {
  static constexpr int rows = rows_in, planes = planes_in, deep = deep_in;
  static constexpr int depth = planes * deep, threads = across * rows * planes;
};

// The first place of a tile, in its row of the batch.
struct Corner {
  std::int64_t row = 0;
  int z = 0, y = 0, x = 0;
};

struct Tiles {
  std::int64_t wide = 0, high = 0, deep = 0, all = 0;
};

__host__ __device__ inline Tiles tiles_of(const SpatialGateShape& shape, int rows, int depth) {
  Tiles tiles;
  tiles.wide = (shape.width + tile_width - 1) / tile_width;
  tiles.high = (shape.height + rows - 1) / rows;
  tiles.deep = (shape.depth + depth - 1) / depth;
  tiles.all = shape.layout.rows * tiles.wide * tiles.high * tiles.deep;
  return tiles;
}

__device__ inline Corner corner_of(const Tiles& tiles, std::int64_t tile, int rows, int depth) {
  Corner corner;
  corner.x = static_cast<int>(tile % tiles.wide) * tile_width;
  tile /= tiles.wide;
  corner.y = static_cast<int>(tile % tiles.high) * rows;
  tile /= tiles.high;
  corner.z = static_cast<int>(tile % tiles.deep) * depth;
  corner.row = tile / tiles.deep;
  return corner;
}

// Copies a box of a map into shared memory, with zeros for places outside the map. Its lines have
// `columns` places and are line_pitch apart. Its planes have box_rows lines and are plane_pitch
// lines apart. A thread always copies the same column.
template <int threads, int box_depth, int box_rows, int columns, int plane_pitch, int line_pitch>
__device__ void load_box(const float* map, const SpatialGateShape& shape, int z, int y, int x,
                         float* to) {
  constexpr int lines_at_once = threads / columns;
  const int thread = static_cast<int>(threadIdx.x), column = thread % columns;
  const int first = thread / columns;
  if (first >= lines_at_once) return;
  const auto within = [](int at, std::int64_t size) {
    return static_cast<unsigned>(at) < static_cast<unsigned>(size);
  };
  const int height = static_cast<int>(shape.height), width = static_cast<int>(shape.width);
  const bool column_inside = within(x + column, shape.width);
  int row = first % box_rows, plane = first / box_rows;
#pragma unroll 4
  for (int line = first; line < box_depth * box_rows; line += lines_at_once) {
    const bool inside =
        column_inside && within(y + row, shape.height) && within(z + plane, shape.depth);
    const std::int64_t at =
        static_cast<std::int64_t>((z + plane) * height + y + row) * width + x + column;
    to[(plane * plane_pitch + row) * line_pitch + column] = inside ? map[at] : 0.0F;
    row += lines_at_once;
    while (row >= box_rows) {
      row -= box_rows;
      ++plane;
    }
  }
}

__device__ inline float element_at(const void* from, KernelDtype dtype, std::int64_t i) {
  switch (dtype) {
    case KernelDtype::bf16:
      return to_float(static_cast<const __nv_bfloat16*>(from)[i]);
    case KernelDtype::f16:
      return to_float(static_cast<const __half*>(from)[i]);
    default:
      return static_cast<const float*>(from)[i];
  }
}

// Convolves IN maps to OUT maps. Forward has IN 2 and OUT 1, and applies the sigmoid to get the
// gates. Backward has IN 1 and OUT 2, and uses the reversed weight.
template <int K, int KD, int IN, int OUT, class Tile>
__global__ void __launch_bounds__(Tile::threads)
    convolve_kernel(SpatialGateShape shape, const float* from, float* to) {
  constexpr bool backward = OUT == 2;
  constexpr int box_rows = Tile::rows + K - 1, box_depth = Tile::depth + KD - 1;
  // 16-byte words that hold the input of a thread's row
  constexpr int words = (along + K - 1 + 3) / 4;
  extern __shared__ __align__(16) float box[];
  __shared__ __align__(16) float weights[2][KD][K][8];
  for (int i = static_cast<int>(threadIdx.x); i < 2 * KD * K * K; i += Tile::threads) {
    const int of_map = KD * K * K, place = i % of_map;
    const int source = backward ? i - place + of_map - 1 - place : i;
    weights[i / of_map][place / (K * K)][place / K % K][place % K] =
        element_at(shape.weight, shape.weight_dtype, source);
  }
  const Corner corner =
      corner_of(tiles_of(shape, Tile::rows, Tile::depth), blockIdx.x, Tile::rows, Tile::depth);
  const int thread = static_cast<int>(threadIdx.x);
  const int column = thread % across * along, row = thread / across % Tile::rows;
  const int plane = thread / (across * Tile::rows) * Tile::deep;
  const std::int64_t voxels = shape.layout.voxels;
  float sums[OUT][Tile::deep][along] = {};
#pragma unroll 1
  for (int in = 0; in < IN; ++in) {
    __syncthreads();
    load_box<Tile::threads, box_depth, box_rows, words * 4 + tile_width - along, box_rows, pitch>(
        from + (corner.row * IN + in) * voxels, shape, corner.z - KD / 2, corner.y - K / 2,
        corner.x - K / 2, box);
    __syncthreads();
#pragma unroll 1
    for (int z = 0; z < Tile::deep + KD - 1; ++z) {
#pragma unroll 1
      for (int y = 0; y < K; ++y) {
        const float* const line = box + ((plane + z) * box_rows + row + y) * pitch + column;
        float values[words * 4];
#pragma unroll
        for (int word = 0; word < words; ++word)
          *reinterpret_cast<float4*>(values + word * 4) =
              *reinterpret_cast<const float4*>(line + word * 4);
#pragma unroll
        for (int d = 0; d < Tile::deep; ++d) {
          if (z - d < 0 || z - d >= KD) continue;
#pragma unroll
          for (int out = 0; out < OUT; ++out) {
            const float* const weight = weights[backward ? out : in][z - d][y];
#pragma unroll
            for (int k = 0; k < K; ++k)
#pragma unroll
              for (int i = 0; i < along; ++i) sums[out][d][i] += values[i + k] * weight[k];
          }
        }
      }
    }
  }
  const std::int64_t y = corner.y + row, x = corner.x + column;
  if (y >= shape.height) return;
#pragma unroll
  for (int out = 0; out < OUT; ++out)
#pragma unroll
    for (int d = 0; d < Tile::deep; ++d) {
      const std::int64_t z = corner.z + plane + d;
      if (z >= shape.depth) break;
      float* const line =
          to + (corner.row * OUT + out) * voxels + (z * shape.height + y) * shape.width + x;
#pragma unroll
      for (int i = 0; i < along; ++i)
        if (!backward) sums[out][d][i] = __fdividef(1.0F, 1.0F + __expf(-sums[out][d][i]));
      if (shape.width % 4 == 0) {
#pragma unroll
        for (int i = 0; i < along; i += 4)
          if (x + i < shape.width)
            *reinterpret_cast<float4*>(line + i) = make_float4(
                sums[out][d][i], sums[out][d][i + 1], sums[out][d][i + 2], sums[out][d][i + 3]);
      } else {
#pragma unroll
        for (int i = 0; i < along; ++i)
          if (x + i < shape.width) line[i] = sums[out][d][i];
      }
    }
}

// The weight's gradient. A thread has one of the weight's [k_depth, k] rows, for both maps. It adds
// up its products over every `teams`-th row of a tile's places. A block processes several tiles.
template <int K, int KD>
struct WeightPart {
  static constexpr int rows = KD == 1 ? 64 : 8, depth = KD == 1 ? 1 : 8;
  static constexpr int lines = KD * K, threads = 256;
  static constexpr int teams = threads / lines < rows * depth ? threads / lines : rows * depth;
  static constexpr int box_depth = depth + KD - 1, box_rows = rows + K - 1;
  // One less than a multiple of eight, so that the rows of a warp lie in different banks.
  static constexpr int box_pitch = KD == 1 ? box_rows : (box_rows + 8) / 8 * 8 - 1;
  static constexpr int box_floats = box_depth * box_pitch * pitch;
  static constexpr int place_floats = depth * rows * tile_width;
  static constexpr int weights = 2 * lines * K;
  static_assert(teams * lines * K <= box_floats);
};

template <int K, int KD>
__global__ void __launch_bounds__(256)
    weight_part_kernel(SpatialGateBackward launch, std::int64_t tiles_of_block) {
  using Part = WeightPart<K, KD>;
  constexpr int columns = tile_width + (K - 1 + 3) / 4 * 4;
  __shared__ __align__(16) float box[Part::box_floats];
  __shared__ __align__(16) float places[Part::place_floats];
  const SpatialGateShape& shape = launch.shape;
  const Tiles tiles = tiles_of(shape, Part::rows, Part::depth);
  const int thread = static_cast<int>(threadIdx.x);
  const int line = thread % Part::lines, team = thread / Part::lines;
  const int line_z = line / K, line_y = line % K;
  float sums[2][K] = {};
  const std::int64_t first = blockIdx.x * tiles_of_block;
  const std::int64_t end = min(first + tiles_of_block, tiles.all);
  for (std::int64_t tile = first; tile < end; ++tile) {
    const Corner corner = corner_of(tiles, tile, Part::rows, Part::depth);
#pragma unroll
    for (int map = 0; map < 2; ++map) {
      __syncthreads();
      if (map == 0)
        load_box<256, Part::depth, Part::rows, tile_width, Part::rows, tile_width>(
            launch.of_places + corner.row * shape.layout.voxels, shape, corner.z, corner.y,
            corner.x, places);
      load_box<256, Part::box_depth, Part::box_rows, columns, Part::box_pitch, pitch>(
          launch.maps + (corner.row * 2 + map) * shape.layout.voxels, shape, corner.z - KD / 2,
          corner.y - K / 2, corner.x - K / 2, box);
      __syncthreads();
      if (team >= Part::teams) continue;
      for (int row = team; row < Part::rows * Part::depth; row += Part::teams) {
        const int z = row / Part::rows, y = row % Part::rows;
        const float* const values = box + ((z + line_z) * Part::box_pitch + y + line_y) * pitch;
        const float* const gradients = places + row * tile_width;
        float window[4 + (K - 1 + 3) / 4 * 4];
        constexpr int kept = (K - 1 + 3) / 4 * 4;
#pragma unroll
        for (int i = 0; i < kept; i += 4)
          *reinterpret_cast<float4*>(window + i) = *reinterpret_cast<const float4*>(values + i);
#pragma unroll
        for (int x = 0; x < tile_width; x += 4) {
          float gradient[4];
          *reinterpret_cast<float4*>(gradient) = *reinterpret_cast<const float4*>(gradients + x);
          *reinterpret_cast<float4*>(window + kept) =
              *reinterpret_cast<const float4*>(values + x + kept);
#pragma unroll
          for (int k = 0; k < K; ++k)
#pragma unroll
            for (int i = 0; i < 4; ++i) sums[map][k] += window[i + k] * gradient[i];
#pragma unroll
          for (int i = 0; i < kept; ++i) window[i] = window[i + 4];
        }
      }
    }
  }
#pragma unroll
  for (int map = 0; map < 2; ++map) {
    __syncthreads();
    if (team < Part::teams)
#pragma unroll
      for (int k = 0; k < K; ++k) box[(team * Part::lines + line) * K + k] = sums[map][k];
    __syncthreads();
    for (int i = thread; i < Part::lines * K; i += 256) {
      float sum = 0;
      for (int t = 0; t < Part::teams; ++t) sum += box[t * Part::lines * K + i];
      launch.weight_partial[blockIdx.x * std::int64_t{Part::weights} + map * Part::lines * K + i] =
          sum;
    }
  }
}

constexpr int weight_lanes = 8;

template <class T>
__global__ void finish_weight_kernel(const float* partial, int weights, int blocks, T* to) {
  __shared__ float shared[weight_lanes][33];
  const int weight = static_cast<int>(blockIdx.x) * 32 + static_cast<int>(threadIdx.x);
  float sum = 0;
  if (weight < weights)
    for (int block = static_cast<int>(threadIdx.y); block < blocks; block += weight_lanes)
      sum += partial[static_cast<std::int64_t>(block) * weights + weight];
  shared[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || weight >= weights) return;
  for (int lane = 1; lane < weight_lanes; ++lane) sum += shared[lane][threadIdx.x];
  to[weight] = from_float<T>(sum);
}

template <int K, int KD, int IN, int OUT, class Tile>
cudaError_t convolve(const SpatialGateShape& shape, const float* from, float* to,
                     cudaStream_t stream) {
  const Tiles tiles = tiles_of(shape, Tile::rows, Tile::depth);
  if (tiles.all > INT_MAX) return cudaErrorInvalidConfiguration;
  constexpr int bytes = (Tile::depth + KD - 1) * (Tile::rows + K - 1) * pitch * 4;
  const auto kernel = convolve_kernel<K, KD, IN, OUT, Tile>;
  if (const cudaError_t error =
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
      error != cudaSuccess)
    return error;
  kernel<<<static_cast<unsigned>(tiles.all), Tile::threads, bytes, stream>>>(shape, from, to);
  return cudaGetLastError();
}

template <int K, int KD>
cudaError_t weight_gradient(const SpatialGateBackward& launch, cudaStream_t stream) {
  using Part = WeightPart<K, KD>;
  const Tiles tiles = tiles_of(launch.shape, Part::rows, Part::depth);
  const std::int64_t of_block =
      (tiles.all + spatial_gate_most_blocks - 1) / spatial_gate_most_blocks;
  const auto blocks = static_cast<int>((tiles.all + of_block - 1) / of_block);
  weight_part_kernel<K, KD><<<blocks, 256, 0, stream>>>(launch, of_block);
  return with_type(launch.shape.weight_dtype, [&](auto element) {
    using T = decltype(element);
    finish_weight_kernel<T><<<(Part::weights + 31) / 32, dim3(32, weight_lanes), 0, stream>>>(
        launch.weight_partial, Part::weights, blocks, static_cast<T*>(launch.of_weight));
    return cudaGetLastError();
  });
}

// Calls `function` with the sizes of the weight as types.
template <int k>
struct Side {
  static constexpr int value = k;
};
template <class Function>
cudaError_t with_window(const SpatialGateShape& shape, const Function& function) {
  const bool flat = shape.k_depth == 1;
  switch (shape.k) {
    case 1:
      return function(Side<1>(), Side<1>());
    case 3:
      return flat ? function(Side<3>(), Side<1>()) : function(Side<3>(), Side<3>());
    case 5:
      return flat ? function(Side<5>(), Side<1>()) : function(Side<5>(), Side<5>());
    case 7:
      return flat ? function(Side<7>(), Side<1>()) : function(Side<7>(), Side<7>());
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace

cudaError_t launch_gate_convolution(const SpatialGateForward& launch, cudaStream_t stream) {
  return with_window(launch.shape, [&](auto side, auto side_depth) {
    constexpr int K = decltype(side)::value, KD = decltype(side_depth)::value;
    if constexpr (KD == 1)
      return convolve<K, KD, 2, 1, Tile<32, 1, 1>>(launch.shape, launch.maps, launch.places,
                                                   stream);
    else
      return convolve<K, KD, 2, 1, Tile<16, 2, 4>>(launch.shape, launch.maps, launch.places,
                                                   stream);
  });
}

cudaError_t launch_gate_convolution_backward(const SpatialGateBackward& launch,
                                             cudaStream_t stream) {
  return with_window(launch.shape, [&](auto side, auto side_depth) {
    constexpr int K = decltype(side)::value, KD = decltype(side_depth)::value;
    using Box = std::conditional_t<KD == 1, Tile<32, 1, 1>, Tile<8, 4, 2>>;
    if (const cudaError_t error =
            convolve<K, KD, 1, 2, Box>(launch.shape, launch.of_places, launch.of_maps, stream);
        error != cudaSuccess)
      return error;
    return weight_gradient<K, KD>(launch, stream);
  });
}

}  // namespace lockstep
