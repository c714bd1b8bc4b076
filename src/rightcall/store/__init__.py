"""What a server keeps, in one SQLite file or in PostgreSQL: tables, transactions, and the queries of each aggregate.

Everything but the list of organizations belongs to one of them, and every query takes that organization first (`Org`):
what belongs to another is not there. The time that is written into rows is handed in with the transaction.
"""
