"""Starts the web page. Without options, `python app.py` serves the bundled pair of models to this
machine only."""

from __future__ import annotations

import argparse
import json
import logging
import os
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ui.serving.limits import LOCAL, PUBLIC
from ui.serving.process import (
    MESSAGE_SECONDS,
    STEP_SECONDS,
    PortRefused,
    Shutdown,
    require_port,
    use_little_memory,
    wait_until_sent,
    wanted_port,
)
from ui.serving.temporary_folder import NoTemporaryFolder, keep_small, make_folder, remove_folder

if TYPE_CHECKING:
    import gradio as gr

    from ui.serving.model_host import ModelHost

# as the draft: a copy of the target with its weights rounded, or a lookup in the text
DERIVED = ("int8", "int4", "ngram")
VISITORS_MAY = {"measure", "load"}
NAMES = Path(__file__).with_name("assets") / "pair_catalog.json"

EPILOG = """\
examples:
  python app.py                                   the bundled pair, at http://127.0.0.1:7860
  python app.py --port 8000 --host 0.0.0.0        for everyone on the local network
  python app.py --pair qwen3-8b                   a pair by name, downloaded if necessary
  python app.py --target ./big --draft ./small    two models of your own with the same tokenizer
  python app.py --target ./big --draft int8       no second model: a copy of the target in int8
  python app.py --target ./big --draft ngram      no draft model: tokens looked up in the text
  python app.py --target ./huge --draft ./small --offload    a target too large for the GPU
  python app.py --public                          tighter limits, for unknown visitors

The page shows a recorded run at once, while the models load. Without --public, the Models tab can
load other pairs while the page runs. The program contacts other machines only if you use --share,
or choose models from the Hugging Face Hub with an option or in the Models tab.

Limits without and with --public:
"""


def known_pairs() -> dict[str, bool]:
    """The names that --pair accepts, each with whether its target is streamed from host memory. If
    the catalog of pairs cannot be read, only "bundled" is accepted."""
    try:
        pairs = json.loads(NAMES.read_text(encoding="utf-8-sig"))["pairs"]
        return {"bundled": False, **{pair["name"]: pair.get("offload", False) for pair in pairs}}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return {"bundled": False}


def sizes_table() -> str:
    """The limits on uploads and files, one per line, each without and with --public."""
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
        help="the large model: a folder or Hugging Face id (default: the target of --pair)",
    )
    models.add_argument(
        "--draft",
        metavar="MODEL",
        help="the small model, with the same tokenizer; or int8 or int4, a copy of the target with "
        "its weights rounded; or ngram, a lookup in the text (default: the draft of --pair)",
    )
    models.add_argument(
        "--device",
        default="auto",
        help="auto (default): as few GPUs as the pair needs, or the CPU if no GPU can be used; "
        "spread: the target on all GPUs; or cpu, cuda, cuda:N",
    )
    models.add_argument(
        "--dtype",
        default="auto",
        help="auto (default): for a small model on the CPU the dtype measured as fastest, for any "
        "other model the usual one of its device; or one by name, such as bfloat16",
    )
    models.add_argument(
        "--offload",
        nargs="?",
        type=int,
        const=True,
        default=False,
        metavar="N",
        help=(
            "for a target larger than the GPU: keep N of its layers on the GPU and stream the "
            "others from host memory (without N: keep as many layers as fit)"
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
        help="port (default: the environment variable GRADIO_SERVER_PORT, else the first free port "
        "from 7860 up)",
    )
    server.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="also answer requests for this host name, for example demo.example.org (may be "
        "repeated; IP addresses and this machine's own name are always allowed)",
    )
    server.add_argument(
        "--trusted-proxy",
        action="append",
        default=[],
        metavar="IP",
        help="trust the X-Forwarded headers of the proxy with this IP address; a network such as "
        "10.0.0.0/8 stands for all its addresses (may be repeated)",
    )
    server.add_argument(
        "--per-address",
        type=int,
        metavar="N",
        help="allow at most N waiting or running runs per network address (default: no limit, "
        "because all visitors behind one router share an address; cannot be combined with --share, "
        "where all visitors have the same address)",
    )
    server.add_argument(
        "--measure",
        action="store_true",
        help="measure step times for half a minute at the start, so that better trees are planned "
        "(default: two seconds)",
    )
    server.add_argument(
        "--share",
        action="store_true",
        help="also serve the page at a temporary public address, through Gradio's service",
    )
    server.add_argument(
        "--visitors-may",
        default="",
        metavar="ACTS",
        help="what visitors without the owner's link, which is printed at the start, may do for "
        "all: measure (time this machine), load (other models), or measure,load. Without the "
        "option: nothing; but on a server that only this machine reaches, everyone may do both",
    )
    server.add_argument(
        "--public",
        action="store_true",
        help="for unknown visitors: only the bundled pair, at most 512 tokens and 60 seconds per "
        "run, and at most 256 nodes per tree",
    )
    return made


