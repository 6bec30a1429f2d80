"""Start the page. `python app.py` needs nothing else: it serves the bundled pair of
models on this machine."""

from __future__ import annotations

import argparse
import json
import logging
import os
from pathlib import Path

NAMES = Path(__file__).with_name("assets") / "pair_catalog.json"

EPILOG = """\
examples:
  python app.py                                   the bundled pair, at http://127.0.0.1:7860
  python app.py --port 8000 --host 0.0.0.0        for everyone on the local network
  python app.py --pair qwen3-8b                   a pair by name, downloaded where it is not there
  python app.py --target ./big --draft ./small    two models of your own with the same tokenizer
  python app.py --target ./huge --draft ./small --offload    the large one does not fit the GPU
  python app.py --public                          tighter limits, for strangers

The page opens at once on a recorded run, while the models load. GRADIO_SERVER_PORT sets the port
where --port does not. The Models tab loads other pairs while the page runs. Nothing is sent
anywhere and nothing is downloaded, unless you ask for models of the Hugging Face hub, here or in
that tab, or give --share.
"""


def known_pairs() -> list[str]:
    """Names that --pair takes."""
    return [
        "bundled",
        *(one["name"] for one in json.loads(NAMES.read_text(encoding="utf-8"))["pairs"]),
    ]


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="app.py",
        description="Watch real tree speculative decoding (Sequoia) in the browser.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    models = made.add_argument_group("models")
    models.add_argument(
        "--pair",
        metavar="NAME",
        help=f"a pair by name: {', '.join(known_pairs())} (default: bundled)",
    )
    models.add_argument(
        "--target",
        metavar="MODEL",
        help="large model: a folder or Hugging Face id (default: the bundled one)",
    )
    models.add_argument(
        "--draft",
        metavar="MODEL",
        help="small model with the same tokenizer (default: the bundled one)",
    )
    models.add_argument(
        "--device",
        default="auto",
        help="auto, spread, cpu, cuda or cuda:N (default: auto, CUDA where there is "
        "one, and as few cards as hold the pair; spread: the target over all cards)",
    )
    models.add_argument(
        "--dtype",
        default="auto",
        help="auto, float32, bfloat16 or float16 (default: auto, what runs fastest)",
    )
    models.add_argument(
        "--offload",
        nargs="?",
        type=int,
        const=True,
        default=False,
        metavar="N",
        help=(
            "for a target larger than the GPU: stream its layers from host memory, but for N that "
            "stay (without N: as many as fit)"
        ),
    )
    server = made.add_argument_group("server")
    server.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen on (default: 127.0.0.1, this machine only)",
    )
    server.add_argument(
        "--port",
        type=int,
        help="port (default: GRADIO_SERVER_PORT, else the first free one from 7860 on)",
    )
    server.add_argument(
        "--share",
        action="store_true",
        help="make a temporary public address through Gradio's own service",
    )
    server.add_argument(
        "--public",
        action="store_true",
        help="for visitors you do not know: the bundled pair only, at most 512 "
        "tokens, 256 nodes and 60 seconds a run",
    )
    return made


def checked(arguments: argparse.Namespace, made: argparse.ArgumentParser) -> argparse.Namespace:
    """`arguments`, or an exit with the reason."""
    if (arguments.target is None) != (arguments.draft is None):
        made.error("--target and --draft come together: the two models must share a tokenizer")
    if arguments.pair is not None and arguments.target is not None:
        made.error(
            "--pair names a pair, --target and --draft name its models; leave out one or the other"
        )
    if arguments.pair not in (None, *known_pairs()):
        made.error(f"--pair {arguments.pair} is unknown; known are {', '.join(known_pairs())}")
    if arguments.public and (
        arguments.target is not None or arguments.pair not in (None, "bundled")
    ):
        made.error("--public serves the bundled pair; leave out --pair, --target and --draft")
    if arguments.offload is not False and arguments.offload < 0:
        made.error(f"--offload {arguments.offload} is not a number of layers from 0 up")
    if arguments.offload is not False and arguments.device == "spread":
        made.error(
            "--offload streams from one device, --device spread divides over several; leave "
            "out one of the two"
        )
    if arguments.port is not None and not 0 < arguments.port < 65536:
        made.error(f"--port {arguments.port} is not from 1 to 65535")
    return arguments


def set_up() -> bool:
    """What has to be said before Gradio and transformers are imported: no telemetry, and no proxy
    on the way to ourselves.

    This process asks nothing of the hub; downloads have one of their own. Gives back whether they
    may be made, which is up to HF_HUB_OFFLINE as it was.
    """
    online = os.environ.get("HF_HUB_OFFLINE", "").upper() not in ("1", "ON", "YES", "TRUE")
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    os.environ["HF_HUB_OFFLINE"] = "1"
    for name in ("NO_PROXY", "no_proxy"):
        hosts = [host for host in os.environ.get(name, "").split(",") if host]
        os.environ[name] = ",".join(dict.fromkeys([*hosts, "localhost", "127.0.0.1"]))
    return online


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def main() -> None:
    made = parser()
    arguments = checked(made.parse_args(), made)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    online = set_up()

    import torch

    from sequoia.loading.load import load
    from sequoia.loading.pair_request import PairRequest
    from ui.page import launch_options, page
    from ui.serving.model_host import ModelHost
    from ui.serving.sessions import LOCAL, PUBLIC

    torch.set_num_threads(max(1, cores() - 1))  # one core stays free for the page itself
    limits = PUBLIC if arguments.public else LOCAL
    request = PairRequest(
        arguments.pair or "bundled",
        arguments.target,
        arguments.draft,
        arguments.device,
        arguments.dtype,
        arguments.offload,
    )
    model_host = ModelHost(lambda: load(request, online, model_host.on_progress), limits.waiting)
    model_host.open()
    blocks = page(model_host, limits, online)
    _, address, public = blocks.launch(
        server_name=arguments.host,
        server_port=arguments.port,
        share=arguments.share,
        prevent_thread_lock=True,
        **launch_options(limits),
    )
    logging.info("Sequoia is at %s%s", address, f" and {public}" if public else "")
    blocks.block_thread()


if __name__ == "__main__":
    main()
