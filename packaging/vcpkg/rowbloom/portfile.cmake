# An overlay port that builds the tree that it is in:
#
#   vcpkg install rowbloom --overlay-ports=packaging/vcpkg \
#     --triplet=x64-linux-dynamic
#
# The libraries alone, without HFiles and programs: newer Protobufs want Abseil
# linked beside them, and so do static builds of RE2.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -DROWBLOOM_BUILD_TOOLS=OFF
    -DROWBLOOM_BUILD_TESTS=OFF
    -DROWBLOOM_BUILD_BENCH=OFF
    -DCMAKE_DISABLE_FIND_PACKAGE_Protobuf=ON)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/rowbloom)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
