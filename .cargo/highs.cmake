# How CMake compiles HiGHS, the only dependency that it builds. Sixteen files at a time: each of them reads the same
# headers, so that a file alone takes a third longer. In debug builds at -O1, which takes half of the time of -O3.
set(CMAKE_UNITY_BUILD ON)
set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)
if("$ENV{PROFILE}" STREQUAL "debug")
  set(CMAKE_CXX_FLAGS_RELEASE "-O1 -DNDEBUG" CACHE STRING "optimisation of HiGHS in debug builds")
endif()
