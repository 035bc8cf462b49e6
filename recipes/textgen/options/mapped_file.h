// Maps a file into memory for reading.
#pragma once

#include <cstddef>
#include <filesystem>

namespace lockstep::textgen {

class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);  // throws Error if mapping fails
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;

  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace lockstep::textgen
