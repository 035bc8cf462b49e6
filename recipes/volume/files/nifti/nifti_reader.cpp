// Reads NIfTI files, compressed with gzip or not.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "recipes/volume/files/nifti/gzip_reader.h"
#include "recipes/volume/files/nifti/nifti_header.h"
#include "recipes/volume/files/volume_reader.h"

namespace lockstep::volume {
namespace {

class NiftiReader : public VolumeReader {
 public:
  NiftiReader(std::unique_ptr<ByteSource> source, std::unique_ptr<GzipReader> gzip,
              const NiftiHeader& header)
      : VolumeReader(source->name(), header.volume),
        source_(std::move(source)),
        gzip_(std::move(gzip)),
        voxels_at_(header.voxels_at),
        swapped_(header.swapped) {}

 private:
  void read(std::int64_t z, std::int64_t channel, std::span<std::byte> out) override {
    const auto plane = static_cast<std::uint64_t>(channel * header().shape.depth + z);
    const std::uint64_t at = voxels_at_ + plane * out.size();
    if (gzip_)
      inflate_plane(at, plane, out);
    else
      source_->read_all(at, out);
    if (!swapped_) return;
    const std::size_t size = bytes_of(header().type);
    for (std::size_t i = 0; i < out.size(); i += size) std::reverse(&out[i], &out[i] + size);
  }
  void inflate_plane(std::uint64_t at, std::uint64_t plane, std::span<std::byte> out) {
    gzip_->seek(at);
    if (gzip_->read(out) < out.size())
      throw Error(cat("cannot read ", name(), ": it is truncated, its voxels end after ",
                      gzip_->position(), " bytes"));
    const auto planes = static_cast<std::uint64_t>(header().shape.depth * header().shape.channels);
    std::byte beyond{};
    if (plane + 1 == planes) gzip_->read({&beyond, 1});  // makes zlib check the checksum
  }

  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<GzipReader> gzip_;  // null if the file is not compressed
  std::uint64_t voxels_at_;
  bool swapped_;
};

}  // namespace

std::unique_ptr<VolumeReader> open_nifti(std::unique_ptr<ByteSource> source,
                                         const ReadVolume& how) {
  std::array<std::byte, nifti2_bytes> head{};
  if (source->size() == 0) throw Error(cat("cannot read ", source->name(), ": it is empty"));
  std::size_t count = source->read(0, head);
  std::unique_ptr<GzipReader> gzip;
  if (count > 1 && head[0] == std::byte{0x1f} && head[1] == std::byte{0x8b}) {
    gzip = std::make_unique<GzipReader>(*source);
    count = gzip->read(head);
  }
  const NiftiHeader header = parse_nifti_header({head.data(), count}, source->name(), how);
  const VolumeShape& shape = header.volume.shape;
  const std::uint64_t end =
      header.voxels_at +
      plane_bytes(header.volume) * static_cast<std::uint64_t>(shape.depth * shape.channels);
  if (!gzip && end > source->size())
    throw Error(cat("cannot read ", source->name(), ": it is truncated: it has ", source->size(),
                    " bytes, its header says ", end));
  return std::make_unique<NiftiReader>(std::move(source), std::move(gzip), header);
}

}  // namespace lockstep::volume
