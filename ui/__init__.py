"""The page: everything a visitor sees and presses. Speaks to `sequoia`; nothing in
`sequoia` speaks to it.

Reading order: show (markup), messages (what goes to the browser), order and trees
(what a visitor asks for), session (who may ask), line and engine_room (one engine, many visitors),
runner (a run in its own thread), recordings (runs kept, saved and opened), stage, header and theme
(what the browser is given), decode (the live view), layout (the whole page).
"""
