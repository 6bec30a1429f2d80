"""Threats to the app. For each: the defence against it, and a test (or a test file) that fails
without this defence.

old, new: the change of one file that removes the defence.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutation:
    threat: str
    file: str
    old: str
    new: str
    test: str


_GUARDS = "tests/ui/serving/test_guards.py::"
_SERVED = "tests/ui/test_served.py::"
_SESSIONS = "tests/ui/serving/test_sessions.py::"
_TRACES = "tests/algorithm/test_step_trace.py::test_a_hostile_file_is_rejected_with_the_reason"
_PAGE = "ui/page.py"
_DOORS = "ui/serving/guards.py"
_RUN_FILE = "sequoia/saved_files/run_file.py"

REQUESTS = (
    Mutation(
        "a program calls a handler directly and skips Gradio's queue",
        _PAGE,
        "api_open=False",
        "api_open=True",
        _SERVED + "test_programs_are_offered_these_functions_alone",
    ),
    Mutation(
        "Gradio offers the handlers to programs as an API",
        "ui/shared/events.py",
        '"api_visibility": "private"}',
        '"api_visibility": "public"}',
        _SERVED + "test_programs_are_offered_these_functions_alone",
    ),
    Mutation(
        "Gradio's queue grows without end",
        _PAGE,
        "max_size=limits.requests, ",
        "",
        _SERVED + "test_gradios_queue_is_bounded",
    ),
    Mutation(
        "the page is served without guards",
        _PAGE,
        "all_guards(limits, address or Address())",
        "[]",
        _SERVED + "test_the_server_hides_errors_and_limits_sizes",
    ),
    Mutation(
        "a request of any size",
        _DOORS,
        "if self._size > self._most:",
        "if False:",
        _GUARDS + "test_requests_are_limited_even_if_they_declare_no_size",
    ),
    Mutation(
        "a request with very many lists takes many times its size in memory",
        _DOORS,
        "if self._lists > MAX_LISTS or",
        "if",
        _GUARDS + "test_requests_with_too_many_values_or_lists_are_refused",
    ),
    Mutation(
        "another site makes its own name point to this server",
        _DOORS,
        "if not (is_ip_address(name) or name in self._address.names):",
        "if False:",
        _GUARDS + "test_other_names_are_refused_and_the_message_names_allow_host",
    ),
    Mutation(
        "a visitor of the network measures the machine for all",
        "ui/hardware/tab.py",
        'self._model_host.owner.require(request, "measure")',
        "pass",
        "tests/ui/hardware/test_tab.py::test_a_visitor_of_the_network_cannot_measure",
    ),
    Mutation(
        "a visitor of the network loads models for all",
        "ui/models/tab.py",
        'self._model_host.owner.require(request, "load")',
        "pass",
        "tests/ui/models/test_tab.py::test_a_visitor_of_the_network_cannot_load_models",
    ),
    Mutation(
        "a visitor behind a proxy counts as the owner",
        "ui/serving/owner.py",
        "return not passed and",
        "return",
        "tests/ui/serving/test_owner.py::test_a_visitor_behind_a_proxy_is_not_the_owner",
    ),
    Mutation(
        "a second Host header is not checked",
        _DOORS,
        'hosts if len(hosts) == 1 else [""]',
        "hosts[:1]",
        _GUARDS + "test_two_host_headers_are_refused",
    ),
    Mutation(
        "a page of another site presses Run",
        _DOORS,
        'or origin.partition("://")[2] in hosts:',
        "or True:",
        _GUARDS + "test_other_origins_are_refused",
    ),
    Mutation(
        "a page of another site sends a request without an origin",
        _DOORS,
        'if site == "cross-site" and',
        "if False and",
        _GUARDS + "test_posts_from_other_sites_are_refused_even_without_an_origin_header",
    ),
    Mutation(
        "X-Forwarded headers are believed from any sender",
        "app.py",
        "= trusted_proxies(arguments.trusted_proxy)",
        '= "*"',
        "tests/browser/test_own_page_only.py::"
        "test_headers_of_a_proxy_that_is_not_trusted_are_ignored",
    ),
    Mutation(
        "another site's name is made to point to a proxy in front of this server",
        _DOORS,
        "for host in hosts if self._address.has_proxy else hosts[:1]:",
        "for host in hosts[:1]:",
        _GUARDS + "test_the_name_that_a_proxy_reports_last_must_be_ours",
    ),
    Mutation(
        "on a Space, a visitor puts a forged address before the one that the proxy writes",
        _DOORS,
        "_PRIVATE if space() else",
        '("0.0.0.0/0",) if space() else',
        _GUARDS + "test_a_forged_address_does_not_evade_the_upload_limit",
    ),
    Mutation(
        "an injected script sends data to another machine",
        _DOORS,
        """    "connect-src": "'self'",\n""",
        """    "connect-src": "*",\n""",
        _GUARDS + "test_every_answer_limits_what_the_page_may_load_and_send",
    ),
    Mutation(
        "another site shows the page in a frame",
        _DOORS,
        """    "frame-ancestors": "'self'",\n""",
        "",
        _GUARDS + "test_every_answer_limits_what_the_page_may_load_and_send",
    ),
    Mutation(
        "a browser takes a file for a script and runs it",
        _DOORS,
        'headers["X-Content-Type-Options"] = "nosniff"',
        "pass",
        _GUARDS + "test_every_answer_limits_what_the_page_may_load_and_send",
    ),
    Mutation(
        "a visitor makes the server fetch a web address",
        _DOORS,
        '":/" in scope["path"]',
        "False",
        _GUARDS + "test_the_server_fetches_no_web_address",
    ),
    Mutation(
        "Gradio downloads a file for a handler from a web address in the request",
        "ui/serving/gradio_changes.py",
        "    processing_utils.async_ssrf_protected_get = _refuse_download\n",
        "    pass\n",
        "tests/ui/serving/test_gradio_changes.py::test_a_file_with_a_web_address_is_not_downloaded",
    ),
    Mutation(
        "an unexpected error writes what a visitor sent to the log",
        "ui/serving/sender.py",
        'return f"{type(problem).__name__} in',
        'return f"{problem!r} in',
        _GUARDS + "test_an_unexpected_error_is_logged_as_one_line_without_its_text",
    ),
    Mutation(
        "bad requests fill the log, each with a whole traceback",
        "ui/serving/gradio_changes.py",
        "    for module in (gradio.queueing, gradio.routes):\n",
        "    for module in ():\n",
        "tests/ui/serving/test_gradio_changes.py::"
        "test_a_failed_handler_logs_one_line_without_the_data",
    ),
    Mutation(
        "a line break in a request's path begins a forged line in the log",
        "ui/serving/sender.py",
        '.replace("\\n", " ")',
        "",
        _GUARDS + "test_a_refused_request_is_one_line_in_the_log_without_its_body",
    ),
    Mutation(
        "visitors see the text of unexpected errors",
        _PAGE,
        '"show_error": False',
        '"show_error": True',
        _SERVED + "test_the_server_hides_errors_and_limits_sizes",
    ),
    Mutation(
        "Gradio sends usage data to its makers",
        "app.py",
        'os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"',
        "pass",
        _SERVED + "test_only_the_download_process_gets_the_proxies",
    ),
)

UPLOADS = (
    Mutation(
        "an upload of any size",
        _DOORS,
        "if self._size > most + _AROUND_A_FILE:",
        "if False:",
        _GUARDS + "test_an_upload_is_limited_even_if_it_declares_no_size",
    ),
    Mutation(
        "an upload with a file of any size",
        _PAGE,
        '"max_file_size": limits.upload',
        '"max_file_size": None',
        _SERVED + "test_the_server_hides_errors_and_limits_sizes",
    ),
    Mutation(
        "uploads from one network address fill the disk",
        _DOORS,
        "if self._sizes[sender] + size > self.limits.uploads_each:",
        "if False:",
        _GUARDS + "test_uploads_are_limited_per_address_and_in_total",
    ),
    Mutation(
        "uploads from many network addresses fill the disk",
        _DOORS,
        "if self._total + size > self.limits.uploads:",
        "if False:",
        _GUARDS + "test_uploads_are_limited_per_address_and_in_total",
    ),
    Mutation(
        "old uploads stay",
        _PAGE,
        ", delete_cache=(600, 3600)",
        "",
        _SERVED + "test_temporary_files_are_deleted",
    ),
    Mutation(
        "temporary files fill the disk",
        "ui/serving/temporary_folder.py",
        "if total > most or",
        "if False or",
        "tests/ui/serving/test_temporary_folder.py::"
        "test_the_oldest_files_are_removed_until_the_rest_fits",
    ),
    Mutation(
        "many tiny temporary files take all inodes",
        "ui/serving/temporary_folder.py",
        " or number > most_files:",
        ":",
        "tests/ui/serving/test_temporary_folder.py::"
        "test_the_oldest_of_many_tiny_files_are_removed_with_their_folders",
    ),
    Mutation(
        "folders stay when their files are removed, and take all inodes",
        "ui/serving/temporary_folder.py",
        "                    path.parent.rmdir()",
        "                    pass",
        "tests/ui/serving/test_temporary_folder.py::"
        "test_the_oldest_of_many_tiny_files_are_removed_with_their_folders",
    ),
    Mutation(
        "many tiny uploads take all inodes between two checks of the temporary folder",
        _DOORS,
        ' + BLOCK * text.count(b"filename")',
        "",
        _GUARDS + "test_each_tiny_file_counts_as_a_disk_block",
    ),
    Mutation(
        "a link in the temporary folder counts as the file or folder it points to",
        "ui/serving/temporary_folder.py",
        "status = path.lstat()",
        "status = path.stat()",
        "tests/ui/serving/test_temporary_folder.py::test_links_are_removed_and_not_followed",
    ),
)

FILES = (
    Mutation(
        "a file is read before its size is checked",
        "ui/shared/uploads.py",
        "if (size := Path(path).stat().st_size) > most:",
        "if False:",
        "tests/ui/decode/test_recordings.py::test_the_size_is_checked_before_the_file_is_read",
    ),
    Mutation(
        "a file with any number of values",
        "sequoia/validate_input.py",
        "> MAX_JSON_MARKS:",
        "> 10**12:",
        "tests/test_json_text.py::test_a_file_with_too_many_values_is_refused_before_it_is_parsed",
    ),
    Mutation(
        "NaN is written to a file",
        "sequoia/validate_input.py",
        "    _require_finite(value)\n    return",
        "    return",
        "tests/test_json_text.py::test_infinity_and_nan_are_not_written",
    ),
    Mutation(
        "opening a damaged file raises an unexpected error",
        "sequoia/validate_input.py",
        '    except ValueError as problem:\n        raise error(f"not a JSON',
        '    except MemoryError as problem:\n        raise error(f"not a JSON',
        "tests/ui/test_damaged_uploads.py::test_opening_raises_only_the_error_of_its_kind",
    ),
    Mutation(
        "a file with a list of any length",
        "sequoia/checked_types.py",
        "Many = Annotated[tuple[T, ...], Field(max_length=MAX_STEPS, fail_fast=True)]",
        "Many = Annotated[tuple[T, ...], Field(fail_fast=True)]",
        _TRACES,
    ),
    Mutation(
        "a run file with the texts of any number of tokens",
        _RUN_FILE,
        "Field(max_length=MAX_PIECES)",
        "Field()",
        _TRACES,
    ),
    Mutation(
        "a tree with a cycle",
        "sequoia/algorithm/tree.py",
        "else not 0 <= parent < node:",
        "else not 0 <= parent:",
        "tests/guarantee/test_tree.py::test_invalid_trees_are_rejected",
    ),
    Mutation(
        "a tree of any size",
        "sequoia/algorithm/tree.py",
        "if not 1 <= len(parents) <= MAX_NODES:",
        "if not 1 <= len(parents):",
        "tests/guarantee/test_tree.py::test_invalid_trees_are_rejected",
    ),
    Mutation(
        "true instead of a number from a slider",
        "sequoia/validate_input.py",
        "isinstance(value, bool) or not isinstance(value, Real)",
        "not isinstance(value, Real)",
        "tests/test_validate_input.py::test_a_number_has_no_other_type_and_is_in_its_range",
    ),
    Mutation(
        "an opened run claims to have been measured here",
        "ui/decode/recordings.py",
        "return replace(run, meta=messages.recorded(run.meta))",
        "return run",
        "tests/ui/test_saved_uploads.py::test_a_run_opens",
    ),
    Mutation(
        "opened files fill the memory",
        "ui/decode/recordings.py",
        "or self._total() > self._nodes",
        "",
        "tests/ui/decode/test_recordings.py::test_the_store_keeps_a_bounded_number_of_runs_and_nodes",
    ),
)

TEXTS = (
    Mutation(
        "HTML in a message is rendered",
        "ui/shared/markup.py",
        "html.escape(visible(short), quote=True)",
        "visible(short)",
        _SERVED + "test_pop_ups_show_exactly_the_text",
    ),
    Mutation(
        "invisible characters make a message look different from what it says",
        "ui/shared/markup.py",
        'in _UNSEEN and c != "\\n"',
        "in ()",
        _SERVED + "test_pop_ups_show_exactly_the_text",
    ),
    Mutation(
        "a closing script tag in a text ends the script around it",
        "ui/shared/markup.py",
        '        .replace("<", "\\\\u003c")\n',
        "",
        _SERVED + "test_a_literal_does_not_end_its_script",
    ),
    Mutation(
        "Plotly interprets tags in a name from a file",
        "ui/shared/markup.py",
        "return html.escape(visible(text), quote=False)",
        "return text",
        "tests/ui/hardware/test_figures.py",
    ),
)

VISITORS = (
    Mutation(
        "two runs use the models at once",
        "ui/serving/fair_queue.py",
        "while (ahead := self._line.index(work)) > 0:",
        "while (ahead := self._line.index(work)) > 99:",
        "tests/ui/serving/test_fair_queue.py::"
        "test_visitors_are_served_in_order_and_get_their_position",
    ),
    Mutation(
        "a queue of any length",
        "ui/serving/fair_queue.py",
        "if len(self._line) >= self._most",
        "if False",
        "tests/ui/serving/test_fair_queue.py::test_a_full_queue_refuses_at_once",
    ),
    Mutation(
        "one visitor has a job in line in every view",
        "ui/serving/session_view.py",
        "            if who in jobs and jobs[who] is not replaced:",
        "            if False:",
        _SESSIONS + "test_a_visitor_has_one_run_in_all_views",
    ),
    Mutation(
        "one network address has more jobs in line than --per-address allows",
        "ui/serving/session_view.py",
        "if most is not None and len(same) >= most:",
        "if False:",
        _SESSIONS + "test_an_address_has_a_limited_number_of_runs",
    ),
    Mutation(
        "a job keeps its place in the queue after its page was closed",
        "ui/serving/job.py",
        "if not self._inbox.is_read(UNREAD_SECONDS):",
        "if False:",
        "tests/ui/serving/test_session_view.py::test_a_job_that_nobody_reads_is_dropped",
    ),
    Mutation(
        "strangers follow a run, and see its prompt, without its visitor's permission",
        "ui/serving/run_job.py",
        "return self.busy and self.is_shared and self.recording is not None",
        "return self.busy and self.recording is not None",
        "tests/ui/serving/test_following.py::"
        "test_on_a_public_page_nobody_follows_unless_the_runs_visitor_allows_it",
    ),
    Mutation(
        "someone who begins to follow a run just as it ends gets an error",
        "ui/serving/run_job.py",
        "            if message is None:\n                return None\n",
        "",
        "tests/ui/serving/test_following.py::"
        "test_a_run_that_ends_as_a_follower_enters_is_not_shown",
    ),
    Mutation(
        "with --share, all visitors share the limit of --per-address",
        "app.py",
        "    if arguments.per_address and arguments.share:",
        "    if False:",
        _SERVED + "test_flags_that_contradict_are_refused",
    ),
    Mutation(
        "any visitor of a public page measures the machine",
        "ui/hardware/tab.py",
        "if self._limits.measures:",
        "if True:",
        "tests/ui/test_served.py::test_a_public_page_cannot_measure_the_machine",
    ),
    Mutation(
        "one visitor has two runs at once in the same view",
        "ui/serving/sessions.py",
        "if last and last.busy and not last.is_replaceable:",
        "if False:",
        _SESSIONS + "test_one_run_per_visitor",
    ),
    Mutation(
        "the server remembers the runs of any number of visitors",
        "ui/serving/sessions.py",
        "is_full = last is None and len(self._runs) >= self._limits.sessions",
        "is_full = False",
        _SESSIONS + "test_full_sessions_forget_the_idle_and_refuse_when_all_are_busy",
    ),
    Mutation(
        "a run in progress is dropped to make room for another visitor's",
        "ui/serving/sessions.py",
        "for who, run in self._runs.items() if not run.busy), None)",
        "for who, run in self._runs.items()), None)",
        _SESSIONS + "test_full_sessions_forget_the_idle_and_refuse_when_all_are_busy",
    ),
    Mutation(
        "paused runs fill the memory",
        "ui/serving/sessions.py",
        "paused[: max(len(paused) - self._limits.held, 0)]",
        "paused[:0]",
        _SESSIONS + "test_only_the_newest_paused_runs_keep_their_caches",
    ),
    Mutation(
        "a visitor who left keeps the models busy",
        "ui/serving/sessions.py",
        "        if run:\n            run.halt()\n            run.release()",
        "        if run:\n            run.release()",
        _SESSIONS + "test_a_visitor_who_leaves_is_forgotten_and_their_run_ends",
    ),
    Mutation(
        "a job's caches are freed while it uses them",
        "ui/serving/job.py",
        "if now or not self._busy:",
        "if True:",
        "tests/ui/serving/test_released_job.py::test_a_busy_job_is_freed_after_its_step",
    ),
    Mutation(
        "a run whose visitor left during a step keeps its caches",
        "ui/serving/job.py",
        "if broken or self._released:",
        "if broken:",
        "tests/ui/serving/test_released_job.py::test_a_busy_job_is_freed_after_its_step",
    ),
    Mutation(
        "a run goes on past its time limit",
        "ui/serving/pausable_job.py",
        "            if self._is_late:\n                break\n",
        "",
        "tests/ui/decode/test_run.py::test_a_run_ends_at_its_time_limit",
    ),
    Mutation(
        "a prompt of any length",
        "ui/shared/prompts.py",
        "if len(prompt) > most:",
        "if False:",
        "tests/ui/decode/test_request.py::test_public_pages_have_their_own_limits",
    ),
    Mutation(
        "a visitor guesses the names of other visitors' runs",
        "ui/decode/recordings.py",
        "return secrets.token_urlsafe(9)",
        'return f"{random.getrandbits(72):x}"',
        "tests/ui/decode/test_recordings.py::test_names_cannot_be_guessed",
    ),
    Mutation(
        "Gradio remembers the state of thousands of sessions",
        _PAGE,
        '"state_session_capacity": 96',
        '"state_session_capacity": 10_000',
        _SERVED + "test_the_server_hides_errors_and_limits_sizes",
    ),
    Mutation(
        "Gradio describes all components for each new visitor while the others wait",
        "ui/serving/gradio_changes.py",
        "    SessionState.__init__ = _begin_session\n",
        "",
        "tests/ui/serving/test_gradio_changes.py::test_a_session_keeps_no_values_of_components",
    ),
    Mutation(
        "visitors load other models on a public page",
        "ui/serving/limits.py",
        "    models=False,\n",
        "",
        _SESSIONS + "test_public_limits_are_tighter",
    ),
    Mutation(
        "threads take all address space",
        "ui/serving/process.py",
        "    threading.stack_size(_STACK)\n",
        "",
        "tests/ui/serving/test_process.py::test_many_threads_fit_into_little_memory",
    ),
    Mutation(
        "garbage collection makes all visitors wait",
        "ui/serving/model_host.py",
        "        gc.freeze()\n",
        "",
        "tests/ui/serving/test_model_host.py::"
        "test_objects_that_stay_are_left_out_of_collections_until_the_pair_is_unloaded",
    ),
)

MODELS = (
    Mutation(
        "code that comes with a model is run",
        "sequoia/loading/folder_check.py",
        "trust_remote_code=False",
        "trust_remote_code=True",
        "tests/loading/test_load.py::test_code_that_comes_with_a_model_is_never_run",
    ),
    Mutation(
        "a download fills the disk",
        "sequoia/loading/download.py",
        "if needed + ROOM_LEFT > free:",
        "if False:",
        "tests/ui/test_damaged_files.py::test_a_full_disk_does_not_matter_if_nothing_is_downloaded",
    ),
    Mutation(
        "a run takes more memory than is free",
        "sequoia/this_machine/memory.py",
        "if needed > (free := free_bytes(device)):",
        "if (free := free_bytes(device)) < 0:",
        "tests/this_machine/test_memory.py",
    ),
    Mutation(
        "a port in use causes a traceback instead of a message",
        "ui/serving/process.py",
        "        socket.create_server(address[:2], family=family).close()\n",
        "        pass\n",
        "tests/ui/serving/test_process.py::test_the_message_for_a_port_in_use_names_it_and_the_option",
    ),
    Mutation(
        "one damaged file keeps the app from starting",
        "sequoia/validate_input.py",
        "        except (SequoiaError, OSError, LookupError, TypeError, ValueError) as problem:\n"
        "            reason",
        "        except MemoryError as problem:\n            reason",
        "tests/ui/test_damaged_files.py::test_a_damaged_profile_is_skipped",
    ),
    Mutation(
        "a full disk breaks the page",
        "ui/shared/download.py",
        '    except OSError as problem:\n        words = f"{name} cannot',
        '    except KeyError as problem:\n        words = f"{name} cannot',
        "tests/ui/test_damaged_files.py::"
        "test_with_a_full_disk_a_run_ends_and_its_buttons_come_back",
    ),
    Mutation(
        "a second Ctrl-C does not end the program at once",
        "ui/serving/process.py",
        "            os._exit(_AT_ONCE)\n",
        "            pass\n",
        "tests/ui/serving/test_shutdown.py::test_a_second_signal_ends_it_at_once",
    ),
)

MUTATIONS = (*REQUESTS, *UPLOADS, *FILES, *TEXTS, *VISITORS, *MODELS)
