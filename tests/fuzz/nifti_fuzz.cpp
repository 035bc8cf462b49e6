// NIfTI files, plain and gzip. An accepted file stays within the limits. Reading a plane twice
// gives the same result, or an error both times. The header is the same after writing and reading
// it again.
#include "fuzz.h"

#include <bit>
#include <cmath>
#include <vector>

#include "recipes/volume/files/nifti/nifti_header.h"
#include "recipes/volume/files/volume_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  using namespace lockstep::volume;
  const ReadVolume how{.allow_2d = true,
                       .limits = {.voxels = 1 << 16, .plane_voxels = 1 << 14, .planes = 32}};
  std::unique_ptr<VolumeReader> reader;
  if (!fuzz::accepts(
          [&] { reader = open_nifti(memory_source(fuzz::text_of(data, size), "input"), how); }))
    return 0;
  const VolumeHeader& header = reader->header();
  const VolumeShape& shape = header.shape;
  LOCKSTEP_CHECK(shape.depth >= 1 && shape.channels >= 1 && shape.height >= 1 && shape.width >= 1);
  LOCKSTEP_CHECK(shape.depth * shape.channels <= 32 && shape.height * shape.width <= 1 << 14);
  LOCKSTEP_CHECK(shape.depth * shape.channels * shape.height * shape.width <= 1 << 16);
  affine_of(header);
  const std::vector<std::byte> written = make_nifti_header(header);
  const NiftiHeader back = parse_nifti_header(written, "written", how);
  LOCKSTEP_CHECK(back.volume.shape == shape && back.volume.type == header.type);
  // As bytes, because a field may hold NaN.
  LOCKSTEP_CHECK(make_nifti_header(back.volume) == written && back.voxels_at == written.size());
  std::vector<std::byte> plane(plane_bytes(header)), again(plane.size());
  for (std::int64_t z = 0; z < shape.depth; ++z) {
    const bool taken = fuzz::accepts([&] { reader->read_plane(z, shape.channels - 1, plane); });
    LOCKSTEP_CHECK(taken ==
                   fuzz::accepts([&] { reader->read_plane(z, shape.channels - 1, again); }));
    LOCKSTEP_CHECK(!taken || plane == again);
  }
  return 0;
}
