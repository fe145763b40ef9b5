# cmake -DPORT=portfile.cmake -DDIR=... -DBUILD=ON|OFF -P vcpkg.cmake: runs a
# portfile with stand-ins for vcpkg's functions. The project is configured, and
# with BUILD also built and installed into DIR/package.
cmake_minimum_required(VERSION 3.22)
set(CURRENT_PACKAGES_DIR ${DIR}/package)

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(vcpkg_cmake_configure)
  cmake_parse_arguments(arg "" "SOURCE_PATH" "OPTIONS" ${ARGN})
  run(${CMAKE_COMMAND} -G Ninja -S ${arg_SOURCE_PATH} -B ${DIR}/build
      -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_LIBDIR=lib
      -DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR} ${arg_OPTIONS})
endfunction()

function(vcpkg_cmake_install)
  if(BUILD)
    run(${CMAKE_COMMAND} --build ${DIR}/build --parallel 2)
    run(${CMAKE_COMMAND} --install ${DIR}/build)
  endif()
endfunction()

function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(arg "" "CONFIG_PATH" "" ${ARGN})
  if(BUILD AND NOT EXISTS
               ${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}/rowbloomConfig.cmake)
    message(FATAL_ERROR "no package in ${arg_CONFIG_PATH}")
  endif()
endfunction()

function(vcpkg_fixup_pkgconfig)
endfunction()

function(vcpkg_install_copyright)
  cmake_parse_arguments(arg "" "" "FILE_LIST" ${ARGN})
  file(SIZE ${arg_FILE_LIST} size) # fails where there is none
endfunction()

include(${PORT})
