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

// Platforms in the order of gpu_platform_id. They come from the loader of OpenCL drivers in
// LightGBM's library (PyPI's has one), else from libOpenCL.so.1. Empty if there is no loader or no
// driver. In many containers, no file of /etc/OpenCL/vendors names NVIDIA's driver. It is then
// found by setting OCL_ICD_FILENAMES, so no other thread may call getenv during the first call.
std::vector<OpenClPlatform> opencl_platforms(const LightGbm& library);

// The index of the platform to use. asked: its name or a part of it, ignoring case, or its number;
// empty: NVIDIA's, else the first that has a GPU, else the first. Throws Error, which lists the
// existing platforms, if there is none, or if none or several have this name.
std::size_t choose_platform(const std::vector<OpenClPlatform>& platforms, const std::string& asked);

// The index of the platform's device to use. asked: its number; "-1": the first GPU, else the first
// device. is_named: whether the user named this platform; if not, a device that is no GPU is
// refused. Throws Error.
std::size_t choose_device(const OpenClPlatform& platform, const std::string& asked, bool is_named);

// Adds gpu_platform_id and gpu_device_id to resolved parameters that train by OpenCL. Without
// both, LightGBM itself would use whatever device it finds first. Returns the names, such as
// "NVIDIA CUDA: NVIDIA H200". Throws Error.
std::string choose_opencl_device(const LightGbm& library, const std::string& platform,
                                 Parameters& parameters);

}  // namespace lockstep::gbdt
