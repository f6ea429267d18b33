"""The files of a thread."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, delete, select

from hookline.runtime.storage.schema import files
from hookline.runtime.storage.upsert import replacing
from hookline.runtime.storage.work import Work, hold


def write(thread: str, path: str, data: bytes, mime_type: str) -> Work[dict[str, Any]]:
    values = {"thread": thread, "path": path, "data": bytes(data), "mime_type": mime_type, "size": len(data)}

    def work(connection: Connection) -> dict[str, Any]:
        hold(connection, thread=thread)
        connection.execute(replacing(connection.dialect.name, files), values)
        return _reference(path, mime_type, len(data))

    return work


def read(thread: str, path: str) -> Work[bytes | None]:
    found = select(files.c.data).where(files.c.thread == thread, files.c.path == path)
    return lambda connection: connection.execute(found).scalar_one_or_none()


def listed(thread: str, path: str) -> Work[list[dict[str, Any]]]:
    inside = f"{path.strip('/')}/" if path.strip("/") else ""
    found = select(files.c.path, files.c.mime_type, files.c.size).where(files.c.thread == thread)

    def work(connection: Connection) -> list[dict[str, Any]]:
        rows = sorted(tuple(row) for row in connection.execute(found))
        return [_reference(*row) for row in rows if row[0].startswith(inside) or row[0] == path]

    return work


def remove(thread: str, path: str) -> Work[bool]:
    removing = delete(files).where(files.c.thread == thread, files.c.path == path)

    def work(connection: Connection) -> bool:
        hold(connection, thread=thread)
        return connection.execute(removing).rowcount == 1

    return work


def _reference(path: str, mime_type: str, size: int) -> dict[str, Any]:
    name = path.rpartition("/")[2]
    return {"id": path, "type": "file", "path": path, "name": name, "mimeType": mime_type, "size": size}
