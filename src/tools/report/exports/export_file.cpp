#include "tools/report/exports/export_file.h"

#include "core/base/files/files.h"

namespace lockstep {
namespace {

NewFile new_file_at(const std::filesystem::path& path) {
  make_directories(path.parent_path());
  return NewFile(path);
}

}  // namespace

ExportFile::ExportFile(const std::filesystem::path& path) : file_(new_file_at(path)) {}

void ExportFile::write(std::string_view bytes) {
  constexpr std::size_t enough = 1 << 16;
  pending_ += bytes;
  if (pending_.size() >= enough) flush();
}

void ExportFile::flush() {
  file_.append(pending_);
  pending_.clear();
}

void ExportFile::finish() {
  flush();
  file_.commit();
}

}  // namespace lockstep
