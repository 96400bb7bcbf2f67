"""Build a wheel that carries compiled kernels: ``python docs/build_wheel.py DIRECTORY``.

They are compiled here, on the system and the kind of processor that the wheel is for, but for a common model
of it: x86-64-v3 (2013 and later), or any arm64.  Where the wheel meets another system, an older processor or
sources that were edited, kernels are compiled at the first run as from a checkout.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROCESSORS = {
    "x86_64": ("x86-64-v3", ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2")),
    "aarch64": ("generic", ("neon",)),
    "arm64": ("generic", ("neon",)),
}
"""By machine: LLVM's name of the processor, and the features that it is taken to have."""
COMMANDS = (
    ("warmup",),
    ("predict", "--layout", "raidz2x6", "--fill", "0.62"),
    ("predict", "--layout", "draid2:8d:24c:1s", "--fill", "0.3", "--drive-size", "1TB", "--seed", "1"),
    ("predict", "--layout", "raidz2x6", "--fill", "0.05", "--drive-size", "32GB", "--exact"),
    ("predict", "--layout", "raidz2x6", "--fill", "0.5", "--history", "vm-host", "--memory", "16G"),
)  # fmt: skip
"""What is run so that its kernels are compiled."""
ENTRY = "import sys; from zsim.cli.main import main; sys.exit(main())"
DATA = ROOT / "zsim" / "_data"


def compile_kernels(cache: Path) -> tuple[str, ...]:
    """Compile the kernels into a cache of their own; return the features of a processor that they need."""
    model, needed = PROCESSORS[platform.machine()]
    environment = {
        **os.environ,
        "NUMBA_CPU_NAME": model,
        "NUMBA_CPU_FEATURES": ",".join(f"+{name}" for name in needed),
        "ZSIM_CACHE_DIR": str(cache),
        "PYTHONPATH": str(ROOT),
    }
    for words in COMMANDS:
        command = [sys.executable, "-c", ENTRY, *words]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return needed


def main(directory: str) -> None:
    """Compile, put the kernels beside the package, build the wheel, and take them away again."""
    sys.path.insert(0, str(ROOT))
    from zsim.base.machine.kernel_cache import write_bundle  # noqa: PLC0415 -- of this checkout

    if DATA.exists():
        sys.exit(f"{DATA} is there already: remove it")
    with tempfile.TemporaryDirectory() as cache:
        needed = compile_kernels(Path(cache))
        try:
            count = write_bundle(needed, Path(cache))
            build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", directory, str(ROOT)]
            subprocess.run(build, check=True)
        finally:
            shutil.rmtree(DATA, ignore_errors=True)
    sys.stdout.write(f"{count} kernels are in the wheel in {directory}\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
