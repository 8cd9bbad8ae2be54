# `cmake --install` and find_package(PIT): the C interfaces of the compiler and
# the runtime, and the tools. examples/embed is a project that uses them.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set_target_properties(pit_runtime PROPERTIES EXPORT_NAME runtime)
set_target_properties(PITCompiler PROPERTIES EXPORT_NAME compiler)
set(PIT_INSTALLED pit_runtime PITCompiler)
foreach(tool pit-opt pit-compile pit-run pit-bench)
  if(TARGET ${tool})
    list(APPEND PIT_INSTALLED ${tool})
  endif()
endforeach()
# The tools find the libraries beside them, all find LLVM where it was built
# against.
set_target_properties(${PIT_INSTALLED} PROPERTIES
  INSTALL_RPATH "$ORIGIN;$ORIGIN/../${CMAKE_INSTALL_LIBDIR}"
  INSTALL_RPATH_USE_LINK_PATH ON)

install(TARGETS ${PIT_INSTALLED} EXPORT PITTargets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/pit-runtime
                  ${PROJECT_SOURCE_DIR}/include/pit-c
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(PIT_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/PIT)
install(EXPORT PITTargets NAMESPACE PIT:: DESTINATION ${PIT_CMAKE_DIR})
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/PITConfig.cmake.in ${PROJECT_BINARY_DIR}/PITConfig.cmake
  INSTALL_DESTINATION ${PIT_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/PITConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/PITConfig.cmake
              ${PROJECT_BINARY_DIR}/PITConfigVersion.cmake
  DESTINATION ${PIT_CMAKE_DIR})

# PYTHONPATH=<prefix>/lib/python finds the package, which finds the runtime.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/pit
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/python
  PATTERN __pycache__ EXCLUDE)
