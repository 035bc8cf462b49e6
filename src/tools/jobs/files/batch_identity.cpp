#include "tools/jobs/files/batch_identity.h"

#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "core/base/text/text.h"

namespace lockstep {
namespace fs = std::filesystem;
namespace {

// The folder's inode. It stays the same when the folder is renamed, and differs in a copy. "" if
// there is no folder.
std::string inode_of(const fs::path& folder) {
  struct stat found {};
  return ::stat(folder.c_str(), &found) == 0 ? cat(found.st_ino) : "";
}

}  // namespace

std::string batch_id(Ledger& ledger, const BatchFolder& folder) {
  const std::string inode = ledger.fact("inode"), path = ledger.fact("path");
  // Also true for a batch of an earlier version, and for one that was moved to another disk.
  const bool is_this = inode.empty() || inode == inode_of(folder.path) || inode != inode_of(path);
  return is_this ? ledger.fact("id") : "";
}

void set_batch_id(Ledger& ledger, const BatchFolder& folder, const std::string& id) {
  std::error_code error;
  const fs::path path = fs::canonical(folder.path, error);
  ledger.set_fact("id", id);
  ledger.set_fact("inode", error ? "" : inode_of(path));
  ledger.set_fact("path", error ? "" : path.string());
}

}  // namespace lockstep
