"""The hub: one place to see what all agents decide, to answer their questions and to change rules.

hub_server        one process from start to end
hub_app           what is mounted where; ROUTERS lists the routers of the API
context/running_hub  `Hub`: what routes and commands reach
access/           roles, codes, tokens and keys; the request guard; response headers as data
api/              one `<thing>_routes` for each thing
bus/              Socket.IO: `EventBus.publish`, `EventBus.add_command`, live rows
intake/           records → database
explain/          why, replay, the hooks in force
workspaces/       the runtimes of the hub's own agents
pages/            browser agents: their pages, frames, tools and saved DOM
session_import/   sessions that flo or another hub exported
cluster/          several hubs on one database: their sessions, and events between them
approvals/        questions for a person, and their answers
rules/            rules of the console: sets, versions, preview
store/            one `<thing>_table` for each table

Add a route: a function in a `<thing>_routes` module, declared with `@router.get(path, Role.VIEWER)`, where `router` is a
RoleRouter that `hub_app.ROUTERS` lists. Parameters `hub: HubOfRequest` and `caller: CallerOfRequest` give it the running hub
and who asks; `raise ApiError(409, "why")` ends it. tests/hub/test_role_router.py walks every route with every role.

Publish an event: `await hub.bus.publish(type, payload, rooms=("live", f"session:{id}"), session_id=id)`.

Take a command from a client: `hub.bus.add_command("answer", answer, Role.APPROVER)`.

The database: `hub.store` is the runtime's Store, `hub.database.read(query)` and `.write(query)` run queries on the hub's own
tables (`hookline.runtime.storage.hub_tables`). A loop that runs as long as the hub: `hub.run_in_background(work())`.

Run an agent: `runtime = await hub.runtimes.get(directory)`; `Hub.runtime_settings` says how agents run. All runtimes share the
hub's store.

A sub-package imports only those below it, and never this one: config, store, access, cluster, bus, intake,
explain, rules, approvals, workspaces, pages, session_import, context, api.
"""
