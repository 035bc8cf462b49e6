// Sets pieces of a buffer to 0. A block handles each piece.
#include "ops/shared/device/dirty.cuh"
#include "ops/zero_ranges/zero_ranges_launch.h"

#include <climits>

namespace lockstep {
namespace {

constexpr int threads = 256;

__global__ void __launch_bounds__(threads) zero_pieces_kernel(ZeroPieces pieces) {
  const std::int64_t begin = pieces.pieces[2 * blockIdx.x];
  const auto quads = static_cast<int>(pieces.pieces[2 * blockIdx.x + 1] / 4);
  auto* const at = reinterpret_cast<float4*>(pieces.flat + begin);
  for (int i = static_cast<int>(threadIdx.x); i < quads; i += threads)
    if (is_dirty(pieces.dirty, begin + static_cast<std::int64_t>(i) * 4))
      at[i] = make_float4(0.0F, 0.0F, 0.0F, 0.0F);
}

}  // namespace

cudaError_t launch_zero_pieces(const ZeroPieces& pieces, cudaStream_t stream) {
  if (pieces.count > INT_MAX) return cudaErrorInvalidConfiguration;
  zero_pieces_kernel<<<static_cast<unsigned>(pieces.count), threads, 0, stream>>>(pieces);
  return cudaGetLastError();
}

}  // namespace lockstep
