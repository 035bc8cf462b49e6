// TIFF stacks. An accepted stack stays within the limits. Reading a plane twice gives the same
// result, or an error both times.
#include "fuzz.h"

#include <vector>

#include "recipes/volume/files/volume_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  using namespace lockstep::volume;
  const ReadVolume how{.allow_2d = true,
                       .limits = {.voxels = 1 << 16, .plane_voxels = 1 << 14, .planes = 32}};
  std::unique_ptr<VolumeReader> reader;
  if (!fuzz::accepts(
          [&] { reader = open_tiff(memory_source(fuzz::text_of(data, size), "input"), how); }))
    return 0;
  const VolumeShape& shape = reader->header().shape;
  LOCKSTEP_CHECK(shape.depth >= 1 && shape.channels >= 1 && shape.height >= 1 && shape.width >= 1);
  LOCKSTEP_CHECK(shape.depth * shape.channels <= 32 && shape.height * shape.width <= 1 << 14);
  LOCKSTEP_CHECK(shape.depth * shape.channels * shape.height * shape.width <= 1 << 16);
  std::vector<std::byte> plane(plane_bytes(reader->header())), again(plane.size());
  for (std::int64_t z = shape.depth; z-- > 0;)
    for (std::int64_t channel = 0; channel < shape.channels; ++channel) {
      const bool taken = fuzz::accepts([&] { reader->read_plane(z, channel, plane); });
      LOCKSTEP_CHECK(taken == fuzz::accepts([&] { reader->read_plane(z, channel, again); }));
      LOCKSTEP_CHECK(!taken || plane == again);
    }
  return 0;
}
