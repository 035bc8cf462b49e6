// Lists OpenCL platforms as LightGBM numbers them, and chooses one by name.
#pragma once

#include <string>
#include <vector>

#include "recipes/gbdt/lightgbm/library.h"
#include "recipes/gbdt/lightgbm/parameters.h"

namespace lockstep::gbdt {

struct OpenClDevice {
  std::string name;
  bool is_gpu = true;
};

struct OpenClPlatform {
  std::string name;                   // "NVIDIA CUDA"
  std::vector<OpenClDevice> devices;  // in the order of gpu_device_id
};

// Returns the platforms in the order of gpu_platform_id. They come from the OpenCL loader in
// LightGBM's library, if it contains one, as PyPI's library does. Otherwise, they come from
// libOpenCL.so.1. The result is empty if there is no loader or no driver. In many containers, no
// file in /etc/OpenCL/vendors names NVIDIA's driver. The function then sets the environment
// variable OCL_ICD_FILENAMES, so that the loader finds the driver. So no other thread may call
// getenv during the first call.
std::vector<OpenClPlatform> opencl_platforms(const LightGbm& library);

// Returns the index of the platform to use. asked: its number, or its name or a part of the name,
// ignoring case. If `asked` is empty, the first of these that exists is used: NVIDIA's platform,
// the first platform with a GPU, the first platform. Throws Error if there are no platforms. Also
// throws Error if no platform, or several, have the name; the error lists the platforms.
std::size_t choose_platform(const std::vector<OpenClPlatform>& platforms, const std::string& asked);

// Returns the index of the platform's device to use. asked: its number, or "-1" for the first GPU.
// If the platform has no GPU, "-1" is its first device. is_named: whether the user named this
// platform. If not, a device that is no GPU is an Error. Also throws Error if the platform has no
// device with this number.
std::size_t choose_device(const OpenClPlatform& platform, const std::string& asked, bool is_named);

// Sets gpu_platform_id and gpu_device_id in resolved parameters that train by OpenCL. Without both,
// LightGBM would use the first device that it finds, of any kind. Returns the names of both, such
// as "NVIDIA CUDA: NVIDIA H200". platform: `asked` of choose_platform. Throws Error as
// choose_platform and choose_device do.
std::string choose_opencl_device(const LightGbm& library, const std::string& platform,
                                 Parameters& parameters);

}  // namespace lockstep::gbdt
