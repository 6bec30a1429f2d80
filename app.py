"""Starts the web page. `python app.py` without options serves the bundled pair of models on this
machine."""

from __future__ import annotations

import argparse
import json
import logging
import os
import time
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ui.serving.limits import LOCAL, PUBLIC
from ui.serving.port import PortRefused, require_port, wanted_port
from ui.serving.shutdown import MESSAGE_SECONDS, STEP_SECONDS, Shutdown
from ui.serving.temporary_folder import NoTemporaryFolder, keep_small, make_folder, remove_folder
from ui.serving.thread_memory import use_little_memory

if TYPE_CHECKING:
    import gradio as gr

    from ui.serving.model_host import ModelHost

NAMES = Path(__file__).with_name("assets") / "pair_catalog.json"

EPILOG = """\
examples:
  python app.py                                   the bundled pair, at http://127.0.0.1:7860
  python app.py --port 8000 --host 0.0.0.0        for everyone on the local network
  python app.py --pair qwen3-8b                   a pair by name, downloaded if necessary
  python app.py --target ./big --draft ./small    two models of your own with the same tokenizer
  python app.py --target ./huge --draft ./small --offload    the large one does not fit on the GPU
  python app.py --public                          tighter limits, for unknown visitors

The page shows a recorded run at once, while the models load. GRADIO_SERVER_PORT sets the port if
--port does not. Other pairs can be loaded in the Models tab while the page runs. Nothing is sent
anywhere and nothing is downloaded, unless you choose models from the Hugging Face Hub, here or in
that tab, or use --share.

Limits, and those with --public:
"""


def known_pairs() -> list[str]:
    """The names that --pair accepts. The bundled pair can be served without the file of the
    others."""
    try:
        pairs = json.loads(NAMES.read_text(encoding="utf-8"))["pairs"]
        return ["bundled", *(pair["name"] for pair in pairs)]
    except (OSError, ValueError, LookupError, TypeError):
        return ["bundled"]


def sizes_table() -> str:
    """The limits on what is sent, one per line, with those of --public beside them."""
    public = PUBLIC.sizes()
    return "\n".join(
        f"  {what:<48}{size:>8}{public[what]:>8}" for what, size in LOCAL.sizes().items()
    )


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="app.py",
        description="Watch real tree speculative decoding (Sequoia) in the browser.",
        epilog=EPILOG + sizes_table(),
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
        help="the large model: a folder or Hugging Face id (default: the bundled one)",
    )
    models.add_argument(
        "--draft",
        metavar="MODEL",
        help="the small model, with the same tokenizer (default: the bundled one)",
    )
    models.add_argument(
        "--device",
        default="auto",
        help="auto, spread, cpu, cuda or cuda:N (default: auto, CUDA if available, on as few GPUs "
        "as the pair needs; spread: the target on all GPUs)",
    )
    models.add_argument(
        "--dtype",
        default="auto",
        help="auto, float32, bfloat16 or float16 (default: auto, the fastest)",
    )
    models.add_argument(
        "--offload",
        nargs="?",
        type=int,
        const=True,
        default=False,
        metavar="N",
        help=(
            "for a target larger than the GPU: stream its layers from host memory, except N that "
            "stay on the GPU (without N: as many as fit)"
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
        help="port (default: GRADIO_SERVER_PORT, else the first free port from 7860)",
    )
    server.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="answer to this name too, for example demo.example.org (may be repeated; IP addresses "
        "and this machine's own name are always allowed)",
    )
    server.add_argument(
        "--trusted-proxy",
        action="append",
        default=[],
        metavar="IP",
        help="believe the X-Forwarded headers of this proxy, an IP address or network (may be "
        "repeated)",
    )
    server.add_argument(
        "--per-address",
        type=int,
        metavar="N",
        help="at most N runs in line from one network address (default: no limit, because a whole "
        "room behind a router has one address; not with --share, where all visitors have one)",
    )
    server.add_argument(
        "--measure",
        action="store_true",
        help="time this machine for half a minute at the start, to plan better trees (default: two "
        "seconds, or a profile that comes with the models)",
    )
    server.add_argument(
        "--share",
        action="store_true",
        help="create a temporary public address through Gradio's service",
    )
    server.add_argument(
        "--public",
        action="store_true",
        help="for unknown visitors: only the bundled pair, and at most 512 tokens, 256 nodes and "
        "60 seconds per run",
    )
    return made


