"""A recipe for Conan 2 that builds the tree that it is in: conan create .

The libraries alone, without HFiles and programs. This version of RE2 needs no
Abseil, as in Debian 12.
"""

import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

required_conan_version = ">=2.0"

# Each library, and what it needs.
LIBRARIES = {
    "filters": [],
    "standalone": ["filters"],
    "filter_policy": ["filters", "rocksdb::rocksdb"],
    "store": ["filter_policy", "re2::re2"],
    "c": [],
    "redis": ["standalone", "rocksdb::rocksdb", "hiredis::hiredis"],
}


class RowbloomConan(ConanFile):
    name = "rowbloom"
    description = "ROW and ROWCOL Bloom filter blocks for RocksDB, and a wide-column store"
    license = "Apache-2.0"
    topics = ("rocksdb", "bloom-filter", "hbase")
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    exports_sources = "CMakeLists.txt", "LICENSE", "cmake/*", "lib/*", "storage/*"

    def set_version(self):
        lists = load(self, os.path.join(self.recipe_folder, "CMakeLists.txt"))
        self.version = re.search(r"project\(\s*rowbloom\s+VERSION\s+([0-9.]+)", lists)[1]

    def requirements(self):
        self.requires("rocksdb/[>=7.1 <11.10]", transitive_headers=True)
        self.requires("re2/20220601")
        self.requires("hiredis/[>=0.14 <2]")
        # Nothing of these is in the headers or libraries that are installed.
        for built_with in ("isa-l/[>=2.30 <3]", "lz4/[>=1.9 <2]", "nlohmann_json/[>=3.11 <4]",
                           "snappy/[>=1.1.9 <2]", "xxhash/[>=0.8 <1]",
                           "zlib/[>=1.2.13 <2]", "zstd/[>=1.5.4 <2]"):
            self.requires(built_with, visible=False)

    def configure(self):
        # A shared RocksDB of Conan's center has no headers for C++.
        self.options["rocksdb"].shared = False
        for codec in ("lz4", "snappy", "zlib", "zstd"):
            setattr(self.options["rocksdb"], "with_" + codec, True)

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TOOLS", "TESTS", "BENCH"):
            toolchain.cache_variables["ROWBLOOM_BUILD_" + part] = False
        toolchain.cache_variables["CMAKE_DISABLE_FIND_PACKAGE_Protobuf"] = True
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        # Conan writes its own.
        for folder in ("cmake", "pkgconfig"):
            rmdir(self, os.path.join(self.package_folder, "lib", folder))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "rowbloom")
        for name, needs in LIBRARIES.items():
            library = self.cpp_info.components[name]
            library.libs = ["rowbloom" if name == "c" else "rowbloom_" + name]
            library.set_property("cmake_target_name", "rowbloom::" + name)
            library.requires = needs
