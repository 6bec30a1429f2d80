/* Runs before Gradio's own script. */
import { holdStreams } from "./held_stream.js";
import { replaceBlockedStorage } from "./memory_storage.js";

replaceBlockedStorage(window);
holdStreams();