def checked(arguments: argparse.Namespace, made: argparse.ArgumentParser) -> argparse.Namespace:
    """`arguments`, if they are valid; else exits with the reason."""
    if (arguments.target is None) != (arguments.draft is None):
        made.error(
            "--target and --draft must be given together: the two models must share a tokenizer"
        )
    if arguments.pair is not None and arguments.target is not None:
        made.error("--pair cannot be combined with --target and --draft; use one or the other")
    if arguments.pair not in (None, *known_pairs()):
        made.error(f"--pair {arguments.pair} is unknown; known: {', '.join(known_pairs())}")
    if arguments.public and (
        arguments.target is not None or arguments.pair not in (None, "bundled")
    ):
        made.error("--public serves the bundled pair; leave out --pair, --target and --draft")
    if arguments.offload is not False and arguments.offload < 0:
        made.error(f"--offload {arguments.offload} is not a number of layers from 0 up")
    if arguments.offload is not False and arguments.device == "spread":
        made.error("--offload uses one device, --device spread several; leave out one of the two")
    if arguments.port is not None and not 0 < arguments.port < 65536:
        made.error(f"--port {arguments.port} is not a port from 1 to 65535")
    if arguments.per_address is not None and arguments.per_address < 1:
        made.error(f"--per-address {arguments.per_address} is not a number of runs of at least 1")
    if arguments.per_address is not None and arguments.share:
        made.error(
            "--per-address cannot be combined with --share: through the shared address all "
            "visitors come from one network address, so they would share the limit"
        )
    for proxy in arguments.trusted_proxy:
        try:
            ip_network(proxy, strict=False)
        except ValueError:
            made.error(f"--trusted-proxy {proxy} is not an IP address or network")
    return arguments


def set_up() -> bool:
    """Set environment variables that must be set before Gradio and transformers are imported: no
    telemetry, and no proxy for requests to this machine.

    This process itself never accesses the Hub; downloads run in a process of their own. Returns
    whether downloads are allowed, from the original value of HF_HUB_OFFLINE.
    """
    online = os.environ.get("HF_HUB_OFFLINE", "").upper() not in ("1", "ON", "YES", "TRUE")
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    os.environ["FORWARDED_ALLOW_IPS"] = ""  # ui/serving/guards/sender.py reads those headers
    os.environ["HF_HUB_OFFLINE"] = "1"
    for name in ("NO_PROXY", "no_proxy"):
        hosts = [host for host in os.environ.get(name, "").split(",") if host]
        os.environ[name] = ",".join(dict.fromkeys([*hosts, "localhost", "127.0.0.1"]))
    return online


def cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def close(model_host: ModelHost, blocks: gr.Blocks) -> None:
    """End all jobs, tell their pages, and stop the server."""
    from gradio.tunneling import CURRENT_TUNNELS

    model_host.close("The server was stopped.", STEP_SECONDS)
    time.sleep(MESSAGE_SECONDS)
    for tunnel in CURRENT_TUNNELS:
        tunnel.kill()
    blocks.close(verbose=False)


def main() -> None:
    made = parser()
    arguments = checked(made.parse_args(), made)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    try:
        port = wanted_port(arguments.port)
        require_port(arguments.host, port)
        folder = make_folder()
    except (PortRefused, NoTemporaryFolder) as problem:
        made.exit(1, f"{made.prog}: {problem}\n")
    shutdown = Shutdown(lambda: remove_folder(folder))
    use_little_memory()
    online = set_up()

    import torch

    from sequoia.loading.load import load
    from sequoia.loading.pair_request import PairRequest
    from ui.page import launch_options, page
    from ui.serving.gradio_changes import change_gradio
    from ui.serving.guards.all_guards import Address
    from ui.serving.measure_machine import measure_machine
    from ui.serving.model_host import ModelHost
    from ui.serving.one_each import OneEach
    from ui.serving.short_pauses import ShortPauses

    change_gradio()
    torch.set_num_threads(max(1, cores() - 1))  # one core is left for the page itself
    limits = PUBLIC if arguments.public else LOCAL
    request = PairRequest(
        arguments.pair or "bundled",
        arguments.target,
        arguments.draft,
        arguments.device,
        arguments.dtype,
        arguments.offload,
    )
    address = Address([*arguments.allow_host, arguments.host], arguments.trusted_proxy)
    model_host = ModelHost(
        lambda: load(request, online, model_host.on_progress),
        limits.waiting,
        OneEach(arguments.per_address, address.proxies),
        *([measure_machine] if arguments.measure else []),
    )
    model_host.open()
    ShortPauses(model_host).start()
    keep_small(folder, limits.kept, limits.kept_files)
    blocks = page(model_host, limits, online)
    _, url, share_url = blocks.launch(
        server_name=arguments.host,
        server_port=port,
        share=arguments.share,
        prevent_thread_lock=True,
        **launch_options(limits, address),
    )
    if share_url:
        address.add_share(urlsplit(share_url).netloc)
    logging.info("Sequoia is at %s%s", url, f" and {share_url}" if share_url else "")
    shutdown.wait_and_end(lambda: close(model_host, blocks))


if __name__ == "__main__":
    main()
