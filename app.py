# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "torch==2.13.0",
#     "transformers==5.23.0",
#     "accelerate==1.15.0",
#     "gradio==6.31.0",
#     "plotly==7.1.0",
#     "networkx==3.6.1",
#     "huggingface_hub==2.4.0",
#     "numpy==2.4.6",
#     "orjson==3.13.0",
#     "psutil==7.2.2",
#     "pydantic==2.14.4",
#     "safetensors==0.8.0",
#     "tokenizers==0.23.3",
#     "tqdm==4.70.1",
# ]
# ///
"""Starts the web page. Without options, `python app.py` serves the bundled pair of models to this
machine only."""

from __future__ import annotations

import argparse
import logging
import os
from collections.abc import Callable
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ui.serving.process import (
    PortRefused,
    Shutdown,
    require_port,
    use_little_memory,
    wait_until_sent,
)
from ui.serving.temporary_folder import NoTemporaryFolder, keep_small, make_folder, remove_folder

if TYPE_CHECKING:
    import gradio as gr

    from sequoia.loading.pair_request import PairRequest
    from ui.serving.limits import Limits
    from ui.serving.model_host import ModelHost

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

The page shows a recorded run at once, while the models load. Without --public, the page can
load other pairs: press the name of the pair at the top. The program contacts other machines only if
you use --share, or choose models from the Hugging Face Hub with an option or on the page.
"""


def number(least: int, most: int) -> Callable[[str], int]:
    """A type of option: a whole number from `least` to `most`."""

    def read(text: str) -> int:
        if not text.isdecimal() or not least <= int(text[:9]) <= most:
            raise argparse.ArgumentTypeError(
                f"{text[:40]!r} is not a whole number from {least} to {most}"
            )
        return int(text)

    return read


def network(text: str) -> str:
    """A type of option: an IP address, or a network such as 10.0.0.0/8."""
    return str(ip_network(text, strict=False))


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="app.py",
        description="Watch real tree speculative decoding (Sequoia) in the browser.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_models(made.add_argument_group("models"))
    _add_server(made.add_argument_group("server"))
    return made


def _add_models(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--pair", metavar="NAME", default="bundled", help="a pair by name (default: bundled)")
    add(
        "--target",
        metavar="MODEL",
        help="the large model: a folder or Hugging Face id (default: the target of --pair)",
    )
    add(
        "--draft",
        metavar="MODEL",
        help="the small model, with the same tokenizer; or int8 or int4, a copy of the target with "
        "its weights rounded; or ngram, a lookup in the text (default: the draft of --pair)",
    )
    add(
        "--device",
        default="auto",
        help="auto (default): as few GPUs as the pair needs, or the CPU if no GPU can be used; "
        "spread: the target on all GPUs; or cpu, cuda, cuda:N",
    )
    add(
        "--dtype",
        default="auto",
        help="auto (default): the narrowest in which the device computes fast; or one by name",
    )
    add(
        "--offload",
        nargs="?",
        type=number(0, 10_000),
        const=True,
        default=False,
        metavar="N",
        help="for a target larger than the GPU: keep N of its layers on the GPU and stream the "
        "others from host memory (without N: keep as many layers as fit)",
    )


def _add_server(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    is_space = "SPACE_ID" in os.environ  # a Hugging Face Space sets it
    add(
        "--host",
        default="0.0.0.0" if is_space else "127.0.0.1",
        help="address (default: 127.0.0.1, this machine only; on a Hugging Face Space 0.0.0.0)",
    )
    add(
        "--port",
        type=number(1, 65535),
        default=os.environ.get("GRADIO_SERVER_PORT") or None,
        help="default: the environment variable GRADIO_SERVER_PORT, else the first free one from "
        "7860 up",
    )
    add(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="also answer requests for this host name, for example demo.example.org (may be "
        "repeated; IP addresses and this machine's own name are always allowed)",
    )
    add(
        "--trusted-proxy",
        action="append",
        type=network,
        default=[],
        metavar="IP",
        help="trust the X-Forwarded headers of the proxy with this IP address; a network such as "
        "10.0.0.0/8 stands for all its addresses (may be repeated)",
    )
    add(
        "--per-address",
        type=number(1, 10_000),
        metavar="N",
        help="allow at most N waiting or running runs per network address (default: no limit, "
        "because all visitors behind one router share an address)",
    )
    add(
        "--measure",
        action="store_true",
        help="time this machine for half a minute at the start, not two seconds, so that better "
        "trees are planned",
    )
    add("--share", action="store_true", help="also serve the page at a public address of Gradio's")
    add(
        "--visitors-may",
        nargs="+",
        choices=("measure", "load"),
        default=(),
        help="what visitors without the owner's link, which is printed at the start, may do for "
        "all: measure (time this machine), load (other models; for people you trust), or both. "
        "Without the option: nothing; but on a server that only this machine reaches, everyone may "
        "do both",
    )
    add(
        "--api",
        choices=("decode",),
        help="with --public: let other programs decode too, at most 64 tokens and 10 seconds per "
        "run (without --public they always may)",
    )
    add(
        "--public",
        action="store_true",
        default=is_space,
        help="for unknown visitors: only the pair of --pair, at most 512 tokens and 60 seconds per "
        "run, and at most 256 nodes per tree (always on a Hugging Face Space)",
    )


def contradiction(arguments: argparse.Namespace) -> str:
    """Why the options of the server cannot be combined; "" if they can. Those of the models are
    checked by PairRequest, and when the pair is loaded."""
    if os.environ.get("SPACES_ZERO_GPU"):
        return (
            "a Space with ZeroGPU lends its GPU for single calls, but this program keeps its "
            "models on it; choose a CPU or a GPU of its own in the Space's settings"
        )
    if arguments.public and (arguments.target or arguments.draft):
        return "--public serves only named pairs; leave out --target and --draft"
    if arguments.public and arguments.visitors_may:
        return "--public lets visitors measure and load nothing; leave out --visitors-may"
    if arguments.per_address and arguments.share:
        return (
            "--per-address cannot be combined with --share: through the shared address all "
            "visitors come from one network address, so they would share the limit"
        )
    return ""


def set_up() -> bool:
    """Set environment variables. Must be called before Gradio and transformers are imported.

    HF_HUB_OFFLINE is set because downloads run in a separate process, and this process never
    accesses the Hub. Returns whether the variable's original value allows downloads.
    """
    online = os.environ.get("HF_HUB_OFFLINE", "").upper() not in ("1", "ON", "YES", "TRUE")
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ.pop("GRADIO_DEBUG", None)  # with it, `launch` would not return
    os.environ.pop("SYSTEM", None)  # on a Space; with it, Gradio watches files to reload the app
    # Gradio calls this server by HTTP, and some proxy settings make its HTTP library fail. Only the
    # process that downloads models needs them: download_worker.py gives them their names back.
    for name in list(os.environ):
        if name.lower().endswith("_proxy") and not name.startswith("SEQUOIA_"):
            os.environ["SEQUOIA_" + name] = os.environ.pop(name)
    return online


def is_alone(arguments: argparse.Namespace) -> bool:
    """Whether the server is meant for this machine only, and listens on it only."""
    from ui.serving.owner import is_loopback

    return is_loopback(arguments.host) and not (arguments.share or arguments.public)


def api_limits(arguments: argparse.Namespace, limits: Limits) -> Limits | None:
    """The limits on runs that other programs ask for; None if they may ask for none."""
    if not arguments.public:
        return limits
    return replace(limits, tokens=64, seconds=10.0) if arguments.api else None


def close(model_host: ModelHost, blocks: gr.Blocks) -> None:
    """Send all pages a last message, and stop the server."""
    from gradio.tunneling import CURRENT_TUNNELS

    model_host.close("The server was stopped.")
    wait_until_sent(blocks._queue)
    for tunnel in CURRENT_TUNNELS:
        tunnel.kill()
    blocks.close(verbose=False)


def requested(arguments: argparse.Namespace) -> PairRequest:
    """Raises BadPair or BadModel for options that contradict each other, and for unknown pairs."""
    from sequoia.errors import BadPair
    from sequoia.loading.pair_request import PairRequest, pinned_pairs

    request = PairRequest(
        arguments.pair,
        arguments.target,
        arguments.draft,
        arguments.device,
        arguments.dtype,
        arguments.offload,
    )
    _ = request.models  # looks for the pair
    if arguments.public and not request.is_pinned:
        raise BadPair(
            "--public serves only pairs whose files are always the same: "
            f"{', '.join(pinned_pairs())}, not {request.name}"
        )
    return request


def serve(
    arguments: argparse.Namespace, request: PairRequest, folder: Path, online: bool
) -> tuple[ModelHost, gr.Blocks]:
    """Build the page and launch it, while the requested pair is loaded. folder: the temporary one.
    online: whether models may be downloaded."""
    import torch

    from sequoia import machine
    from sequoia.loading.load import load
    from sequoia.models.native.library import do_not_compile
    from ui.hardware.profile_job import measure_machine
    from ui.page import launch_options, page
    from ui.serving.gradio_changes import change_gradio
    from ui.serving.guards import Address, trusted_proxies
    from ui.serving.limits import LOCAL, PUBLIC
    from ui.serving.model_host import ModelHost
    from ui.serving.owner import Owner

    change_gradio()
    if arguments.public:
        do_not_compile()
    # leaves a core for the page, if possible
    torch.set_num_threads(max(1, len(os.sched_getaffinity(0)) - 1))
    limits = replace(PUBLIC if arguments.public else LOCAL, per_address=arguments.per_address)
    os.environ["FORWARDED_ALLOW_IPS"] = trusted_proxies(arguments.trusted_proxy)  # for uvicorn
    address = Address([*arguments.allow_host, arguments.host], bool(arguments.trusted_proxy))
    owner = Owner(is_alone(arguments), arguments.visitors_may)
    model_host = ModelHost(
        lambda: load(request, online, model_host.on_progress),
        limits.waiting,
        measure_machine if arguments.measure else machine,
        owner,
        Path(request.models[-1]).name,
    )
    model_host.open()
    keep_small(folder, limits.kept, limits.kept_files)
    blocks = page(model_host, limits, online, api_limits(arguments, limits))
    _, url, share_url = blocks.launch(
        server_name=arguments.host,
        server_port=arguments.port,
        share=arguments.share,
        prevent_thread_lock=True,
        **launch_options(model_host, limits, address),
    )
    if share_url:
        address.names.add(urlsplit(share_url).netloc.lower())
    logging.info("Sequoia is at %s%s", url, f" and {share_url}" if share_url else "")
    logging.info(
        "The owner's link: %s (for you alone: its runs go first, and on a page that others can "
        "reach only it may measure the machine and load models)",
        owner.link(share_url or url),
    )
    return model_host, blocks


def main() -> None:
    made = parser()
    arguments = made.parse_args()
    if problem := contradiction(arguments):
        made.error(problem)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    try:
        require_port(arguments.host, arguments.port)
        folder = make_folder()
    except (PortRefused, NoTemporaryFolder) as problem:
        made.exit(1, f"{made.prog}: {problem}\n")
    shutdown = Shutdown(lambda: remove_folder(folder))
    use_little_memory()
    online = set_up()
    from sequoia import SequoiaError

    try:
        request = requested(arguments)
    except SequoiaError as problem:
        remove_folder(folder)
        made.exit(1, f"{made.prog}: {problem}\n")
    model_host, blocks = serve(arguments, request, folder, online)
    shutdown.wait_and_end(lambda: close(model_host, blocks))


if __name__ == "__main__":
    main()
