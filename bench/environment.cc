#include "bench/environment.h"

#include <sys/utsname.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "bench/build_info.h"
#include "lib/kernels/kernel.h"
#include "rocksdb/version.h"

namespace rowbloom::bench {
namespace {

std::string CpuModel() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) {
      const size_t colon = line.find(": ");
      if (colon != std::string::npos) return line.substr(colon + 2);
    }
  }
  return "unknown";
}

std::string FirstWord(const std::string& path) {
  std::string word;
  std::ifstream(path) >> word;
  return word;
}

// The caches of the first CPU: {"L1d": "32K", "L2": "1024K", ...}.
nlohmann::ordered_json Caches() {
  nlohmann::ordered_json caches = nlohmann::ordered_json::object();
  for (int i = 0;; ++i) {
    const std::string dir =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    const std::string level = FirstWord(dir + "level");
    if (level.empty()) return caches;
    const std::string type = FirstWord(dir + "type");
    const char* suffix = type == "Data"          ? "d"
                         : type == "Instruction" ? "i"
                                                 : "";
    caches["L" + level + suffix] = FirstWord(dir + "size");
  }
}

std::string OperatingSystem() {
  utsname name{};
  if (uname(&name) != 0) return "unknown";
  return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

std::string Commit() {
  const char* given = std::getenv("ROWBLOOM_COMMIT");
  return given != nullptr && *given != '\0' ? given : kCommit;
}

}  // namespace

nlohmann::ordered_json MachineJson() {
  return {{"cpu", CpuModel()},
          {"cpus", std::thread::hardware_concurrency()},
          {"caches", Caches()},
          {"os", OperatingSystem()}};
}

nlohmann::ordered_json BuildJson() {
  return {{"compiler", kCompiler},
          {"flags", kFlags},
          {"commit", Commit()},
          {"rocksdb", rocksdb::GetRocksVersionAsString()},
          {"kernel", ActiveKernel().name}};
}

}  // namespace rowbloom::bench
