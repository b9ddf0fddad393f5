"""What PyInstaller needs: freezers see neither compiled imports nor entry points."""

from pathlib import Path


def hook_dirs() -> list[str]:
    """Return the folder of the hooks; PyInstaller finds this by an entry point."""
    return [str(Path(__file__).parent)]
