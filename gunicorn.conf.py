"""What gunicorn reads when it is started here, as by the README's line."""

# Nobody in front of it says below which path it is served: by this header anybody on the same
# machine could move every address, past what a proxy lets through.
forwarder_headers = ""
