# The places of installed files, and the package for find_package(rowbloom).
#
# Each library is a component with an export file of its own, so that a program
# that wants rowbloom::standalone alone does not need RocksDB. Components that are
# not part of this build are left out. packages.cmake has the components of
# CMake's install, which are others: runtime, dev, tools.
include(CMakePackageConfigHelpers)

set(ROWBLOOM_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/rowbloom)
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(installed_libraries ${CMAKE_INSTALL_LIBDIR})
else()
  set(installed_libraries $<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR})
endif()

# Dependencies come first: rowbloomConfig.cmake loads them in this order.
set(ROWBLOOM_COMPONENTS "")
foreach(component filters standalone filter_policy store c hfile hfile_transfer
                  redis)
  if(TARGET rowbloom_${component})
    list(APPEND ROWBLOOM_COMPONENTS ${component})
    # Libraries that are linked by name may be in the same prefix, as vcpkg's are.
    target_link_directories(
      rowbloom_${component} INTERFACE
      "$<INSTALL_INTERFACE:${installed_libraries}>")
    install(
      TARGETS rowbloom_${component}
      EXPORT rowbloom-${component}
      ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
              COMPONENT runtime
              NAMELINK_COMPONENT dev)
    if(component STREQUAL "hfile")
      install(
        TARGETS rowbloom_format
        EXPORT rowbloom-hfile
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
    endif()
    install(
      EXPORT rowbloom-${component}
      FILE rowbloom-${component}.cmake
      NAMESPACE rowbloom::
      DESTINATION ${ROWBLOOM_CMAKE_DIR}
      COMPONENT dev)
  endif()
endforeach()

install(
  DIRECTORY lib/include/
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT dev)
if(TARGET rowbloom_filter_policy)
  install(
    DIRECTORY storage/include/
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    COMPONENT dev)
endif()

# For programs in other languages, and those that CMake does not build. It
# follows the library when that is moved.
if(TARGET rowbloom_c)
  set(pkgconfig_dir ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
  file(RELATIVE_PATH ROWBLOOM_PC_TO_PREFIX ${pkgconfig_dir}
       ${CMAKE_INSTALL_PREFIX})
  file(RELATIVE_PATH ROWBLOOM_PC_TO_INCLUDE ${pkgconfig_dir}
       ${CMAKE_INSTALL_FULL_INCLUDEDIR})
  configure_file(cmake/rowbloom.pc.in ${PROJECT_BINARY_DIR}/rowbloom.pc @ONLY)
  install(
    FILES ${PROJECT_BINARY_DIR}/rowbloom.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT dev)
endif()

# Nothing links the plugin: programs load it, and find_package does not have it.
# Its name has no version, so that it is not in the library's package, of which
# two may be installed.
if(TARGET rowbloom_plugin)
  install(TARGETS rowbloom_plugin LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
                                          COMPONENT tools)
endif()

foreach(tool rowbloom_cli sst_inspect)
  if(TARGET ${tool})
    install(TARGETS ${tool} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
                                    COMPONENT tools)
    install(
      FILES $<TARGET_FILE:${tool}>.1
      DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
      COMPONENT tools)
    # bash-completion looks for this name when the program's is completed.
    install(
      FILES $<TARGET_FILE:${tool}>.bash
      DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
      COMPONENT tools)
  endif()
endforeach()

configure_package_config_file(
  cmake/rowbloomConfig.cmake.in ${PROJECT_BINARY_DIR}/rowbloomConfig.cmake
  INSTALL_DESTINATION ${ROWBLOOM_CMAKE_DIR} NO_SET_AND_CHECK_MACRO)
# While the major version is 0, a minor version may change the interface.
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/rowbloomConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(
  FILES ${PROJECT_BINARY_DIR}/rowbloomConfig.cmake
        ${PROJECT_BINARY_DIR}/rowbloomConfigVersion.cmake
  DESTINATION ${ROWBLOOM_CMAKE_DIR}
  COMPONENT dev)
