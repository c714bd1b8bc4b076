"""What Alembic runs: the migrations, on the connection that it is handed."""

from __future__ import annotations

from alembic import context

from rightcall.store.columns import METADATA
from rightcall.store.versions import TABLE

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=TABLE,
    render_as_batch=True,  # SQLite changes a table by copying it
)
context.run_migrations()
