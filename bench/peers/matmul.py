"""Peers of `attune bench matmul`: oneDNN's dnnl_sgemm and OpenBLAS's cblas_sgemm, each in a process of its own (build/peers/peer_matmul)."""
import os
import subprocess
import sys

# They tie OpenBLAS to kernels that are not the best this CPU can run.
TIES = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")


def present(root, own, attune):
    program = root / "build" / "peers" / "peer_matmul"
    if not program.exists():
        print("oneDNN and OpenBLAS are missing: run bench/setup_peers matmul", file=sys.stderr)
        return []
    environment = {name: value for name, value in os.environ.items() if name not in TIES}
    threads = [str(n) for n in sorted({line["threads"] for line in own})]
    found = []
    for name in ("onednn", "openblas"):
        if subprocess.run([program, name], capture_output=True).returncode == 3:  # no thread counts: nothing is run
            print(f"{name} is missing: run bench/setup_peers matmul", file=sys.stderr)
        else:
            found.append((name, [program, name, *threads], environment))
    return found
