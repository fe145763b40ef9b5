# Packages for Debian and its kin, a .deb for each component of the install:
#
#   cpack --config build/release/CPackConfig.cmake
#
# They fit the distribution that they are built on, as its librocksdb has a
# soname of its own. dpkg-shlibdeps finds what the programs and the shared
# libraries need; the static libraries' needs are listed here.
get_target_property(abi rowbloom_c SOVERSION)
set(runtime_package librowbloom${abi})

# rowbloom_package(<component> <name>): a package with its licence.
macro(rowbloom_package component name)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  install(
    FILES ${PROJECT_SOURCE_DIR}/LICENSE
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name}
    RENAME copyright
    COMPONENT ${component})
endmacro()
rowbloom_package(runtime ${runtime_package})
rowbloom_package(dev librowbloom-dev)
rowbloom_package(tools rowbloom-tools)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME rowbloom)
set(CPACK_PACKAGE_VENDOR rowbloom)
set(CPACK_PACKAGE_CONTACT "The developers of rowbloom <rowbloom@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL runtime dev tools)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/triggers)
file(WRITE ${PROJECT_BINARY_DIR}/triggers "activate-noawait ldconfig\n")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
    "ROW and ROWCOL Bloom filters for RocksDB, and a store: the library for C
 Programs in C, and in languages that can call it, need it.")

set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS OFF)
string(
  CONCAT CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
         "${runtime_package} (= ${PROJECT_VERSION}), "
         "librocksdb-dev, libre2-dev, libisal-dev, libprotobuf-dev, "
         "libmd-dev, zlib1g-dev, liblz4-dev, libsnappy-dev, libzstd-dev")
if(TARGET rowbloom_redis)
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", libhiredis-dev")
endif()
set(CPACK_COMPONENT_DEV_DESCRIPTION
    "ROW and ROWCOL Bloom filters for RocksDB, and a store: for developers
 Headers, static libraries, and files for CMake and pkg-config.")

set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION database)
set(CPACK_COMPONENT_TOOLS_DESCRIPTION
    "Command line of the rowbloom store, and a look into SSTs and HFiles
 The programs rowbloom and sst_inspect, their manual pages and completion, and
 the plugin for programs that are already built.")
include(CPack)
