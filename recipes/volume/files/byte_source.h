// Reads bytes at any offset, from a file or from memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace lockstep::volume {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  const std::string& name() const { return name_; }  // for messages
  std::uint64_t size() const { return size_; }
  // Fills `out`. If the source ends earlier, fills only the beginning of `out`. Returns the number
  // of bytes read. Throws Error if reading fails.
  virtual std::size_t read(std::uint64_t offset, std::span<std::byte> out) const = 0;
  // Fills all of `out`. Throws Error if reading fails or the source has too few bytes.
  void read_all(std::uint64_t offset, std::span<std::byte> out) const;

 protected:
  ByteSource(std::string name, std::uint64_t size) : name_(std::move(name)), size_(size) {}

 private:
  std::string name_;
  std::uint64_t size_;
};

// Throws Error if the file cannot be opened.
std::unique_ptr<ByteSource> file_source(const std::filesystem::path& path);
// `bytes` must outlive the source.
std::unique_ptr<ByteSource> memory_source(std::string_view bytes, std::string name);

}  // namespace lockstep::volume
