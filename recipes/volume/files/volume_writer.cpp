// Common code of all writers: counts planes, and renames the finished file to its final name.
#include "recipes/volume/files/volume_writer.h"

#include "core/base/check.h"

namespace lockstep::volume {

VolumeWriter::VolumeWriter(const std::filesystem::path& path, const VolumeHeader& header)
    : file_(path), header_(header) {
  check_shape(header.shape, path.string(), {.allow_2d = true});
}

void VolumeWriter::write_plane(std::span<const std::byte> plane) {
  LOCKSTEP_CHECK(plane.size() == plane_bytes(header_));
  LOCKSTEP_CHECK(planes_ < header_.shape.depth * header_.shape.channels);
  write(plane);
  ++planes_;
}

void VolumeWriter::finish() {
  LOCKSTEP_CHECK(planes_ == header_.shape.depth * header_.shape.channels);
  close();
  file_.commit();
}

}  // namespace lockstep::volume
