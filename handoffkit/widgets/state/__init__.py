"""What the call panel shows, as JSON for its page: rows, events, totals, facts and the ticket.

Pure: a log goes in, JSON comes out. Nothing here waits, sends or draws.
"""
