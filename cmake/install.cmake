# What `cmake --install` puts where, and how find_package(rowbloom) finds it.
#
# Each library is a component with an export file of its own, so that a program
# that wants rowbloom::standalone alone does not need RocksDB. Components that are
# not part of this build are left out.
include(CMakePackageConfigHelpers)

set(ROWBLOOM_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/rowbloom)

# Dependencies first: rowbloomConfig.cmake loads them in this order.
set(ROWBLOOM_COMPONENTS "")
foreach(component filters standalone filter_policy store hfile hfile_transfer redis)
  if(TARGET rowbloom_${component})
    list(APPEND ROWBLOOM_COMPONENTS ${component})
    install(
      TARGETS rowbloom_${component}
      EXPORT rowbloom-${component}
      ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
      RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(
      EXPORT rowbloom-${component}
      FILE rowbloom-${component}.cmake
      NAMESPACE rowbloom::
      DESTINATION ${ROWBLOOM_CMAKE_DIR})
  endif()
endforeach()

install(DIRECTORY lib/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET rowbloom_filter_policy)
  install(DIRECTORY storage/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()

# Nothing links the plugin: programs load it, and find_package does not have it.
if(TARGET rowbloom_plugin)
  install(TARGETS rowbloom_plugin LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

foreach(tool rowbloom_cli sst_inspect)
  if(TARGET ${tool})
    install(TARGETS ${tool} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()

configure_package_config_file(
  cmake/rowbloomConfig.cmake.in ${PROJECT_BINARY_DIR}/rowbloomConfig.cmake
  INSTALL_DESTINATION ${ROWBLOOM_CMAKE_DIR} NO_SET_AND_CHECK_MACRO)
# While the major version is 0, a minor version may change the interface.
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/rowbloomConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/rowbloomConfig.cmake
              ${PROJECT_BINARY_DIR}/rowbloomConfigVersion.cmake
        DESTINATION ${ROWBLOOM_CMAKE_DIR})
