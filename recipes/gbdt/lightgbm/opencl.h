// OpenCL platforms, as LightGBM numbers them, and the choice of one by its name.
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

// In the order of gpu_platform_id, asked of the loader of OpenCL drivers that is in LightGBM's
// library (PyPI's has one), else of libOpenCL.so.1. Empty if there is no loader or no driver.
// NVIDIA's driver is also found if no file of /etc/OpenCL/vendors names it, as in many containers,
// by setting OCL_ICD_FILENAMES. So no other thread may call getenv during the first call.
std::vector<OpenClPlatform> opencl_platforms(const LightGbm& library);

// Index of the platform to take. asked: its name or a part of it, whatever the case, or its number;
// empty: NVIDIA's, else the first that has a GPU, else the first. Throws Error, which lists those
// that are there: there is none, or none of this name, or several.
std::size_t choose_platform(const std::vector<OpenClPlatform>& platforms, const std::string& asked);

// Index of the platform's device to take. asked: its number; "-1": the first GPU, else the first
// device. is_named: the user asked for this platform; if not, a device that is no GPU is refused.
// Throws Error.
std::size_t choose_device(const OpenClPlatform& platform, const std::string& asked, bool is_named);

// Adds gpu_platform_id and gpu_device_id to resolved parameters that train by OpenCL. If one of the
// two is missing, LightGBM itself would take whatever device it finds first, so such parameters are
// refused. Returns the names, as "NVIDIA CUDA: NVIDIA H200". Throws Error.
std::string choose_opencl_device(const LightGbm& library, const std::string& platform,
                                 Parameters& parameters);

}  // namespace lockstep::gbdt
