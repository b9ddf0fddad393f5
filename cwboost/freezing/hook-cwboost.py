"""Hook of PyInstaller: modules that kernels, entry points and the command line import by name."""

from PyInstaller.utils.hooks import collect_submodules, copy_metadata

hiddenimports = [
    module
    for package in ("cwboost._kernels", "cwboost.plugins", "cwboost.commands")
    for module in collect_submodules(package)
]
datas = copy_metadata("cwboost")
