// A stand-in for libcuda.so.1 that enumerates the UUIDs of FAKE_CUDA, separated by commas; "fail"
// is a driver that does not answer.
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::vector<std::string> uuids() {
  std::vector<std::string> all;
  const char* text = std::getenv("FAKE_CUDA");
  std::istringstream in(text ? text : "");
  for (std::string uuid; std::getline(in, uuid, ',');) all.push_back(uuid);
  return all;
}

}  // namespace

extern "C" {

int cuInit(unsigned) {
  if (uuids().empty()) return 100;        // CUDA_ERROR_NO_DEVICE
  return uuids()[0] == "fail" ? 999 : 0;  // CUDA_ERROR_UNKNOWN
}

int cuDeviceGetCount(int* count) {
  *count = static_cast<int>(uuids().size());
  return 0;
}

int cuDeviceGetUuid_v2(unsigned char* uuid, int device) {
  std::string digits;
  const std::string uuid_text = uuids()[static_cast<std::size_t>(device)];
  for (const char c : uuid_text)
    if (c != '-') digits += c;
  for (int i = 0; i < 16; ++i)
    uuid[i] = static_cast<unsigned char>(
        std::stoi(digits.substr(static_cast<std::size_t>(2 * i), 2), nullptr, 16));
  return 0;
}
}
