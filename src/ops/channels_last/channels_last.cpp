// Sets channels-last strides even if there is only one channel.
#include "ops/channels_last/channels_last.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "ops/shared/voxel_layout.h"

namespace lockstep {

at::Tensor as_channels_last(const at::Tensor& x) {
  if (x.dim() != 4 && x.dim() != 5)
    throw Error(cat("as_channels_last wants [B, C, H, W] or [B, C, D, H, W], but got ", x.sizes()));
  const at::Tensor dense = x.contiguous(channels_last_format(x));
  return x.size(1) == 1 ? dense.squeeze(1).unsqueeze(-1).movedim(-1, 1) : dense;
}

}  // namespace lockstep