def checked(arguments: argparse.Namespace, made: argparse.ArgumentParser) -> argparse.Namespace:
    """`arguments`, if they pass the checks below. Otherwise prints the reason and exits. The values
    of --device and --dtype are checked when the pair is loaded."""
    is_derived = arguments.draft in DERIVED
    if (arguments.target is None) != (arguments.draft is None) and not is_derived:
        made.error(
            "--target and --draft must be given together, because the two models must have the "
            f"same tokenizer; only --draft {', '.join(DERIVED)} may be given alone"
        )
    if arguments.pair is not None and arguments.target is not None:
        made.error(
            "--pair cannot be combined with --target and --draft; leave out --pair or the other two"
        )
    pairs = known_pairs()
    if arguments.pair not in (None, *pairs):
        made.error(f"--pair {arguments.pair} is unknown; known: {', '.join(pairs)}")
    named = arguments.target or arguments.draft
    if arguments.public and (named is not None or arguments.pair not in (None, "bundled")):
        made.error("--public serves only the bundled pair; leave out --pair, --target and --draft")
    if arguments.offload is not False and arguments.offload < 0:
        made.error(f"--offload {arguments.offload}: the number of layers must be at least 0")
    if arguments.offload is not False and arguments.device == "spread":
        made.error(
            "--offload uses one GPU and --device spread uses several; leave out one of the two"
        )
    if arguments.pair is not None and pairs[arguments.pair] and arguments.device == "spread":
        made.error(
            f"--pair {arguments.pair} streams its target to one GPU, and --device spread uses "
            "several; choose another pair or device"
        )
    if arguments.port is not None and not 0 < arguments.port < 65536:
        made.error(f"--port {arguments.port} is not a port from 1 to 65535")
    if arguments.per_address is not None and arguments.per_address < 1:
        made.error(f"--per-address {arguments.per_address}: the number of runs must be at least 1")
    if arguments.per_address is not None and arguments.share:
        made.error(
            "--per-address cannot be combined with --share: through the shared address all "
            "visitors come from one network address, so they would share the limit"
        )
    acts = {act.strip() for act in arguments.visitors_may.split(",")} - {""}
    if unknown := acts - VISITORS_MAY:
        made.error(
            f"--visitors-may {', '.join(sorted(unknown))} is unknown; known: "
            f"{', '.join(sorted(VISITORS_MAY))}"
        )
    if acts and arguments.public:
        made.error("--public lets visitors measure and load nothing; leave out --visitors-may")
    arguments.visitors_may = acts
    for proxy in arguments.trusted_proxy:
        try:
            ip_network(proxy, strict=False)
        except ValueError:
            made.error(
                f"--trusted-proxy {proxy} is not an IP address or a network such as 10.0.0.0/8"
            )
    return arguments


def is_alone(arguments: argparse.Namespace) -> bool:
    """Whether the server is meant for this machine only, and listens on it only."""
    from ui.serving.owner import is_loopback

    return is_loopback(arguments.host) and not (arguments.share or arguments.public)


def set_up() -> bool:
    """Set environment variables. Must be called before Gradio and transformers are imported.

    HF_HUB_OFFLINE is set because downloads run in a separate process, and this process never
    accesses the Hub. Returns whether the variable's original value allows downloads.
    """
    online = os.environ.get("HF_HUB_OFFLINE", "").upper() not in ("1", "ON", "YES", "TRUE")
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    # uvicorn must not apply X-Forwarded headers: ui/serving/sender.py does
    os.environ["FORWARDED_ALLOW_IPS"] = ""
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ.pop("GRADIO_DEBUG", None)  # with it, `launch` would not return
    # Gradio calls this server by HTTP, and some proxy settings make its HTTP library fail. Only the
    # process that downloads models needs them: download_worker.py gives them their names back.
    for name in list(os.environ):
        if name.lower().endswith("_proxy") and not name.startswith("SEQUOIA_"):
            os.environ["SEQUOIA_" + name] = os.environ.pop(name)
    return online


def cores() -> int:
    """The number of CPU cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def close(model_host: ModelHost, blocks: gr.Blocks) -> None:
    """End all jobs, send their pages a last message, and stop the server."""
    from gradio.tunneling import CURRENT_TUNNELS

    model_host.close("The server was stopped.", STEP_SECONDS)
    wait_until_sent(blocks._queue, MESSAGE_SECONDS)
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

    from sequoia import machine
    from sequoia.loading.load import load
    from sequoia.loading.pair_request import PairRequest
    from ui.page import launch_options, page
    from ui.serving.gradio_changes import change_gradio
    from ui.serving.guards import Address
    from ui.serving.measure_machine import measure_machine
    from ui.serving.model_host import ModelHost
    from ui.serving.one_each import OneEach
    from ui.serving.owner import Owner

    change_gradio()
    torch.set_num_threads(max(1, cores() - 1))  # leaves a core for the page, if possible
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
    owner = Owner(is_alone(arguments), arguments.visitors_may)
    model_host = ModelHost(
        lambda: load(request, online, model_host.on_progress),
        limits.waiting,
        OneEach(arguments.per_address),
        measure_machine if arguments.measure else machine,
        owner,
    )
    model_host.open()
    keep_small(folder, limits.kept, limits.kept_files)
    blocks = page(model_host, limits, online)
    _, url, share_url = blocks.launch(
        server_name=arguments.host,
        server_port=port,
        share=arguments.share,
        prevent_thread_lock=True,
        **launch_options(model_host, limits, address),
    )
    if share_url:
        address.add_share(urlsplit(share_url).netloc)
    logging.info("Sequoia is at %s%s", url, f" and {share_url}" if share_url else "")
    logging.info(
        "The owner's link: %s (for you alone: its runs go first, and on a page that others can "
        "reach only it may measure the machine and load models)",
        owner.link(share_url or url),
    )
    shutdown.wait_and_end(lambda: close(model_host, blocks))


if __name__ == "__main__":
    main()
