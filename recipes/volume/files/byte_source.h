// Bytes that can be read at any offset: a file, or memory.
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
  // Reads as many bytes as exist; fewer than requested only at the end. Throws Error if the disk
  // fails.
  virtual std::size_t read(std::uint64_t offset, std::span<std::byte> out) const = 0;
  // Fills `out`, or throws Error: the file is truncated.
  void read_all(std::uint64_t offset, std::span<std::byte> out) const;

 protected:
  ByteSource(std::string name, std::uint64_t size) : name_(std::move(name)), size_(size) {}

 private:
  std::string name_;
  std::uint64_t size_;
};

std::unique_ptr<ByteSource> file_source(const std::filesystem::path& path);  // throws Error
// `bytes` must outlive it.
std::unique_ptr<ByteSource> memory_source(std::string_view bytes, std::string name);

}  // namespace lockstep::volume
