"""Starts the app in a folder as a Hugging Face Space would, and prints what is answered at an
address that is not loopback. Run in a network namespace of its own:

    unshare --net --map-root-user python tests/space_probe.py FOLDER
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request

ADDRESS = "10.77.0.1"
HOST = "someone-sequoia.hf.space"
SPACE = {
    "SPACE_ID": "someone/sequoia",
    "SPACE_HOST": HOST,
    "SYSTEM": "spaces",
    "GRADIO_SERVER_NAME": "0.0.0.0",
    "GRADIO_SERVER_PORT": "7860",
}


def answer() -> dict[str, object]:
    """The page as the Space's proxy gets it, once it is served."""
    names = {"Host": HOST, "X-Forwarded-Host": HOST, "X-Forwarded-Proto": "https"}
    request = urllib.request.Request(f"http://{ADDRESS}:7860/", headers=names)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    end = time.monotonic() + 120
    while True:
        try:
            with opener.open(request, timeout=5) as found:
                page = found.read().decode()
                policy = found.headers["Content-Security-Policy"]
                return {"status": found.status, "policy": policy, "page": page}
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def main(folder: str) -> None:
    for command in ("ip link set lo up", f"ip address add {ADDRESS}/32 dev lo"):
        subprocess.run(command.split(), check=True)
    app = subprocess.Popen(
        [sys.executable, "app.py"],
        cwd=folder,
        env={**os.environ, **SPACE},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    found = answer()
    app.terminate()
    printed, _ = app.communicate(timeout=30)
    print(json.dumps({**found, "printed": printed}))


if __name__ == "__main__":
    main(sys.argv[1])
