"""conan_recipe.py CONANFILE: runs a recipe with stand-ins for what it imports of
Conan, and prints its version, the options of CMake, the packages that it requires
and the libraries that it has."""

import importlib.util
import os
import shutil
import sys
import types


class CppInfo:
    def __init__(self):
        self.components, self.properties, self.requires = Components(), {}, []

    def set_property(self, name, value):
        self.properties[name] = value


class Components(dict):
    def __missing__(self, name):
        self[name] = CppInfo()
        return self[name]


class ConanFile:
    def __init__(self):
        self.required, self.cpp_info = [], CppInfo()
        self.settings, self.options = None, {"rocksdb": types.SimpleNamespace()}

    def requires(self, reference, transitive_headers=False, visible=True):
        del transitive_headers
        self.required.append((reference, visible))


class CMakeToolchain:
    made = None

    def __init__(self, recipe):
        del recipe
        self.cache_variables = {}

    def generate(self):
        CMakeToolchain.made = self


class CMakeDeps:
    def __init__(self, recipe):
        del recipe

    def generate(self):
        pass


def load(recipe, path):
    del recipe
    with open(path, encoding="utf-8") as file:
        return file.read()


def module(name, **contents):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(contents)


def main(path):
    module("conan", ConanFile=ConanFile)
    module("conan.tools")
    module("conan.tools.build", check_min_cppstd=lambda recipe, standard: None)
    module("conan.tools.cmake", CMake=None, CMakeDeps=CMakeDeps,
           CMakeToolchain=CMakeToolchain, cmake_layout=lambda recipe: None)
    module("conan.tools.files", copy=shutil.copy, load=load, rmdir=shutil.rmtree)
    spec = importlib.util.spec_from_file_location("recipe", path)
    recipe_module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(recipe_module)
    (made,) = [found for found in vars(recipe_module).values()
               if isinstance(found, type) and ConanFile in found.__bases__]
    recipe = made()
    recipe.recipe_folder = os.path.dirname(path)
    for step in ("set_version", "configure", "requirements", "validate", "layout",
                 "generate", "package_info"):
        getattr(recipe, step)()

    for pattern in recipe.exports_sources:
        if not os.path.exists(os.path.join(recipe.recipe_folder, pattern.removesuffix("/*"))):
            raise ValueError(f"{path}: there is no {pattern} to export")
    print("version", recipe.version)
    for name, value in CMakeToolchain.made.cache_variables.items():
        print(f"option -D{name}={'ON' if value is True else 'OFF' if value is False else value}")
    for reference, _ in recipe.required:
        print("requires", reference)
    # Conan refuses a package that no library needs, unless it is hidden.
    needed = {need for library in recipe.cpp_info.components.values()
              for need in library.requires}
    for reference, visible in recipe.required:
        name = reference.split("/")[0]
        if (f"{name}::{name}" in needed) != visible:
            raise ValueError(f"{path}: {name} is visible, or not, against the libraries")
    for need in needed:
        if "::" not in need and need not in recipe.cpp_info.components:
            raise ValueError(f"{path}: a library needs {need}, which there is not")
    for library in recipe.cpp_info.components.values():
        print("library", *library.libs)


if __name__ == "__main__":
    main(sys.argv[1])
