# What `cmake --install` puts where, and how find_package(rowbloom) finds it.
